"""The page about an exciting motion: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import io
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armdyn.errors import MissingInertiaError
from armdyn.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from armdyn.trajectory.excite import Excitation

POINTS = 1000

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}img{{max-width:100%}}
td,th{{padding:.1em .8em;text-align:right}}td:first-child,th:first-child{{text-align:left}}</style></head>
<body><h1>{title}</h1><p>{summary}</p>{figures}<h2>Parameters</h2>
<p>Standard deviations by least squares, for torque noise of 1 N m (or 1 N) a sample at 1 kHz.</p>
<table><tr><th>parameter</th><th>standard deviation (SI)</th></tr>{rows}</table></body></html>
"""


def write_report(found: Excitation, path: Path) -> None:
    """Write plots of joints, torques against limits, singular values and the tip's path."""
    from armdyn.trajectory.quality import predict_quality

    quality = predict_quality(found, 1.0)
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{std:.3g}</td></tr>"
        for name, std in zip(quality.names, quality.std, strict=True)
    )
    summary = (
        f"{found.trajectory.duration:g} s, {found.trajectory.harmonics} harmonics; condition number "
        f"{found.condition:.1f} in SI units, {found.condition_unit:.1f} with unit columns. All limits hold."
    )
    figures = "".join(f"<h2>{title}</h2>{_image(figure)}" for title, figure in _figures(found))
    title = escape(f"Exciting motion of {found.base.name}")
    write_whole(path, PAGE.format(title=title, summary=summary, figures=figures, rows=rows))


def _figures(found: Excitation) -> list[tuple[str, Figure]]:
    figures = [("Joints", _joints(found))]
    with suppress(MissingInertiaError):  # the arm's inertia may be what the motion is to find out
        figures.append(("Torques", _torques(found)))
    return [*figures, ("Singular values", _singular_values(found)), ("Path of the tip", _tip(found))]


def _joints(found: Excitation) -> Figure:
    """Positions, velocities and accelerations as parts of their limits."""
    from matplotlib.figure import Figure

    t = np.linspace(0.0, found.trajectory.duration, POINTS)
    q, qd, qdd = found.trajectory(t)
    limits = found.limits
    room = np.where(np.isfinite(limits.half_range), limits.half_range, np.pi)
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, values, label in zip(
        figure.subplots(3, 1, sharex=True),
        ((q - limits.center) / room, qd / limits.velocity, qdd / limits.acceleration),
        ("position", "velocity", "acceleration"),
        strict=True,
    ):
        axes.plot(t, values, label=limits.joint_names)
        axes.set(ylabel=f"{label} / limit", ylim=(-1.05, 1.05))
        axes.axhline(1, color="0.6", linewidth=0.8)
        axes.axhline(-1, color="0.6", linewidth=0.8)
    figure.axes[-1].set_xlabel("t [s]")
    figure.axes[0].legend(fontsize="x-small", ncols=4)
    return figure


def _torques(found: Excitation) -> Figure:
    """Torques by the present model, against their limits."""
    from matplotlib.figure import Figure

    from armdyn.dynamics.full import joint_torque

    arm = found.base.source
    t = np.linspace(0.0, found.trajectory.duration, POINTS)
    tau = joint_torque(arm, *found.trajectory(t))
    figure = Figure(figsize=(9, 1.3 * arm.n), layout="constrained")
    for i, axes in enumerate(figure.subplots(arm.n, 1, sharex=True, squeeze=False)[:, 0]):
        limit = arm.joints[i].limits.effort
        axes.plot(t, tau[:, i])
        axes.set_ylabel(f"{i + 1} [{'N' if arm.joints[i].kind == 'prismatic' else 'N m'}]")
        if np.isfinite(limit):
            axes.axhline(limit, color="C3", linewidth=0.8)
            axes.axhline(-limit, color="C3", linewidth=0.8)
    figure.axes[-1].set_xlabel("t [s]")
    return figure


def _singular_values(found: Excitation) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(np.arange(1, len(found.singular_values) + 1), found.singular_values, "o-", markersize=3)
    axes.set(xlabel="number", ylabel="singular value of W (SI)")
    return figure


def _tip(found: Excitation) -> Figure:
    from matplotlib.figure import Figure

    from armdyn.kinematics.forward import forward_kinematics

    t = np.linspace(0.0, found.trajectory.duration, POINTS)
    tip = forward_kinematics(found.base.source, found.trajectory(t).q)[:, :3, 3]
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.add_subplot(projection="3d")
    axes.plot(*tip.T, linewidth=1)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_aspect("equal")
    return figure


def _image(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90)
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'
