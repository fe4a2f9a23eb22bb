"""A calibration shown: its page, tables for the terminal, and residuals as arrows."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn import html
from armdyn.calibration.arrows import residual_arrows
from armdyn.calibration.held_out import CalibrationVerdict
from armdyn.calibration.result import DETERMINED_SHARE, Calibration
from armdyn.calibration.unknowns import zero_columns
from armdyn.numerals import pluralize
from armdyn.report.texts import texts

TEXTS = texts("calibration")
FRAME_HEADINGS = ("joint", "x [mm]", "y [mm]", "z [mm]", "rx [mrad]", "ry [mrad]", "rz [mrad]")
MODELS = {"base_and_tool": "base and tool", "offsets": "and zeros of the joints", "full": "full model"}
KINDS = {
    CalibrationVerdict.CALIBRATED: "good",
    CalibrationVerdict.OFFSETS: "good",
    CalibrationVerdict.NOISE_LIMITED: "warn",
}


def page(calibration: Calibration) -> str:
    """The page of a calibration."""
    notes = [*calibration.notes, *doubtful_text(calibration)]
    parts = [
        html.heading(f"Calibration: {calibration.nominal.name}, {pluralize(len(calibration.poses), 'pose')}", 1),
        html.paragraph(gain_text(calibration), f"big {KINDS.get(calibration.verdict, '')}".strip()),
        html.paragraph(verdict_text(calibration)),
        *(html.paragraph(note[0].upper() + note[1:] + ".", "warn") for note in notes),
        html.heading("Error at held-out poses"),
        html.table(headings(calibration), error_rows(calibration)),
        html.heading("Residuals"),
        html.svg(draw(calibration)),
        html.paragraph(scale_text(calibration), "small"),
    ]
    if calibration.fit.unknowns.free.any():
        parts += [
            html.heading("Zeros of the joints"),
            html.table(("joint", "error", "95 %", "determined"), offset_rows(calibration)),
            html.fold("Errors of the joints' frames", html.table(FRAME_HEADINGS, frame_rows(calibration))),
        ]
    zeros = [text for verdict, text in TEXTS["zeros"].items() if verdict == calibration.verdict]
    parts.append(html.fold("Definitions", html.listing([*TEXTS["definitions"], *zeros])))
    source = calibration.nominal.source
    files = [source.path if source else None, calibration.poses.path]
    return html.document(f"armdyn: calibration of {calibration.nominal.name}", *parts, files=files)


def notebook(calibration: Calibration) -> str:
    """Verdict, errors and arrows."""
    return html.fragment(
        html.paragraph(f"{verdict_text(calibration)} {gain_text(calibration)}"),
        html.table(headings(calibration), error_rows(calibration)),
        html.picture(draw(calibration), 60),
    )


def gain_text(calibration: Calibration) -> str:
    """Return a sentence about what calibration gains."""
    errors = calibration.held_out
    result = errors.of(calibration.verdict)
    before = f"{1e3 * errors.base_and_tool.mean:.3g} mm"
    if result is errors.base_and_tool:
        return f"Mean error at held-out poses: {before} with base and tool fitted."
    return f"Mean error of the result at held-out poses: {1e3 * result.mean:.3g} mm; with base and tool alone {before}."


def verdict_text(calibration: Calibration) -> str:
    """The verdict and what follows from it, in a sentence."""
    return f"{str(calibration.verdict).capitalize()}: {TEXTS['result'][calibration.verdict]}."


def doubtful_text(calibration: Calibration) -> list[str]:
    """The rows that disagree with the others and how far, in a clause; none where none does."""
    order = np.asarray(calibration.poses.rows).tolist()
    shifts = np.linalg.norm(calibration.residuals[..., :3], axis=-1)
    off = [f"{row + 1} ({1e3 * np.nanmax(shifts[order.index(row)]):.3g} mm off)" for row in calibration.doubtful]
    if len(off) > 1:
        return [f"poses {', '.join(off)}, counted from 1, disagree with the others: measure them again, or delete them"]
    return [f"pose {row}, counted from 1, disagrees with the others: measure it again, or delete it" for row in off]


def headings(calibration: Calibration) -> tuple[str, ...]:
    """Return the headings of the table of errors."""
    return ("model", "mean [mm]", "rms [mm]", "max [mm]", *(() if calibration.poses.n_markers else ("angle [mrad]",)))


def error_rows(calibration: Calibration) -> list[tuple[str, ...]]:
    """Held-out errors, a row a model."""
    rows: list[tuple[str, ...]] = []
    for name, label in MODELS.items():
        errors = getattr(calibration.held_out, name)
        if errors is not None:
            numbers = [errors.mean, errors.rms, errors.max, *(() if calibration.poses.n_markers else (errors.turn,))]
            rows.append((label, *(f"{1e3 * x:.3g}" for x in numbers)))
    return rows


def offset_rows(calibration: Calibration) -> list[tuple[str, ...]]:
    """Errors of zeros with their intervals, a row a joint."""
    free, columns, arm = calibration.fit.unknowns.free, zero_columns(calibration.nominal), calibration.nominal
    std = np.full(free.shape, np.nan)
    start = calibration.fit.unknowns.n_flat
    std[free] = np.sqrt(np.diag(calibration.covariance)[start : start + free.sum()])
    rows: list[tuple[str, ...]] = []
    for i, joint in enumerate(arm.joints):
        unit = "mrad" if joint.kind == "revolute" else "mm"
        value, width, share = calibration.offsets[i], std[i, columns[i]], calibration.determined[i, columns[i]]
        doubt = "?" * bool(share < DETERMINED_SHARE)
        rows.append((joint.name, f"{_milli(value)}{doubt} {unit}", f"± {1.96e3 * width:.2g} {unit}", f"{share:.0%}"))
    return rows


def _milli(x: float) -> str:
    return f"{round(1e3 * float(x), 3) + 0.0:+.3f}"  # no negative zero


def frame_rows(calibration: Calibration) -> list[tuple[str, ...]]:
    """Errors of joint frames; a number that the measurements do not determine has a question mark."""
    open_ = calibration.determined < DETERMINED_SHARE
    return [
        (name, *(f"{_milli(x)}{'?' * bool(lost)}" for x, lost in zip(row, unsure, strict=True)))
        for name, row, unsure in zip(calibration.nominal.joint_names, calibration.geometry, open_, strict=True)
    ]


def scale_text(calibration: Calibration) -> str:
    """Say how arrows are drawn."""
    scale = float(f"{residual_arrows(calibration).scale:.2g}")
    return f"Arrows: measured minus predicted position, {scale:,.0f} times enlarged. Doubtful poses are red."


def draw(calibration: Calibration) -> Any:
    """Residuals as arrows in space, and their sizes pose by pose."""
    import matplotlib.pyplot as plt

    arrows = residual_arrows(calibration)
    places, doubtful = arrows.places, np.isin(np.asarray(calibration.poses.rows), calibration.doubtful)
    colours = np.where(arrows.doubtful, "#c0392b", "#14375e")
    figure = plt.figure(figsize=(9, 8))
    space: Any = figure.add_axes((0.02, 0.36, 0.96, 0.62), projection="3d")
    space.quiver(*places.T, *(arrows.scale * arrows.shifts).T, colors=colours, lw=1.0, arrow_length_ratio=0.3)
    space.scatter(*places.T, s=6, c="#9aa7b4", depthshade=False)
    space.set_aspect("equal", adjustable="datalim")
    for axis, name in zip((space.xaxis, space.yaxis, space.zaxis), "xyz", strict=True):
        axis.set_label_text(f"{name} [m]", fontsize=8)
    space.tick_params(labelsize=7)
    below = figure.add_axes((0.09, 0.07, 0.88, 0.24))
    size = 1e3 * np.sqrt(
        np.nanmean(np.sum(calibration.residuals[..., :3].reshape(len(calibration.poses), -1, 3) ** 2, 2), axis=1)
    )
    rows = np.asarray(calibration.poses.rows) + 1
    below.bar(rows, size, color=np.where(doubtful, "#c0392b", "#14375e"))
    below.set_axisbelow(True)
    below.set_xlim(rows.min() - 0.7, rows.max() + 0.7)
    below.set_xlabel("pose")
    below.set_ylabel("residual, rms [mm]")
    below.grid(alpha=0.25)
    return figure
