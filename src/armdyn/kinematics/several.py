"""Inverse kinematics of several frames at once, such as both hands of a robot with two arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.damped_step import DAMPING_PER_SQUARED_ERROR, LENGTH_PER_RAD, magnitude
from armdyn.kinematics.error import pose_error
from armdyn.kinematics.forward import link_frames, named_frame
from armdyn.kinematics.jacobian import jacobian
from armdyn.kinematics.numeric import Solution, SolverSettings, sampling_range
from armdyn.model.arm import Arm
from armdyn.model.quantities import Pose, Q
from armdyn.precision import SOLUTION_ERROR
from armdyn.trace.formula import Array, traced


@traced(returns={"error": "6"})
def frame_error(arm: Arm, q: Q, pose: Pose, frame: str | None = None) -> Array:
    """Twist, in base axes, that leads from a frame towards a pose; see `pose_error`."""
    return pose_error(*named_frame(arm, link_frames(arm, q), frame), pose, "pose")


class _Errors(NamedTuple):
    """Errors of all frames, one above the other."""

    e: NDArray  # (N, 6 f) scaled so that its square is the cost
    J: NDArray  # (N, 6 f, n) scaled the same
    sizes: NDArray  # (N, 2) largest distance [m] and angle [rad] of a frame


def solve_several(arm: Arm, poses: Mapping[str, NDArray], q0: NDArray | None, settings: SolverSettings) -> Solution:
    """Solve for poses (N, 4, 4) of named frames, from q0 (N, n) first if given, then from random starts.

    Levenberg-Marquardt on the errors of all frames together, damped in proportion to what is left (Sugihara 2011).
    """
    count, (lower, upper) = len(next(iter(poses.values()))), arm.position_limits
    best = Solution(np.zeros((count, arm.n)), np.full((count, 2), np.inf), np.zeros(count, int), np.zeros(count, bool))
    rng, room = np.random.default_rng(settings.seed), sampling_range(arm, (lower, upper))
    for attempt in range(settings.restarts + 1):
        left = np.flatnonzero(~best.solved)
        if not len(left):
            break
        q = rng.uniform(*room, (len(left), arm.n)) if q0 is None or attempt else np.clip(q0, lower, upper)[left]
        wanted = {name: pose[left] for name, pose in poses.items()}
        for _ in range(settings.iterations):
            errors = _errors(arm, q, wanted, settings.task)
            if (errors.sizes <= settings.tolerance).all():
                break
            q = np.clip(q + _step(errors, q, lower, upper), lower, upper)
            best.iterations[left] += 1
        sizes = _errors(arm, q, wanted, settings.task).sizes
        better = sizes.max(-1) < best.error[left].max(-1)
        best.q[left[better]], best.error[left[better]] = q[better], sizes[better]
        best.solved[left] = best.error[left].max(-1) <= settings.tolerance
    return best


def _errors(arm: Arm, q: NDArray, poses: Mapping[str, NDArray], task: str) -> _Errors:
    rows, slopes, sizes = [], [], []
    scale = np.repeat([1 / magnitude(arm), LENGTH_PER_RAD], 3)
    for name, pose in poses.items():
        e = np.asarray(frame_error(arm, q, pose, frame=name))
        J = np.asarray(jacobian(arm, q, frame=name))
        rows_used = slice(3) if task == "position" else slice(6)
        rows.append((scale * e)[:, rows_used])
        slopes.append((scale[:, None] * J)[:, rows_used])
        angle = np.linalg.norm(e[:, 3:], axis=-1) * (task != "position")
        sizes.append(np.stack([np.linalg.norm(e[:, :3], axis=-1), angle], -1))
    return _Errors(np.concatenate(rows, 1), np.concatenate(slopes, 1), np.max(sizes, axis=0))


def _step(errors: _Errors, q: NDArray, lower: NDArray, upper: NDArray) -> NDArray:
    """One damped step; joints at a limit that the errors push further out are held."""
    e, J, _ = errors
    downhill = np.einsum("nki,nk->ni", J, e)
    held = ((q <= lower) & (downhill < 0)) | ((q >= upper) & (downhill > 0))
    J = J * ~held[:, None]
    damping = DAMPING_PER_SQUARED_ERROR / 2 * (e**2).sum(-1) + SOLUTION_ERROR
    A = J.swapaxes(1, 2) @ J + damping[:, None, None] * np.eye(q.shape[1])
    return np.asarray(np.linalg.solve(A, np.where(held, 0.0, downhill)[..., None])[..., 0])
