"""Curves of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.html import MOST_POINTS
from armdyn.simulation.result import SimulationResult

CURVES = ("q", "qd", "tau", "error")
MOST_RUNS = 40  # of a batch, drawn over each other


def position_units(result: SimulationResult, degrees: bool) -> list[tuple[float, str]]:
    """Factor and unit of every joint's position."""
    if result.arm is None:
        return [(1.0, "rad or m")] * result.n
    turn = (180 / np.pi, "deg") if degrees else (1.0, "rad")
    return [turn if joint.kind == "revolute" else (1.0, "m") for joint in result.arm.joints]


def torque_units(result: SimulationResult) -> list[str]:
    """Unit of every joint's torque."""
    if result.arm is None:
        return ["N m or N"] * result.n
    return ["N m" if joint.kind == "revolute" else "N" for joint in result.arm.joints]


def plot_run(result: SimulationResult, what: str = "q", degrees: bool = False) -> Any:
    """Draw one diagram per joint, with all runs of a batch in it.

    Parameters
    ----------
    result : SimulationResult
    what : {"q", "qd", "tau", "error"}
        Positions and velocities are drawn with their reference.
    degrees : bool
        Show angles in degrees.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    if what not in CURVES:
        raise ArmdynError(f"plot_run: unknown curve {what!r}; expected one of {', '.join(CURVES)}")
    values = getattr(result, what).reshape(-1, len(result.t), result.n)[:MOST_RUNS]
    wanted = {"q": result.q_ref, "qd": result.qd_ref}.get(what)
    step = max(1, len(result.t) // MOST_POINTS)
    t, alpha = result.t[::step], 1.0 if len(values) == 1 else 0.3
    figure, axes = plt.subplots(result.n, 1, figsize=(9, 1.4 * result.n + 0.6), sharex=True, squeeze=False)
    units = position_units(result, degrees)
    if what == "tau":
        units = [(1.0, unit) for unit in torque_units(result)]
    for j, (axis, (factor, unit)) in enumerate(zip(axes[:, 0], units, strict=True)):
        label = unit + "/s" * (what == "qd")
        axis.plot(t, factor * values[:, ::step, j].T, color="#14375e", lw=1.0, alpha=alpha)
        if wanted is not None:
            axis.plot(t, factor * wanted[::step, j], color="#e07b00", lw=0.9, ls="--", label="reference")
        axis.set_ylabel(f"{result.joint_names[j]}\n[{label}]", fontsize=8)
        axis.grid(alpha=0.25)
    if wanted is not None:
        axes[0, 0].legend(loc="upper right", fontsize=8)
    axes[-1, 0].set_xlabel("time [s]")
    return figure
