"""Live torques against the joints' limits, with a load to try."""

from __future__ import annotations

from armdyn.studio.drawing.torques import TorqueBars, bars_html
from armdyn.studio.page import Page
from armdyn.studio.state import StudioState

HEAVIEST_LOAD_KG = 20.0  # [kg] on the slider


class TorquePanel:
    """Bars that follow the state."""

    def __init__(self, page: Page) -> None:
        self.bars = TorqueBars(page.state.now.described)
        self.html = page.gui.add_html("")
        self.payload = page.gui.add_slider("Tip load [kg]", 0.0, HEAVIEST_LOAD_KG, 0.1, page.state.now.payload)
        self.payload.on_update(page.answer(lambda event: page.state.change(payload=event.target.value)))
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Draw the bars of a moment."""
        self.html.content = bars_html(self.bars.bars(state))
