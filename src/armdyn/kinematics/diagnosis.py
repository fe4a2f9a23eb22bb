"""Why a pose has no solution: out of reach, joint limits, a singular start, or too few iterations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.closed.solver import Solutions
from armdyn.kinematics.damped_step import magnitude
from armdyn.kinematics.error import task_rows
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.kinematics.numeric import MAX_STARTS_PER_POSE, Solution, SolverSettings, Starts, closest, no_limits, solve
from armdyn.model.arm import Arm
from armdyn.precision import FIVE_DIGITS, SIX_DIGITS

REASONS = {
    "reach": "out of reach",
    "limit": "joint limits",
    "singular": "stuck in a singular configuration",
    "iterations": "out of iterations",
}
# Restarts that are enough to tell whether a pose can be reached at all.
DIAGNOSIS_RESTARTS = 15


def explain(
    arm: Arm, poses: NDArray, solution: Solution, solutions: Solutions | None, settings: SolverSettings
) -> tuple[NDArray, NDArray]:
    """Reason (N,) and shortfall (N, 2) of each pose; empty and zero where it is solved.

    Where it is not, `found` is replaced by the nearest that the arm can get.
    """
    reason, shortfall = np.full(len(poses), "", dtype="<U10"), np.zeros((len(poses), 2))
    rows = np.flatnonzero(~solution.solved)
    if not len(rows):
        return reason, shortfall
    poses, q, limits = poses[rows], solution.q[rows], arm.position_limits
    few = SolverSettings(settings.task, settings.tolerance, restarts=DIAGNOSIS_RESTARTS, seed=settings.seed)
    if solutions is None:
        solvable = solve(arm, poses, q, no_limits(arm), few).solved
        feasible = solve(arm, poses, q, limits, few).solved
    else:
        # All solutions are known: none of them is within limits.
        solvable = np.isfinite(solutions.q[rows]).all(-1).any(-1)
        feasible = np.zeros(len(rows), bool)
    J = jacobian(arm, q) / np.repeat([magnitude(arm), 1.0], 3)[:, None]
    J = task_rows(settings.task, forward_kinematics(arm, q)[:, :3, :3], J)
    singular = np.linalg.svd(J, compute_uv=False)[..., -1] < SIX_DIGITS
    names = ["singular", "iterations", "limit"]
    reason[rows] = np.select([feasible & singular, feasible, solvable], names, default="reach")
    lost = rows[~feasible]
    if len(lost):
        poses = poses[~feasible]
        starts = np.concatenate([solution.q[lost, None], Starts(arm, limits, few)(poses, MAX_STARTS_PER_POSE)], axis=1)
        solution.q[lost], solution.error[lost] = closest(arm, poses, starts, limits, settings.task)
        gap = _gap(arm, poses, starts, solution.error[lost])
        shortfall[lost] = np.where((reason[lost] == "reach")[:, None], gap, 0.0)
    return reason, shortfall


def _gap(arm: Arm, poses: NDArray, starts: NDArray, error: NDArray) -> NDArray:
    """Return how far out of reach (N, 2): the distance of the position or, where that can be reached, the angle
    left.
    """
    _, near = closest(arm, poses, starts, arm.position_limits, "position")
    distance = np.where(near[:, 0] > FIVE_DIGITS * magnitude(arm), near[:, 0], 0.0)
    return np.stack([distance, np.where(distance > 0, 0.0, error[:, 1])], -1)
