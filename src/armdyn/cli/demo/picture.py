"""The demo shown: pictures of the motion, torques and tip errors; and the report, with the identification in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armdyn.files import write_figure
from armdyn.html import MAX_POINTS, document, heading, listing, paragraph, svg, table
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.report.fit import parts as fit_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from armdyn.cli.demo.study import DemoStudy

POSES_DRAWN = 12
COLOURS = ("#b0b7bf", "#e07b00", "#1f77b4", "#2a9d4b")  # of the laws


def draw(study: DemoStudy, path: Path, dpi: int = 100) -> None:
    """Draw the story into a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), dpi=dpi)
    # By hand: a layout that looks at all labels would draw them twice.
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.35), left=0, right=0.985, bottom=0.11, top=0.93, hspace=0.38)
    _motion(figure.add_subplot(grid[:, 0], projection="3d"), study)
    _torques(figure.add_subplot(grid[0, 1]), study)
    _errors(figure.add_subplot(grid[1, 1]), study)
    write_figure(path, figure)


def page(study: DemoStudy, lines: list[str]) -> str:
    """The report: what was done, how the laws compare, and the identification in full."""
    tracking = study.tracking
    best, names = min(tracking.values()), {error: name for name, error in tracking.items()}
    rows = [(name, f"{1e3 * error:.2f}", f"{error / best:.1f}") for name, error in tracking.items()]
    return document(
        "armdyn demo",
        heading("armdyn demo: a PUMA 560 whose real parameters differ from its model", 1),
        paragraph(f"Tip error with an unknown load: {1e3 * best:.2f} mm with {names[best]}.", "big good"),
        listing(lines),
        heading("Control with the unknown load"),
        paragraph("All laws follow the same motion with a bandwidth of 3 Hz; errors are those of the second half."),
        table(("law", "tip error, RMS [mm]", "times the best"), rows),
        svg(tip_errors(study)),
        *fit_parts(study.fit),
    )


def tip_errors(study: DemoStudy) -> Figure:
    """Tip errors alone, for the report."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
    _errors(axes, study)
    return figure


def _motion(axes: Axes, study: DemoStudy) -> None:
    """The arm at some instants of the exciting motion, the later the darker, and the path of the tip."""
    from matplotlib import colormaps

    t = np.linspace(0.0, study.motion.trajectory.duration, 600)
    q = study.motion.trajectory(t).q
    poses, tip = link_poses(study.arm, q), forward_kinematics(study.arm, q)
    axes.plot(*tip[:, :3, 3].T, color="0.7", linewidth=0.8)
    for i in np.linspace(0, len(poses) - 1, POSES_DRAWN, endpoint=False).astype(int):
        points = np.vstack([np.zeros(3), poses[i, :, :3, 3], tip[i, :3, 3]])
        shade = colormaps["viridis"](0.9 - 0.8 * i / len(poses))
        axes.plot(*points.T, "o-", color=shade, markersize=2.5, linewidth=1.8)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title=f"{study.arm.name}: the exciting motion")
    axes.set_aspect("equal")
    axes.locator_params(nbins=4)


def _torques(axes: Axes, study: DemoStudy) -> None:
    """The measured torque of the joint that carries most on the validation motion, and what both models say."""
    from armdyn.dynamics.full import joint_torque

    log = study.fit.other
    if log is None:
        return
    loaded = int(np.argmax(np.sum(log.tau**2, axis=0)))
    q, qd, qdd = study.task(log.t)
    axes.plot(log.t, log.tau[:, loaded], color="#14375e", linewidth=3, alpha=0.35, label="measured")
    for name, arm, colour in (("as described", study.arm, COLOURS[1]), ("identified", study.fit.arm, COLOURS[2])):
        # The width of the sign of the velocity: as smooth as the filtered measurement.
        tau = joint_torque(arm, q, qd, qdd, width=0.05)
        axes.plot(log.t, tau[:, loaded], color=colour, linewidth=1, label=name)
    axes.set(title=f"torque of joint {loaded + 1} on another motion", ylabel="[N m]", xlim=(0, log.t[-1]))
    axes.legend(ncols=3, fontsize=7, frameon=False, loc="lower left")
    axes.margins(y=0.2)
    axes.grid(alpha=0.3)


def _errors(axes: Axes, study: DemoStudy) -> None:
    """Tip errors of the laws on a logarithmic scale: they differ by factors."""
    for (name, (t, error)), colour in zip(study.tip_errors.items(), COLOURS, strict=True):
        some = slice(None, None, max(1, len(t) // MAX_POINTS))
        axes.semilogy(t[some], 1e3 * np.maximum(error[some], 1e-6), color=colour, linewidth=1, label=name)
    axes.axvline(t[-1] / 2, color="0.6", linewidth=0.8, linestyle=":")
    axes.set(
        title="tip error with the unknown load", xlabel="time [s]", ylabel="[mm]", xlim=(0, t[-1]), ylim=(5e-4, None)
    )
    axes.yaxis.set_major_formatter("{x:g}")  # powers of ten are typeset as formulas, slowly
    axes.minorticks_off()
    axes.legend(ncols=2, fontsize=7, frameon=False, loc="lower center")
    axes.grid(alpha=0.3)
