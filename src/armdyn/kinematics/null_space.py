"""Using the freedom that a pose leaves: motion of the joints that does not move the tip."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError
from armdyn.kinematics.damped_step import damped_step, tip_error
from armdyn.kinematics.numeric import STILL_STEP, Solution, SolverSettings, larger
from armdyn.model.arm import Arm
from armdyn.precision import MAX_ITERATIONS

# The joint motion (L, n) wished for at q (L, n), for these rows (L,) of the batch.
Wish = Callable[[NDArray, NDArray], NDArray]

# Part of the way to a posture in a step.
POSTURE_STEP_RATIO = 0.5
# Steps that bring the tip back exactly at the end.
RETURN_STEPS = 5


def toward(posture: NDArray) -> Wish:
    """The wish to come near to a posture (N, n)."""
    return lambda q, rows: POSTURE_STEP_RATIO * (posture[rows] - q)


def function(motion: Callable[[NDArray], NDArray]) -> Wish:
    """The wish that a user's function of q expresses."""

    def wish(q: NDArray, rows: NDArray) -> NDArray:
        step = np.asarray(motion(q), float)
        if step.shape != q.shape or not np.isfinite(step).all():
            expected = f"objective(q) to return finite numbers of shape {q.shape}"
            raise ShapeError(where="inverse_kinematics", expected=expected, got=f"shape {step.shape}")
        return step

    return wish


def improve(arm: Arm, poses: NDArray, solution: Solution, wish: Wish, settings: SolverSettings) -> None:
    """Move solved configurations along their self-motion as wished, as far as the pose and the limits allow."""
    rows = np.flatnonzero(solution.solved)
    q, target = solution.q[rows], poses[rows]
    moving, size, last = np.arange(len(rows)), np.ones((len(rows), 1)), np.zeros_like(q)
    lower, upper = arm.position_limits
    for _ in range(MAX_ITERATIONS):
        if not len(moving):
            break
        step = size * wish(q[moving], rows[moving])
        q_next = damped_step(arm, q[moving], target[moving], step, task=settings.task, lower=lower, upper=upper).q
        progress = q_next - q[moving]
        q[moving] = q_next
        solution.iterations[rows[moving]] += 1
        # Turning back means that the top, or the bottom, was passed: smaller steps from there.
        size = np.where((progress * last).sum(-1, keepdims=True) < 0, size / 2, size)
        keep = np.abs(progress).max(-1) >= STILL_STEP
        moving, size, last = moving[keep], size[keep], progress[keep]
    for _ in range(RETURN_STEPS):
        q = damped_step(arm, q, target, task=settings.task, lower=lower, upper=upper).q
    error = tip_error(arm, q, target, task=settings.task)
    accurate = larger(error) <= settings.tolerance
    solution.q[rows[accurate]], solution.error[rows[accurate]] = q[accurate], error[accurate]
