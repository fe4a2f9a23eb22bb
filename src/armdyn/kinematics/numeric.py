"""Numeric inverse kinematics: Levenberg-Marquardt on SE(3), many poses and many starts at once.

One kernel call advances every pose by one step; solved ones leave the batch, those that are stuck start
again from elsewhere. Few poses are given many starts at a time, because a call costs the same for one
as for dozens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import blocks
from armdyn.kinematics.damped_step import LENGTH_PER_RAD, damped_step, damped_steps, magnitude, tip_error
from armdyn.kinematics.error import axis_of
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.precision import MAX_ITERATIONS

# Steps taken in one call, and the part of the squared error left after them above which a start is given up.
STEPS_PER_CALL = 4
HOPELESS_ERROR_RATIO = 0.5
# Careful steps until a joint moves less than this in one [rad or m], or at most so many.
STILL_STEP = 1e-7
# Random configurations among which the nearest is taken as a start.
START_CANDIDATES = 64
# Few poses get several starts side by side: at most this many each, and this many in all.
MAX_STARTS_PER_POSE = 8
MAX_STARTS = 512


Limits = tuple[NDArray, NDArray]


class SolverSettings(NamedTuple):
    """Task, tolerance and effort of the search."""

    task: str = "pose"
    tolerance: float = 1e-9
    iterations: int = 40
    restarts: int = 100
    seed: int = 0


class Solution(NamedTuple):
    """Best configuration of each pose, its error [m, rad], steps spent on it, and whether it is a solution."""

    q: NDArray  # (N, n)
    error: NDArray  # (N, 2)
    iterations: NDArray  # (N,)
    solved: NDArray  # (N,)


def solve(arm: Arm, poses: NDArray, q0: NDArray | None, limits: Limits, settings: SolverSettings) -> Solution:
    """Solve for poses (N, 4, 4), from q0 (N, n) first if given, then from other starts."""
    count = len(poses)
    solution = Solution(
        np.zeros((count, arm.n)), np.full((count, 2), np.inf), np.zeros(count, int), np.zeros(count, bool)
    )
    starts = Starts(arm, limits, settings)
    tried = 0
    if q0 is not None:
        _descend(arm, poses, np.arange(count), np.clip(q0, *limits), limits, settings, solution)
        tried = 1
    while tried <= settings.restarts and not solution.solved.all():
        owners = np.flatnonzero(~solution.solved)
        width = min(max(1, MAX_STARTS // len(owners)), MAX_STARTS_PER_POSE, settings.restarts + 1 - tried)
        q = starts(poses[owners], width)
        _descend(arm, poses, np.repeat(owners, width), q.reshape(-1, arm.n), limits, settings, solution)
        tried += width
    _unwind(arm, solution.q, 0.0 if q0 is None else q0, limits)
    return solution


def _unwind(arm: Arm, q: NDArray, near: NDArray | float, limits: Limits) -> None:
    """Take whole turns off joints that may turn without end."""
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints]) & np.isinf(limits).all(0)
    if turns.any():
        q -= np.where(turns, 2 * np.pi * np.round((q - near) / (2 * np.pi)), 0.0)


def closest(arm: Arm, poses: NDArray, starts: NDArray, limits: Limits, task: str) -> tuple[NDArray, NDArray]:
    """Configurations (N, n) nearest to poses (N, 4, 4) that are out of reach, of several starts (N, k, n)."""
    q, target = starts, poses[:, None]
    for _ in range(MAX_ITERATIONS):
        q_next = damped_step(arm, q, target, task=task, careful=True, lower=limits[0], upper=limits[1]).q
        still = np.abs(q_next - q).max() < STILL_STEP
        q = q_next
        if still:
            break
    error = tip_error(arm, q, target, task=task)
    best = (np.arange(len(q)), _cost(arm, error).argmin(-1))
    return q[best], error[best]


def _descend(
    arm: Arm, poses: NDArray, owner: NDArray, q: NDArray, limits: Limits, settings: SolverSettings, solution: Solution
) -> None:
    """Step from q (L, n), lane by lane towards the pose of its owner, until solved, stuck or out of patience."""
    options: dict[str, Any] = {"task": settings.task, "lower": limits[0], "upper": limits[1]}
    target = poses[owner]
    cost = np.full(len(q), np.inf)
    left = settings.iterations
    while left > 0:
        steps = min(STEPS_PER_CALL, left)
        q, error = damped_steps(arm, q, target, steps=steps, **options)
        left -= steps
        solution.iterations[owner] += steps  # once, however many starts run side by side
        last, cost = cost, _cost(arm, error)
        done = larger(error) <= settings.tolerance
        leave = done | (cost > HOPELESS_ERROR_RATIO * last) | (left == 0)
        if leave.any():
            _record(arm, solution, owner[leave], q[leave], error[leave], done[leave])
            keep = ~leave & ~solution.solved[owner]
            owner, q, target, cost = (x[keep] for x in (owner, q, target, cost))
            if not len(owner):
                return


def larger(error: NDArray) -> NDArray:
    """The larger of distance and angle; a reduction over an axis of two would take longer."""
    return np.maximum(error[..., 0], error[..., 1])


def _cost(arm: Arm, error: NDArray) -> NDArray:
    return (error[..., 0] / magnitude(arm)) ** 2 + (LENGTH_PER_RAD * error[..., 1]) ** 2


def _record(arm: Arm, solution: Solution, owner: NDArray, q: NDArray, error: NDArray, solved: NDArray) -> None:
    """Keep the best configuration of each pose."""
    cost = _cost(arm, error)
    order = np.argsort(-cost, kind="stable")
    order = order[cost[order] < _cost(arm, solution.error[owner[order]])]
    # Of several lanes of one owner the last written, which is the best, stays.
    solution.q[owner[order]] = q[order]
    solution.error[owner[order]] = error[order]
    solution.solved[owner[solved]] = True


class Starts:
    """Configurations to begin with: of some random ones within the limits the one whose tip is nearest."""

    def __init__(self, arm: Arm, limits: Limits, settings: SolverSettings) -> None:
        self.arm = arm
        self.range = sampling_range(arm, limits)
        self.rng = np.random.default_rng(settings.seed)
        self.task = settings.task

    def __call__(self, poses: NDArray, width: int) -> NDArray:
        """For each pose (N, 4, 4) `width` fresh starts (N, width, n)."""
        q = self.rng.uniform(*self.range, (width, START_CANDIDATES, self.arm.n))
        near = self._features(forward_kinematics(self.arm, q))
        # |a - b|² = |a|² + |b|² - 2 a.b, of which |a|² does not matter: one product with [b, |b|²].
        near = np.concatenate([-2 * near, (near**2).sum(-1, keepdims=True)], -1).reshape(width * START_CANDIDATES, -1)
        far = self._features(poses)
        far = np.concatenate([far, np.ones_like(far[:, :1])], -1)
        best = np.empty((len(poses), width), int)
        for k in blocks(len(poses), len(near)):
            best[k] = (far[k] @ near.T).reshape(-1, width, START_CANDIDATES).argmin(-1)
        return q[np.arange(width), best]

    def _features(self, poses: NDArray) -> NDArray:
        """Vectors (..., 12) whose distance is that of the poses; single precision is enough to rank them."""
        place = poses[..., :3, 3] / magnitude(self.arm)
        if self.task == "position":
            return place.astype(np.float32)
        if (axis := axis_of(self.task)) is not None:
            return np.concatenate([place, poses[..., :3, axis] * LENGTH_PER_RAD], axis=-1, dtype=np.float32)
        # |R - S|² = 2 (2 sin(angle/2))², hence the root of a half
        turned = poses[..., :3, :3].reshape(*poses.shape[:-2], 9) * (LENGTH_PER_RAD * np.sqrt(0.5))
        return np.concatenate([place, turned], axis=-1, dtype=np.float32)


def sampling_range(arm: Arm, limits: Limits) -> tuple[NDArray, NDArray]:
    """Joint positions between which starts are drawn: the limits, or one turn where there are none."""
    lower, upper = limits
    room = np.array([np.pi if joint.kind == "revolute" else magnitude(arm) for joint in arm.coordinate_joints])
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * room, -room))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * room, room))
    return low, high


def no_limits(arm: Arm) -> Limits:
    """Limits that never bind."""
    return np.full(arm.n, -np.inf), np.full(arm.n, np.inf)
