"""How near the links are to each other, to the floor and to obstacles, now."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.shapes.bodies import Bodies
from armdyn.studio.page import Page, note_html
from armdyn.studio.state import StudioState
from armdyn.trajectory.excitation.clearance import Clearance


class ClearanceReadout:
    """The least free distance between links, and from what stands around, in words."""

    def __init__(self, page: Page, bodies: Bodies) -> None:
        self._bodies = bodies
        self._drawn: tuple[Any, ...] = ()
        self._links = Clearance(bodies)
        self._around = Clearance(bodies, apart=False)
        self.html = page.gui.add_html("")
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Say what is nearest."""
        if self._drawn != (state.floor, state.obstacles):
            self._drawn = (state.floor, state.obstacles)
            plane = state.plane
            self._around = Clearance(self._bodies, (*((plane,) if plane else ()), *state.obstacles), apart=False)
        q = state.moment.q[None]
        self.html.content = clearance_html([self._links.worst(q), self._around.worst(q)])


def clearance_html(nearest: list[tuple[float, str]]) -> str:
    """Millimetres between things; red where they overlap."""
    lines = [_line(distance, names) for distance, names in nearest if np.isfinite(distance)]
    return f'<div id="clearance">{"".join(lines) or note_html("Neither a floor nor obstacles are known.")}</div>'


def _line(distance: float, names: str) -> str:
    if distance < 0:
        return f'<div style="color:#c8322b">{note_html(f"{names} overlap by {-1e3 * distance:.0f} mm")}</div>'
    return note_html(f"{names}: {1e3 * distance:.0f} mm apart")
