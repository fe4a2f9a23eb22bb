"""Load measured poses, calibrate the arm, see residuals as arrows and go to the poses that disagree."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.calibration.arrows import residual_arrows
from armdyn.calibration.calibrate import calibrate
from armdyn.calibration.check import check_poses
from armdyn.calibration.pose_columns import ANGLES, LENGTHS
from armdyn.calibration.poses import Poses
from armdyn.calibration.read_poses import read_poses
from armdyn.calibration.result import Calibration
from armdyn.errors import ArmdynError, DataError
from armdyn.spatial.transform import inverse
from armdyn.studio.exports import calibrated_file, report_file
from armdyn.studio.page import FileChoice, JobPanel, Page, note_html
from armdyn.studio.panels.export import send_button

MODELS = {"base_and_tool": "base and tool", "offsets": "and zeros", "full": "full model"}
ARROW, DOUBTFUL_ARROW = (20, 55, 94), (192, 57, 43)  # colours
ARROW_PX = 3.0  # thickness


class CalibratePanel:
    """The file, the job, held-out errors, arrows in the scene and the poses by their residuals."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.poses: Poses | None = None
        self.result: Calibration | None = None
        self._arrows: Any = None
        gui = page.gui
        self.angle = gui.add_dropdown("Angles are", tuple(ANGLES), initial_value="rad", hint="Where names do not say")
        self.length = gui.add_dropdown("Lengths are", tuple(LENGTHS), initial_value="m", hint="Where names do not say")
        self.choice = FileChoice(page, "Load measured poses", "CSV, NPZ or JSON", self.open)
        self.about = gui.add_html("")
        self.job = JobPanel(page, "Calibrate from these poses", self._run)
        self.job.start_button.visible = False
        self.verdict = gui.add_html("")
        self.row = gui.add_dropdown("Go to pose", ("-",), visible=False, hint="The largest residual first")
        self.row.on_update(page.answer(lambda event: self.go()))
        self.files = [
            send_button(page, "Calibrated arm as URDF", "file-code", lambda: calibrated_file(self.result)),
            send_button(page, "Report of the calibration", "report", lambda: report_file(self.result, "calibration")),
        ]
        self._offer(False)

    def open(self, path: Path) -> None:
        """Read measured poses and name mistakes in them."""
        arm = self.page.state.now.described
        self.poses, self.result = None, None
        try:
            poses = read_poses(path, arm, angle=self.angle.value, length=self.length.value)
            if mistakes := check_poses(arm, poses).mistakes:
                remedy = "correct the file, or its units"
                raise DataError("; ".join(m.text for m in mistakes), where=path.name, remedy=remedy)
        except ArmdynError as error:
            text = str(error).replace(str(path), path.name)
            self.about.content = note_html(f"{text}.")
            raise ArmdynError(text) from None
        self.poses = poses
        self.about.content = note_html(f"{path.name}: {len(poses)} poses; {'; '.join(poses.notes) or 'all complete'}.")
        self.job.start_button.visible = True

    def _run(self, report: Callable[[float, str], None]) -> None:
        if self.poses is None:
            raise ArmdynError("load measured poses first", where="studio")
        report(0.05, "Fitting ...")
        result = calibrate(self.page.state.now.described, self.poses)
        result.judge(lambda done, total, text: report(0.1 + 0.9 * done / total, f"{text.capitalize()} ..."))
        self.show(result)
        self.job.status.content = ""

    def show(self, result: Calibration) -> None:
        """Show a calibration: its verdict, arrows and poses."""
        self.result = result
        self.verdict.content = calibration_html(result)
        arrows = residual_arrows(result)
        lines = np.stack([arrows.places, arrows.ends], axis=1) - result.base_pose[:3, 3]
        colors = np.where(arrows.doubtful[:, None], DOUBTFUL_ARROW, ARROW).astype(np.uint8)
        if self._arrows is not None:
            self._arrows.remove()
        self._arrows = self.page.client.scene.add_line_segments(
            "/residuals", lines @ inverse(result.base_pose)[:3, :3].T, np.repeat(colors[:, None], 2, axis=1),
            thickness=ARROW_PX, thickness_units="screen",
        )  # fmt: skip
        self.row.options = ("-", *pose_labels(result))
        self._offer(True)

    def go(self) -> None:
        """Put the arm at the chosen pose."""
        if self.result is not None and self.row.value != "-":
            row = int(self.row.value.split()[0]) - 1
            k = int(np.flatnonzero(np.asarray(self.result.poses.rows) == row)[0])
            self.page.state.rest_at(self.result.poses.q[k])

    def _offer(self, ready: bool) -> None:
        for handle in (self.row, *self.files):
            handle.visible = ready


def pose_labels(result: Calibration) -> list[str]:
    """Poses by the size of their residuals: number from 1, size, and whether they are doubtful."""
    r = result.residuals[..., :3].reshape(len(result.poses), -1, 3)
    size = 1e3 * np.sqrt(np.nanmean(np.sum(r**2, axis=2), axis=1))
    rows = np.asarray(result.poses.rows)
    doubt = np.where(np.isin(rows, result.doubtful), ", doubtful", "")
    return [f"{rows[k] + 1} ({size[k]:.3g} mm{doubt[k]})" for k in np.argsort(-size)]


def calibration_html(result: Calibration) -> str:
    """Verdict, held-out errors and what to know of the poses."""
    lines = [f"<b>{escape(str(result.verdict).capitalize())}</b>"]
    errors = {label: getattr(result.held_out, name) for name, label in MODELS.items()}
    known = ", ".join(f"{label} {1e3 * e.mean:.3g} mm" for label, e in errors.items() if e is not None)
    lines.append(f"At poses that were left out: {escape(known)}.")
    if result.doubtful:
        lines.append(f"Doubtful poses: {', '.join(str(row + 1) for row in result.doubtful)} (red arrows).")
    lines += [f"{escape(note[:1].upper() + note[1:])}." for note in result.notes]
    lines.append(f"Arrows are {residual_arrows(result).scale:.0f} times as long as the residuals.")
    style = "font-size:12.5px;line-height:1.5;padding:.2em .8em;overflow-wrap:anywhere"
    return f'<div style="{style}" id="calibration">{"<br>".join(lines)}</div>'
