"""Many poses at once by an arm's closed form: all solutions, and the one to take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.closed.form import OUTSIDE_PENALTY, ClosedForm, closed_solutions
from armdyn.kinematics.closed.srs import SrsArm, swivel_angle
from armdyn.kinematics.damped_step import damped_step, tip_error
from armdyn.kinematics.numeric import Solution, SolverSettings, larger, no_limits
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE

# Swivel angles tried when none is asked for and the reference's will not do.
SWIVEL_ANGLES = 24
# Steps of iteration that remove what a rounded description leaves: each squares the error.
POLISHING_STEPS = 4


class Solutions(NamedTuple):
    """All solutions (N, k, n), NaN where a branch does not exist, and which of them are within limits (N, k)."""

    q: NDArray
    within: NDArray


class ClosedProblem(NamedTuple):
    """Poses (N, 4, 4) to solve for; of several solutions the one nearest to q_ref (N, n) is taken."""

    arm: Arm
    form: ClosedForm
    settings: SolverSettings
    poses: NDArray
    q_ref: NDArray
    swivel: NDArray | None  # (N,), where it is asked for


def solve_closed(problem: ClosedProblem) -> tuple[Solution, Solutions]:
    """Return the solutions to take, and all."""
    arm, form, settings, poses, q_ref, _ = problem
    # Branches that do not exist are computed as NaN on purpose.
    with np.errstate(invalid="ignore", divide="ignore"):
        if isinstance(form, SrsArm):
            result = _swivel(problem)
        else:
            result = closed_solutions(arm, poses, q_ref, task=settings.task)
    count = len(form.branches)
    solutions = Solutions(result.solutions[:, :count], result.within[:, :count] > 0)
    nearest = Solution(result.q, result.error, np.zeros(len(poses), int), result.inside > 0)
    # NaN, where no branch exists, compares as false.
    rough = np.flatnonzero(larger(nearest.error) > settings.tolerance)
    if len(rough):
        _polish(problem, rough, nearest, solutions)
    return nearest, solutions


def _swivel(problem: ClosedProblem) -> Any:
    """The closed form at the given swivel angles, or else at those of q_ref.

    Where that has no solution within limits, at the angle of the nearest solution which is.
    """
    arm, _, settings, poses, q_ref, swivel = problem
    if swivel is not None:
        return closed_solutions(arm, poses, q_ref, swivel, task=settings.task)
    swivel = swivel_angle(arm, q_ref)
    result = closed_solutions(arm, poses, q_ref, swivel, task=settings.task)
    left = np.flatnonzero(result.inside == 0)
    if len(left):
        angles = swivel[left, None] + np.linspace(0, 2 * np.pi, SWIVEL_ANGLES, endpoint=False)
        near, poses = q_ref[left], poses[left]
        tried = closed_solutions(arm, poses[:, None], near[:, None], angles, task=settings.task)
        cost = np.where(tried.inside > 0, ((tried.q - near[:, None]) ** 2).sum(-1), np.inf)
        better = closed_solutions(arm, poses, near, angles[np.arange(len(left)), cost.argmin(-1)], task=settings.task)
        for old, new in zip(result, better, strict=True):
            old[left] = new
    return result


def _polish(problem: ClosedProblem, rows: NDArray, nearest: Solution, solutions: Solutions) -> None:
    """Correct the solutions of some poses by iteration and choose again."""
    arm, _, settings, poses, q_ref, _ = problem
    q, pose = solutions.q[rows], poses[rows, None]
    exists = np.isfinite(q).all(-1)
    q = np.where(exists[..., None], q, 0.0)
    free = no_limits(arm)
    for _ in range(POLISHING_STEPS):
        q = damped_step(arm, q, pose, task=settings.task, lower=free[0], upper=free[1]).q
    error = tip_error(arm, q, pose, task=settings.task)
    exists &= larger(error) <= settings.tolerance
    within = exists & _inside(arm, q)
    solutions.q[rows] = np.where(exists[..., None], q, np.nan)
    solutions.within[rows] = within
    cost = ((q - q_ref[rows, None]) ** 2).sum(-1)
    cost = np.where(exists, np.where(within, cost, cost + OUTSIDE_PENALTY), np.inf)
    best = (np.arange(len(rows)), cost.argmin(-1))
    nearest.q[rows] = np.where(exists[best][:, None], q[best], np.nan)
    nearest.error[rows] = np.where(exists[best][:, None], error[best], np.nan)
    nearest.solved[rows] = within[best]
    nearest.iterations[rows] += POLISHING_STEPS


def _inside(arm: Arm, q: NDArray) -> NDArray:
    """Whether all joints are within their limits; false for NaN."""
    lower, upper = arm.position_limits
    return np.asarray(((q >= lower - NEGLIGIBLE) & (q <= upper + NEGLIGIBLE)).all(-1))
