"""Why a pose has no solution: out of reach, joint limits, a singular start, or too few iterations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.closed_solver import Solutions
from armdyn.kinematics.error import TASKS
from armdyn.kinematics.jacobian import jacobian
from armdyn.kinematics.numeric import Found, Settings, solve, unlimited
from armdyn.model.arm import Arm

REASONS = {
    "reach": "out of reach",
    "limit": "joint limits",
    "singular": "stuck in a singular configuration",
    "iterations": "out of iterations",
}
# Restarts that are enough to tell whether a pose can be reached at all.
FEW = 15
# Smallest singular value of the Jacobian [m or rad per rad or m] below which a configuration is singular.
SINGULAR = 1e-6


def diagnose(
    arm: Arm, poses: NDArray, found: Found, solutions: Solutions | None, settings: Settings
) -> tuple[NDArray, NDArray]:
    """Reason (N,) and shortfall (N, 2) of each pose; empty and zero where it is solved."""
    reason, shortfall = np.full(len(poses), "", dtype="<U10"), np.zeros((len(poses), 2))
    rows = np.flatnonzero(~found.solved)
    if not len(rows):
        return reason, shortfall
    few = settings._replace(restarts=FEW)
    poses, q = poses[rows], found.q[rows]
    # Without limits the pose may have solutions, with them at least the position.
    if solutions is None:
        solvable = solve(arm, poses, q, unlimited(arm), few).solved
        feasible = solve(arm, poses, q, arm.position_limits, few).solved
    else:
        solvable = np.isfinite(solutions.q[rows]).all(-1).any(-1)
        feasible = np.zeros(len(rows), bool)
    near = solve(arm, poses, q, arm.position_limits, few._replace(task="position"))
    J = jacobian(arm, q)[:, : TASKS[settings.task]]
    singular = np.linalg.svd(J, compute_uv=False)[..., -1] < SINGULAR
    reason[rows] = np.select(
        [feasible & singular, feasible, solvable], ["singular", "iterations", "limit"], default="reach"
    )
    # Where the position can be reached, the orientation cannot.
    distance = np.where(near.solved, 0.0, near.error[:, 0])
    angle = np.where(near.solved, found.error[rows, 1], 0.0)
    shortfall[rows] = np.where((reason[rows] == "reach")[:, None], np.stack([distance, angle], -1), 0.0)
    return reason, shortfall
