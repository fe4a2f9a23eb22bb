"""How near the links are to each other, to the floor and to obstacles, now."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.shapes.bodies import Bodies
from armdyn.studio.page import Page, note_html
from armdyn.studio.state import State
from armdyn.trajectory.excitation.clearance import Clearance


class ClearanceReadout:
    """The least free distance in words."""

    def __init__(self, page: Page, bodies: Bodies) -> None:
        self._bodies = bodies
        self._around: tuple[Any, ...] = ()
        self._clearance = Clearance(bodies)
        self.html = page.gui.add_html("")
        page.state.on_change(self.follow)

    def follow(self, state: State) -> None:
        """Say what is nearest."""
        around = (state.floor, state.obstacles)
        if self._around != around:
            plane = state.plane
            self._around = around
            self._clearance = Clearance(self._bodies, (*((plane,) if plane else ()), *state.obstacles))
        self.html.content = clearance_html(*self._clearance.worst(state.moment.q[None]))


def clearance_html(distance: float, names: str) -> str:
    """Millimetres between two things; red where they overlap."""
    if not np.isfinite(distance):
        return note_html("Nothing around the arm is checked for clearance.")
    color, text = "inherit", f"Nearest: {names}, {1e3 * distance:.0f} mm apart"
    if distance < 0:
        color, text = "#c8322b", f"{names} overlap by {-1e3 * distance:.0f} mm"
    return f'<div id="clearance" style="color:{color}">{note_html(text)}</div>'
