"""Curves of a joint in the log, and of its friction; and the masses that were identified."""

from __future__ import annotations

import numpy as np

from armdyn.identification.fit.friction_band import friction_bands
from armdyn.identification.fit.result import Fit
from armdyn.identification.logs.log import Log
from armdyn.studio.drawing.plot import TimePlot
from armdyn.studio.drawing.verdict import masses_html
from armdyn.studio.page import Page
from armdyn.studio.state import StudioState

MEASURED, MODEL, DESCRIBED = "measured", "model", "as described"
IDENTIFIED, BAND = "identified", ("95 % up to", "and down to")


class CurvesPanel:
    """Torque over time and friction over speed, of the joint that is chosen."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._drawn: tuple[Log | None, Fit | None] = (None, None)
        gui, joints = page.gui, page.state.arm.coordinate_names
        self.joint = gui.add_dropdown("Joint", joints, initial_value=joints[0], visible=False)
        self.joint.on_update(page.answer(lambda event: self.draw(page.state.now)))
        self.plot = TimePlot(page.client, "Torque")
        self.friction = TimePlot(page.client, "Friction", "speed")
        self.masses = gui.add_html("")
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Draw a new log, or the old one with a new model."""
        if state.log is not None and self._drawn != (state.log, state.fit):
            self._drawn = (state.log, state.fit)
            self.joint.visible = True
            self.masses.content = "" if state.fit is None else masses_html(state.fit)
            self.draw(state)

    def draw(self, state: StudioState) -> None:
        """Draw the curves of the chosen joint."""
        motion = state.motion
        if motion is None or motion.measured is None:
            return
        i = state.arm.coordinate_names.index(self.joint.value)
        turns = state.arm.coordinate_joints[i].kind == "revolute"
        unit = "N m" if turns else "N"
        curves = {MEASURED: motion.measured[:, i]}
        if motion.predicted is not None:
            curves[MODEL] = motion.predicted[:, i]
        if motion.described is not None:
            curves[DESCRIBED] = motion.described[:, i]
        self.plot.draw(f"Torque of {self.joint.value} [{unit}]", motion.t, curves, (DESCRIBED,))
        self._draw_friction(state.fit, i, unit, "rad/s" if turns else "m/s")

    def _draw_friction(self, fit: Fit | None, i: int, unit: str, speed_unit: str) -> None:
        bands = [] if fit is None else friction_bands(fit)
        band = bands[i] if i < len(bands) else None
        if fit is None or band is None:
            self.friction.hide()
            return
        half = 1.96 * band.std  # 95 %
        curves = {IDENTIFIED: band.torque, BAND[0]: band.torque + half, BAND[1]: band.torque - half}
        friction = fit.source.coordinate_joints[i].friction
        if friction.viscous or friction.coulomb:
            curves[DESCRIBED] = friction.viscous * band.speed + friction.coulomb * np.sign(band.speed)
        title = f"Friction of {self.joint.value} [{unit}] over speed [{speed_unit}]"
        self.friction.draw(title, band.speed, curves, (DESCRIBED,), BAND)
