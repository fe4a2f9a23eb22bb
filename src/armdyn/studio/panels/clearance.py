"""How near the links are to each other, to the floor and to obstacles, now."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.studio.drawing.subject import DrawnArm
from armdyn.studio.page import Page, note_html
from armdyn.studio.state import StudioState


class ClearanceReadout:
    """The least free distance between links, and from what stands around, in words."""

    def __init__(self, page: Page, subject: DrawnArm) -> None:
        self._subject = subject
        self._drawn: tuple[Any, ...] = ()
        self._around = subject.to_obstacles(())
        self.html = page.gui.add_html("")
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Say what is nearest."""
        if self._drawn != (state.floor, state.obstacles):
            self._drawn = (state.floor, state.obstacles)
            plane = state.plane
            self._around = self._subject.to_obstacles((*((plane,) if plane else ()), *state.obstacles))
        q = state.moment.q[None]
        self.html.content = clearance_html([self._subject.between_links.worst(q), self._around.worst(q)])


def clearance_html(nearest: list[tuple[float, str]]) -> str:
    """Millimetres between things; red where they overlap."""
    lines = [_line(distance, names) for distance, names in nearest if np.isfinite(distance)]
    return f'<div id="clearance">{"".join(lines) or note_html("Neither a floor nor obstacles are known.")}</div>'


def _line(distance: float, names: str) -> str:
    if distance < 0:
        return f'<div style="color:#c8322b">{note_html(f"{names} overlap by {-1e3 * distance:.0f} mm")}</div>'
    return note_html(f"{names}: {1e3 * distance:.0f} mm apart")
