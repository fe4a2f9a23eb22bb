"""Buttons that send files to the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from armdyn.studio.exports import Download, c_file, csv_file, report_file, trajectory_file, urdf_file
from armdyn.studio.page import Page, update
from armdyn.studio.state import StudioState

# Results with a page of their own, by the state's field.
REPORTS = {
    "fit": "Report of the identification",
    "excitation": "Report of the exciting motion",
    "comparison": "Report of the comparison",
}


class ExportPanel:
    """The arm, what plays and reports, to take away."""

    def __init__(self, page: Page, source: Path | None = None) -> None:
        self.page = page
        state = page.state
        identified = "With identified parameters, if any"
        tested = "With a self-test, without dependencies"
        played = "What plays: t, q, qd, qdd, tau"
        designed = "Positions, velocities and accelerations at 1 kHz, for the robot"
        self.urdf = self._button("Arm as URDF", "file-code", identified, lambda: urdf_file(state.arm, source))
        self.c = self._button("Dynamics as C99 (ZIP)", "cpu", tested, lambda: c_file(state.arm))
        self.csv = self._button("What plays as CSV", "table", played, lambda: csv_file(state.now.motion))
        self.trajectory = self._button(
            "Exciting motion as CSV", "wave-sine", designed, lambda: trajectory_file(state.now.excitation)
        )
        self.reports = {name: self._report(name, label) for name, label in REPORTS.items()}
        state.on_change(self.follow)

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
        file = make()
        event.client.send_file_download(file.name, file.data, save_immediately=True)

    button.on_click(page.answer(send))
    return button
