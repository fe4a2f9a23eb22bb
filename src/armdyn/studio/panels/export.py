"""Buttons that send files to the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from armdyn.studio.exports import Download, c_file, csv_file, urdf_file
from armdyn.studio.page import Page


class ExportPanel:
    """The arm and what plays, to take away."""

    def __init__(self, page: Page, source: Path | None = None) -> None:
        self.page = page
        state, player = page.state, page.player
        identified = "With identified parameters, if any"
        tested = "With a self-test, without dependencies"
        played = "What plays: t, q, qd, qdd, tau"
        self.urdf = self._button("Arm as URDF", "file-code", identified, lambda: urdf_file(state.arm, source))
        self.c = self._button("Dynamics as C99 (ZIP)", "cpu", tested, lambda: c_file(state.arm))
        self.csv = self._button("Motion as CSV", "table", played, lambda: csv_file(player.motion))

    def _button(self, label: str, icon: str, hint: str, make: Callable[[], Download]) -> Any:
        button = self.page.gui.add_button(label, icon=icon, hint=hint)

        def send(event: Any) -> None:
            file = make()
            event.client.send_file_download(file.name, file.data, save_immediately=True)

        button.on_click(self.page.asked(send))
        return button
