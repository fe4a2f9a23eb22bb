"""Load a log with its units and columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import Log
from armdyn.studio.motion import PlayedMotion, from_log
from armdyn.studio.page import FileChoice, Page, list_html, note_html
from armdyn.studio.reading import ANGLES, ROLES, Reading, columns_of, uploaded_log
from armdyn.studio.state import StudioState

KINDS = "CSV, NPZ, MAT, Parquet, ROS 2 bag (.db3, .mcap)"


def relative_error(motion: PlayedMotion) -> float:
    """norm(measured - predicted) / norm(measured) of all joints; NaN where one is missing."""
    if motion.measured is None or motion.predicted is None:
        return float("nan")
    error: NDArray = motion.measured - motion.predicted
    return float(np.linalg.norm(error) / max(float(np.linalg.norm(motion.measured)), 1e-300))


class LogPanel:
    """A log's file, and what its columns mean."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._path: Path | None = None
        self._drawn: tuple[Log | None, object] = (None, None)
        gui = page.gui
        self.choice = FileChoice(page, "Load a log", KINDS, self.open)
        with gui.add_folder("Units and columns", expand_by_default=False):
            self._meaning()
            again = gui.add_button("Read the log again", icon="refresh")
            again.on_click(page.answer(lambda event: self.read_again()))
        self.about = gui.add_html("")
        page.state.on_change(self.follow)

    def _meaning(self) -> None:
        gui, per_joint = self.page.gui, "One number, or one per joint with commas between"
        self.angle = gui.add_dropdown("Angles are", tuple(ANGLES), initial_value=next(iter(ANGLES)))
        self.gear_ratio = gui.add_text(
            "Gear ratio", "", hint=f"Motor-side logs: motor turns per joint turn. {per_joint}"
        )
        self.drive_gain = gui.add_text("Drive gain", "", hint=f"Logs of currents: N m per ampere. {per_joint}")
        self.offset = gui.add_text("Offset", "", hint=f"Added to all positions. {per_joint}")
        self.topic = gui.add_text("Topic", "", hint="Of a bag with several JointState topics")
        some = "Names of columns with commas between, in the order of the joints; empty: by their names"
        self.columns = {role: gui.add_text(title, "", hint=some) for role, title in ROLES.items()}

    @property
    def reading(self) -> Reading:
        """Meaning of the columns, as the person gave it."""
        columns = {role: box.value for role, box in self.columns.items()}
        return Reading(
            self.angle.value, self.gear_ratio.value, self.drive_gain.value, self.offset.value, self.topic.value, columns
        )

    def open(self, path: Path) -> None:
        """Read a file and show its log; an error stays below the buttons, with the names of the columns."""
        self._path, arm = path, self.page.state.now.described
        try:
            upload = self.page.folder in path.parents
            self.load(uploaded_log(self.reading, path, arm) if upload else self.reading.read(path, arm))
        except ArmdynError as error:
            columns = ", ".join(columns_of(path, arm)[:60])
            remedy = f" Its columns are: {columns}. Say what they mean under 'Units and columns'." if columns else ""
            self.about.content = note_html(f"{error}.{remedy}")
            raise

    def read_again(self) -> None:
        """Read the same file with other units or columns."""
        if self._path is None:
            raise ArmdynError("load a log first", where="studio")
        self.open(self._path)

    def load(self, log: Log) -> None:
        """Show a log and get it ready to play; what was identified from another is no longer shown."""
        state = self.page.state.now
        motion = from_log(log, state.described)
        self.page.player.load(motion, log=log, fit=None, arm=state.described)

    def follow(self, state: StudioState) -> None:
        """Say what is in a new log."""
        if state.log is not None and self._drawn != (state.log, state.fit):
            self._drawn = (state.log, state.fit)
            self._say(state.log, state)

    def _say(self, log: Log, state: StudioState) -> None:
        lines = [f"{log.name}: {len(log)} samples, {log.duration:.1f} s at {1 / log.dt:.0f} Hz"]
        if state.fit is None and state.motion is not None:  # what was identified has figures of its own
            error = relative_error(state.motion)
            known = f"torque error of the arm as described: {error:.1%}"
            lines.append(
                "the arm's inertia is not known, so there is no model torque yet" if np.isnan(error) else known
            )
        self.about.content = list_html([*lines, *log.notes])
