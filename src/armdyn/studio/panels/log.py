"""Load a log, see measured against predicted torques, play it, and identify the arm from it."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ArmdynWarning
from armdyn.identification.logs.log import Log
from armdyn.identification.logs.read_log import read_log
from armdyn.model.arm import Arm
from armdyn.studio.drawing.plot import TimePlot
from armdyn.studio.motion import Motion, from_log
from armdyn.studio.page import JobPanel, Page, note_html

MEASURED, PREDICTED = "measured", "model"


def read_upload(name: str, content: bytes, arm: Arm) -> Log:
    """A log that came through the browser; its own name is used for its ending alone."""
    with tempfile.TemporaryDirectory(prefix="armdyn-studio-") as folder:
        path = Path(folder) / f"upload{Path(name).suffix.lower()}"
        path.write_bytes(content)
        try:
            log = read_log(path, arm)
        except ArmdynError as error:
            raise ArmdynError(str(error).replace(str(path), Path(name).name)) from None
    return Log(log.t, log.q, log.tau, log.qd, Path(name).name, log.notes)


def relative_error(motion: Motion) -> float:
    """norm(measured - predicted) / norm(measured) of all joints; NaN where one is missing."""
    if motion.measured is None or motion.predicted is None:
        return float("nan")
    error: NDArray = motion.measured - motion.predicted
    return float(np.linalg.norm(error) / max(float(np.linalg.norm(motion.measured)), 1e-300))


class LogPanel:
    """A log's file, its torques over time, and what can be learnt from it."""

    def __init__(self, page: Page, adopt: Callable[[Arm], None]) -> None:
        self.page, self._adopt = page, adopt
        self.log: Log | None = None
        self.motion: Motion | None = None
        gui, names = page.gui, page.state.arm.joint_names
        self.upload = gui.add_upload_button("Load a log (CSV, NPZ, MAT, Parquet, MCAP)", icon="upload")
        self.upload.on_upload(page.asked(self._uploaded))
        if page.local:
            self.path = gui.add_text("or its path", "", hint="A file on this machine; Enter or leave the field")
            self.path.on_update(page.asked(lambda event: self._typed(event.target.value)))
        self.about = gui.add_html("")
        self.joint = gui.add_dropdown("Joint", names, initial_value=names[0], visible=False)
        self.joint.on_update(page.asked(lambda event: self.draw()))
        self.plot = TimePlot(page.server, "Torque")
        self.identify = JobPanel(page, "Identify the arm from this log", self._identify)
        self.identify.start_button.visible = False

    def load(self, log: Log) -> None:
        """Show a log and get it ready to play."""
        self.motion = from_log(log, self.page.state.arm)
        self.log = log
        self.page.player.load(self.motion)
        self.joint.visible = self.identify.start_button.visible = True
        self._say(log, self.motion)
        self.draw()

    def draw(self) -> None:
        """Torques of the chosen joint over time."""
        if self.motion is None or self.motion.measured is None:
            return
        i = self.page.state.arm.joint_names.index(self.joint.value)
        unit = "N m" if self.page.state.arm.joints[i].kind == "revolute" else "N"
        curves = {MEASURED: self.motion.measured[:, i]}
        if self.motion.predicted is not None:
            curves[PREDICTED] = self.motion.predicted[:, i]
        self.plot.draw(f"Torque of {self.joint.value} [{unit}]", self.motion.t, curves)

    def _say(self, log: Log, motion: Motion) -> None:
        error = relative_error(motion)
        model = "the arm's inertia is not known" if np.isnan(error) else f"model off by {error:.1%} of the torque"
        text = f"{log.name}: {len(log)} samples, {log.duration:.1f} s at {1 / log.dt:.0f} Hz; {model}."
        self.about.content = note_html("; ".join([text.removesuffix("."), *log.notes]) + ".")

    def _uploaded(self, event: Any) -> None:
        file = event.target.value
        self.load(read_upload(file.name, file.content, self.page.state.arm))

    def _typed(self, path: str) -> None:
        if path.strip():
            self.load(read_log(Path(path.strip()).expanduser(), self.page.state.arm))

    def _identify(self, report: Callable[[float, str], None]) -> None:
        from armdyn.identification.identify import identify

        if self.log is None:
            raise ArmdynError("studio: load a log first")
        report(0.1, "Fitting parameters and friction ...")
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always", ArmdynWarning)
            fit = identify(self.page.state.arm, self.log)
        for doubt in doubts:
            self.page.say("Please check", str(doubt.message), "orange", None)
        report(1.0, f"Relative torque error {fit.rel_error:.2%}, on held-out blocks {fit.held_out:.2%}.")
        self._adopt(fit.arm)
        self.load(self.log)
