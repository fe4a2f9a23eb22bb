"""Buttons that send files to the browser."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from armdyn.control.design.purposes import law_purposes
from armdyn.errors import ArmdynWarning
from armdyn.model.arm import Arm
from armdyn.studio.exports import (
    Download,
    LawDesign,
    arm_file,
    c_file,
    csv_file,
    law_c_file,
    law_fmu_file,
    plant_file,
    report_file,
    trajectory_file,
)
from armdyn.studio.page import Page, note_html, update
from armdyn.studio.state import StudioState

FORMATS = {".urdf": "URDF", ".xml": "MJCF", ".toml": "TOML"}
# Results with a page of their own, by the state's field.
REPORTS = {
    "fit": "Report of the identification",
    "excitation": "Report of the exciting motion",
    "comparison": "Report of the comparison",
}


class ExportPanel:
    """The arm, control laws, motions and reports, to take away."""

    def __init__(self, page: Page) -> None:
        self.page = page
        with page.gui.add_folder("Arm"):
            self._add_arm()
        with page.gui.add_folder("Control law"):
            self._add_law()
        with page.gui.add_folder("Motions and reports"):
            self._add_results()
        page.state.on_change(self.follow)

    def _add_arm(self) -> None:
        state = self.page.state
        self.arms = {suffix: self._arm_button(suffix, name) for suffix, name in FORMATS.items()}
        simulated = "For co-simulation (FMI 2.0): torques in, positions and velocities out"
        self.plant = self._button("Arm as FMU", "box", simulated, lambda: plant_file(state.arm))
        tested = "Kinematics and dynamics with a self-test, without dependencies"
        self.c = self._button("Dynamics as C99 (ZIP)", "cpu", tested, lambda: c_file(state.arm))

    def _arm_button(self, suffix: str, name: str) -> Any:
        hint = "With identified parameters, if any"
        return self._button(f"Arm as {name}", "file-code", hint, lambda: arm_file(self.page.state.arm, suffix))

    def _add_law(self) -> None:
        gui, purposes = self.page.gui, law_purposes()
        self.law = gui.add_dropdown("Law", tuple(purposes), initial_value="computed torque")
        purpose = gui.add_html(note_html(purposes["computed torque"]))
        self.law.on_update(lambda event: update(purpose, content=note_html(purposes[event.target.value])))
        self.bandwidth = gui.add_number("Bandwidth [Hz]", 3.0, min=0.1, step=0.1, hint="Of every joint")
        self.rate = gui.add_number("Rate [Hz]", 1000.0, min=1.0, step=1.0, hint="At which the robot calls the law")
        called = "State, init, step and a self-test, without dependencies"
        self.law_c = self._button("Law as C99 (ZIP)", "cpu", called, lambda: law_c_file(*self._design))
        simulated = "For co-simulation (FMI 2.0): measured and reference motion in, torques out"
        self.law_fmu = self._button("Law as FMU", "box", simulated, lambda: law_fmu_file(*self._design))

    @property
    def _design(self) -> tuple[Arm, LawDesign]:
        return self.page.state.arm, LawDesign(self.law.value, float(self.bandwidth.value), float(self.rate.value))

    def _add_results(self) -> None:
        state = self.page.state
        played = "The motion under 'Play': t, q, qd, qdd, tau"
        self.csv = self._button("Loaded motion as CSV", "table", played, lambda: csv_file(state.now.motion))
        designed = "Positions, velocities and accelerations at 1 kHz, for the robot"
        self.trajectory = self._button(
            "Exciting motion as CSV", "wave-sine", designed, lambda: trajectory_file(state.now.excitation)
        )
        self.reports = {name: self._report(name, label) for name, label in REPORTS.items()}

    def follow(self, state: StudioState) -> None:
        """Offer what there is."""
        pairs = [(self.csv, state.motion), (self.trajectory, state.excitation)]
        pairs += [(button, getattr(state, name)) for name, button in self.reports.items()]
        for button, result in pairs:
            update(button, disabled=result is None)

    def _report(self, name: str, label: str) -> Any:
        hint = "One HTML file that needs no network"
        return self._button(label, "report", hint, lambda: report_file(getattr(self.page.state.now, name), name))

    def _button(self, label: str, icon: str, hint: str, make: Callable[[], Download]) -> Any:
        return send_button(self.page, label, icon, make, hint)


def send_button(page: Page, label: str, icon: str, make: Callable[[], Download], hint: str | None = None) -> Any:
    """Add a button that makes a file and sends it to the browser."""
    button = page.gui.add_button(label, icon=icon, hint=hint)

    def send(event: Any) -> None:
        button.disabled = True  # it takes some seconds, and one file is enough
        try:
            with warnings.catch_warnings(record=True) as doubts:
                warnings.simplefilter("always", ArmdynWarning)
                file = make()
        finally:
            button.disabled = False
        event.client.send_file_download(file.name, file.data, save_immediately=True)
        for doubt in doubts:
            page.say("Please check", str(doubt.message), "orange")

    button.on_click(page.answer(send))
    return button
