"""Why a run went wrong, in words: the joint that strayed first, or that needs far more torque than the motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.simulation.loop.stability import MIN_FACTOR
from armdyn.simulation.metrics import CLEAR_RATIO
from armdyn.simulation.result import SimulationResult

# Velocity error over the reference's largest velocity, from which on a joint has left its way.
LEFT_VELOCITY_RATIO = 3.0
SHAKING_SHARE = 0.4  # share of steps at which a signal changes its sign, from which on it shakes from sample to sample
TAIL_SAMPLES = 40  # samples before a joint left that show how it did
AT_ONCE_SAMPLES = 5  # samples within which only gains that are too high for the rate make a joint leave


def explain(result: SimulationResult) -> str:
    """One sentence on what went wrong in a run; empty where nothing did, or nobody knows the arm."""
    if result.arm is None or result.batch or len(result.t) < 3:
        return ""
    if not np.isnan(result.diverged).all():
        return _divergence(result)
    return _strain(result)


def torque_needed(result: SimulationResult) -> NDArray:
    """Return the torque that the plant's arm needs to follow the reference exactly, (T, n)."""
    assert result.arm is not None
    return joint_torque(result.arm, result.q_ref, result.qd_ref, result.qdd_ref)


def _divergence(result: SimulationResult) -> str:
    """Return which joint left the reference first, when and how."""
    error = result.qd - result.qd_ref
    top = max(float(np.abs(result.qd_ref).max()), 1e-9)
    with np.errstate(invalid="ignore"):
        left = ~(np.abs(error) < LEFT_VELOCITY_RATIO * top)
    row = int(left.any(1).argmax()) if left.any() else len(result.t) - 1
    j = int(np.nan_to_num(np.abs(error[row]), nan=np.inf).argmax())
    ran = ", after its estimate ran away" if _estimate_ran(result, row) else ""
    way = _way(error[: row + TAIL_SAMPLES, j], row)
    return f"{_joint(result, j)} left the reference first, from {result.t[row]:.3g} s on, {way}{ran}"


def _way(error: NDArray, row: int) -> str:
    """Return how a joint left, from its velocity error (T,) around that row."""
    around = error[max(0, row - TAIL_SAMPLES) :]
    if row < AT_ONCE_SAMPLES or _shakes(around):
        return "shaking from sample to sample: its loop is too fast for its rate; lower the bandwidth or raise the rate"
    turns = np.diff(np.sign(around[np.isfinite(around)])) != 0
    return "with growing oscillation" if turns.sum() > 1 else "running away to one side"


def _strain(result: SimulationResult) -> str:
    """The joint with the most torque beyond what the motion needs, where that is much."""
    rms = [np.sqrt((x**2).mean(0)) for x in (result.tau, torque_needed(result))]
    if np.linalg.norm(rms[0]) < CLEAR_RATIO * np.linalg.norm(rms[1]):
        return ""
    j = int(np.argmax(rms[0] - rms[1]))
    turns = result.arm is None or result.arm.coordinate_joints[j].kind == "revolute"
    unit = "N m" if turns else "N"
    summary = f"{_joint(result, j)} takes {rms[0][j]:.3g} {unit} RMS where the motion needs {rms[1][j]:.3g}"
    if _shakes((result.tau - torque_needed(result))[:, j]):
        return f"{summary}: it shakes from sample to sample, as its gains are too high for its rate"
    error = float(np.sqrt((result.error[:, j] ** 2).mean()))
    size = f"{np.degrees(error):.2g} deg" if turns else f"{1e3 * error:.2g} mm"
    return f"{summary}: it pushes against an error of {size} RMS"


def _shakes(x: NDArray) -> bool:
    """Whether a signal changes its sign about its mean at nearly every step."""
    side = np.sign(x - np.nanmean(x)) if np.isfinite(x).any() else np.zeros(len(x))
    return len(side) > 2 and float((side[1:] * side[:-1] < 0).mean()) > SHAKING_SHARE


def _estimate_ran(result: SimulationResult, row: int) -> bool:
    """Whether an adaptive law's estimate grew far beyond what it was before."""
    phi = result.states.get("phi")
    if phi is None or row < 4:
        return False
    size = np.nan_to_num(np.abs(phi[: row + 1]), nan=np.inf).max(1)
    return bool(size[-1] > MIN_FACTOR * max(float(size[: row // 2].max()), 1e-12))


def _joint(result: SimulationResult, j: int) -> str:
    return f"joint {j + 1} '{result.joint_names[j]}'"
