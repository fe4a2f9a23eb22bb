"""A picture of the linearised arm along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armdyn.dynamics.linear.gramian import controllability
from armdyn.dynamics.linear.linearize import LinearMotion
from armdyn.dynamics.linear.modes import modes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_modes(motion: LinearMotion, horizon: float = 0.1) -> Figure:
    """Plot eigenvalues, time constants and controllability over time.

    Parameters
    ----------
    motion : LinearMotion
        From `linearize_motion`.
    horizon : float, optional
        Time [s] over which controllability is measured. Torques count as shares of the joints' effort
        limits where all of those are known, else as they are.

    Returns
    -------
    matplotlib.figure.Figure
        Not attached to any window; `figure.savefig(...)` writes it.
    """
    from matplotlib.figure import Figure

    motion_modes = modes(motion.A)
    effort = np.array([joint.limits.effort for joint in motion.arm.coordinate_joints])
    scale = effort if np.isfinite(effort).all() else 1.0
    reach = controllability(motion.A, motion.B * scale, horizon)

    figure = Figure(figsize=(7, 8), layout="constrained")
    top, middle, times, low = figure.subplots(4, sharex=True)
    top.plot(motion.t, motion_modes.eigenvalues.real, ".", ms=2, color="C0")
    top.set_ylabel("real part [1/s]")
    middle.plot(motion.t, motion_modes.eigenvalues.imag, ".", ms=2, color="C1")
    middle.set_ylabel("imaginary part [1/s]")
    for sign, name, colour in ((-1, "growth", "C3"), (1, "decay", "C2")):
        constants = np.where(np.sign(motion_modes.time_constants) == sign, np.abs(motion_modes.time_constants), np.nan)
        times.semilogy(motion.t, constants, ".", ms=2, color=colour, label=[name, *["_"] * (constants.shape[-1] - 1)])
    # Modes that outlast the motion neither grow nor decay to speak of.
    times.set_ylim(top=float(np.ptp(motion.t)) or None)
    times.set_ylabel("time constants [s]")
    times.legend(markerscale=4)
    low.semilogy(motion.t, np.sqrt(reach.smallest), label="hardest direction")
    low.semilogy(motion.t, np.sqrt(reach.largest), label="easiest direction")
    low.set_ylabel(f"reach in {horizon:g} s")
    low.set_xlabel("time [s]")
    low.legend()
    figure.suptitle(f"{motion.arm.name}: linearised along the motion")
    return figure


draw = plot_modes  # as `presentation` calls it
