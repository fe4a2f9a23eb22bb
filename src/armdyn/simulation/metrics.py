"""Numbers that judge a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.simulation.result import SimulationResult

# An error has settled when it stays below this part of its largest value.
SETTLED_RATIO = 0.02
CLEAR_RATIO = 1.5  # of torques, forces, errors or bandwidths of two runs, up to which they count as alike


class Metrics(NamedTuple):
    """One number per joint, (..., n), or a run, (...); of what was logged."""

    rms_error: NDArray  # (..., n) [rad or m]
    max_error: NDArray  # (..., n)
    rms_tip_error: NDArray | None  # (...) [m]; None without the arm
    max_tip_error: NDArray | None
    rms_torque: NDArray  # (..., n) [N m or N]
    max_torque: NDArray  # (..., n)
    work: NDArray  # (...) [J], of the drives on the arm
    effort: NDArray  # (...) [J], both driving and braking counted
    settling_time: NDArray  # (..., n) [s] until the error stays below 2 % of its largest value; NaN: never


def metrics_of(result: SimulationResult) -> Metrics:
    """The metrics of every run of a result."""
    e, tau, work = result.error, result.tau, _works(result)
    tip = tip_distance(result)
    return Metrics(
        _rms(e, -2),
        np.abs(e).max(-2),
        None if tip is None else _rms(tip, -1),
        None if tip is None else tip.max(-1),
        _rms(tau, -2),
        np.abs(tau).max(-2),
        work.sum((-2, -1)),
        np.abs(work).sum((-2, -1)),
        _settling(result.t, np.abs(e)),
    )


def _works(result: SimulationResult) -> NDArray:
    """Return the work of each drive from sample to sample, (..., T - 1, n) [J]: its torque times the way of what it
    moves.
    """
    tau, share = result.tau, result.held
    return (share * tau[..., :-1, :] + (1 - share) * tau[..., 1:, :]) * np.diff(result.at_drives[0], axis=-2)


def _rms(x: NDArray, axis: int) -> NDArray:
    return np.sqrt((x**2).mean(axis))


def tip_distance(result: SimulationResult) -> NDArray | None:
    """Distance of the tip from where the reference puts it, (..., T)."""
    if result.arm is None:
        return None
    from armdyn.kinematics.forward import forward_kinematics

    there, here = (forward_kinematics(result.arm, q)[..., :3, 3] for q in (result.q_ref, result.q))
    return np.linalg.norm(there - here, axis=-1)


def _settling(t: NDArray, e: NDArray) -> NDArray:
    """Time after which |e| stays below its bound, (..., n)."""
    outside = e > SETTLED_RATIO * e.max(-2, keepdims=True)
    last = outside.shape[-2] - 1 - np.argmax(outside[..., ::-1, :], axis=-2)
    settled = np.where(outside.any(-2), np.minimum(last + 1, len(t) - 1), 0)
    return np.where(outside[..., -1, :] | np.isnan(e[..., -1, :]), np.nan, t[settled])
