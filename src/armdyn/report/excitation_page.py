"""The report of an exciting motion."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from armdyn.dynamics.full import joint_torque
from armdyn.errors import MissingInertiaError
from armdyn.html import document, heading, paragraph, svg, table
from armdyn.kinematics.forward import forward_kinematics
from armdyn.trajectory.excitation.excite import Excitation
from armdyn.trajectory.excitation.figure import POINTS, motion_figure, summary
from armdyn.trajectory.excitation.motion_constraints import TorqueLimits
from armdyn.trajectory.excitation.quality import predict_quality


def page(found: Excitation) -> str:
    """Plots of joints, torques against limits, singular values and the tip's path, and what the motion will show."""
    title = f"Exciting motion of {found.base.name}"
    parts = [heading(title, 1), paragraph(summary(found), "big")]
    for name, figure in _figures(found):
        parts += [heading(name), svg(figure)]
    quality = predict_quality(found, 1.0)
    rows = [(name, f"{std:.3g}") for name, std in zip(quality.names, quality.std, strict=True)]
    said = "Standard deviations by least squares, for torque noise of 1 N m (or 1 N) a sample at 1 kHz."
    parts += [heading("Parameters"), paragraph(said), table(("parameter", "standard deviation (SI)"), rows)]
    return document(f"armdyn: {title}", *parts)


def _figures(found: Excitation) -> list[tuple[str, Any]]:
    figures = [("Joints", motion_figure(found))]
    with suppress(MissingInertiaError):  # the arm's inertia may be what the motion is to find out
        figures.append(("Torques", _torques(found)))
    return [*figures, ("Singular values, and the path of the tip", _values_and_tip(found))]


def _torques(found: Excitation) -> Any:
    """Torques by the present model, against their limits."""
    from matplotlib.figure import Figure

    arm = found.base.source
    t = np.linspace(0.0, found.trajectory.duration, POINTS)
    tau = joint_torque(arm, *found.trajectory(t))
    figure = Figure(figsize=(9, 1.3 * arm.n), layout="constrained")
    kept = [constraint.limit for constraint in found.problem.constraints if isinstance(constraint, TorqueLimits)]
    limits = kept[0] if kept else found.limits.effort
    for i, axes in enumerate(figure.subplots(arm.n, 1, sharex=True, squeeze=False)[:, 0]):
        limit = limits[i]
        axes.plot(t, tau[:, i])
        axes.set_ylabel(f"{i + 1} [{'N' if arm.joints[i].kind == 'prismatic' else 'N m'}]")
        if np.isfinite(limit):
            axes.axhline(limit, color="C3", linewidth=0.8)
            axes.axhline(-limit, color="C3", linewidth=0.8)
    figure.axes[-1].set_xlabel("t [s]")
    return figure


def _values_and_tip(found: Excitation) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    left.semilogy(np.arange(1, len(found.singular_values) + 1), found.singular_values, "o-", markersize=3)
    left.set(xlabel="number", ylabel="singular value of W (SI)")
    t = np.linspace(0.0, found.trajectory.duration, POINTS)
    tip = forward_kinematics(found.base.source, found.trajectory(t).q)[:, :3, 3]
    right = figure.add_subplot(1, 2, 2, projection="3d")
    right.plot(*tip.T, linewidth=1)
    right.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    right.set_aspect("equal")
    right.locator_params(nbins=4)
    return figure
