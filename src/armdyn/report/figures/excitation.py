"""An exciting motion in words and curves, for reports and notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.html import fragment, paragraph, picture
from armdyn.trajectory.excitation.excite import GOOD_CONDITION, Excitation

CURVE_POINTS = 1000


def summary(found: Excitation) -> str:
    """What it shows, and how well."""
    shown = f"{found.base.count} inertial and {2 * found.base.source.n} friction parameters"
    weak = "" if found.is_good else ", some of them weakly: search longer, or allow a longer motion or wider limits"
    return (
        f"{found.trajectory.duration:g} s of motion that show {shown}{weak}; condition number {found.condition:.1f} in "
        f"SI units, {found.condition_unit:.1f} with unit columns (up to {GOOD_CONDITION:g} is good)."
    )


def notebook(found: Excitation) -> str:
    """What a notebook shows."""
    return fragment(
        paragraph(f"Exciting motion of {found.base.name}: {summary(found)}"),
        *(paragraph(line) for line in found.promises),
        picture(motion_figure(found), 60),
    )


def motion_figure(found: Excitation) -> Any:
    """Positions, velocities and accelerations as parts of their limits."""
    from matplotlib.figure import Figure

    t = np.linspace(0.0, found.trajectory.duration, CURVE_POINTS)
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
