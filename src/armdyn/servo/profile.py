"""How sure each parameter is: how far it can be moved, all others fitted again, until replays get worse.

The curvature at the solution says too little where the model is not quite the arm, as then the errors are no noise. So
the way out is walked: parameters are moved to where the curvature says that replays are worse by LEAST_RISE, the
others are fitted again by one step, and the arm is replayed there. Where the replay hardly got worse, the way goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.servo.replay import residuals
from armdyn.servo.search import Point, Tell

LEAST_RISE = 0.01  # of a joint's replay error: no smaller change tells anything, as models are not quite the arms
CHI_SQUARED_95 = 3.84  # of chi squared with one degree of freedom, 95 %
ROUNDS = 3
LARGEST_GROWTH = 2.5  # at most, from round to round
UNSEEN_RISE = 1e-4  # rise of the cost for a parameter moved by its own size
LARGEST_WALK_RATIO = 3.0  # in parts of the parameter: beyond, nothing is known


class ProfileIntervals(NamedTuple):
    """Values that explain the log about as well, for all free parameters (p,)."""

    low: NDArray
    high: NDArray


class _Walk(NamedTuple):
    """One way out per parameter and side."""

    parameter: NDArray  # (ways,) position among the free
    sign: NDArray
    limit: NDArray  # what may be walked


def ranges(point: Point, tell: Tell) -> ProfileIntervals:
    """For all free parameters of a point."""
    J = point.jacobian()
    p, x = len(point.free), point.x[point.free]
    lower, upper = (bound[point.free] for bound in point.space.bounds)
    allowed = allowed_rise(point)[_joints(point)]
    scale = np.maximum(np.abs(x), 3 * point.space.floor[point.free])
    A = J.T @ J
    # What a log does not show at all has no curvature: as good as none keeps the matrix invertible.
    covariance = np.linalg.inv(A + np.diag(1e-9 * np.diag(A) + UNSEEN_RISE / scale**2))
    predicted = np.sqrt(allowed * np.diag(covariance))
    parameter, sign = np.tile(np.arange(p), 2), np.repeat([1.0, -1.0], p)
    room = np.where(sign > 0, (upper - x)[parameter], (x - lower)[parameter])
    walk = _Walk(parameter, sign, np.minimum(LARGEST_WALK_RATIO * scale[parameter], room))
    length = np.minimum(predicted[parameter], walk.limit)
    end, open_ = length.copy(), length > 0
    for turn in range(ROUNDS):
        ways = np.flatnonzero(open_)
        if not len(ways):
            break
        tell(turn / ROUNDS, "asking how sure the parameters are")
        rise = _rise(point, J, covariance, walk, ways, length[ways])
        ratio = np.sqrt(allowed[parameter[ways]] / np.maximum(rise, 1e-6 * allowed[parameter[ways]]))
        end[ways] = np.minimum(length[ways] * np.minimum(ratio, LARGEST_GROWTH), walk.limit[ways])
        done = (ratio <= 1.1) | (length[ways] >= walk.limit[ways] * (1 - 1e-9))
        open_[ways[done]] = False
        length = end.copy()
    high, low = x + end[:p], x - end[p:]
    beyond = end >= LARGEST_WALK_RATIO * scale[parameter] * (1 - 1e-9)
    return ProfileIntervals(np.where(beyond[p:], lower, low), np.where(beyond[:p], np.inf, high))


def allowed_rise(point: Point) -> NDArray:
    """Return by how much the cost of each joint (n,) may rise before a value counts as worse."""
    N = len(point.r)
    memory = (point.r[1:] * point.r[:-1]).sum(0) / np.maximum((point.r**2).sum(0), 1e-300)
    memory = np.clip(memory, 0.0, 0.95)
    # What errors have in common from sample to sample is no noise but what the model lacks. As much again may hide in
    # the parameters.
    return (2 * LEAST_RISE + memory) * N + CHI_SQUARED_95 * (1 + memory) / (1 - memory)


def _joints(point: Point) -> NDArray:
    """The joint of each free parameter; the scale of the masses counts with the first."""
    return np.where(point.free < point.space.size - 1, point.free % point.space.arm.n, 0)


def _rise(point: Point, J: NDArray, covariance: NDArray, walk: _Walk, ways: NDArray, length: NDArray) -> NDArray:
    """Return how much more the cost is at the ends of some ways, the other parameters fitted again."""
    lower, upper = point.space.bounds
    k = walk.parameter[ways]
    variance = covariance[k, k]
    # With one parameter moved by d, least squares moves the others by d times their covariance over its variance.
    step = covariance[:, k].T * (walk.sign[ways] * length / variance)[:, None]
    lanes = np.tile(point.x, (len(ways), 1))
    lanes[:, point.free] += step
    lanes = np.clip(lanes, lower, upper)
    first = residuals(point.replays, lanes)
    # One more step for the others, with the same derivatives: -(C - c c'/c_k) J' r.
    gradient = (first * np.sqrt(point.weight)).reshape(len(ways), -1) @ J
    back = gradient @ covariance
    again = back - covariance[:, k].T * (back[range(len(ways)), k] / variance)[:, None]
    lanes[:, point.free] -= again
    second = residuals(point.replays, np.clip(lanes, lower, upper))
    costs = [np.array([point.cost_of(r) for r in rows]) for rows in (first, second)]
    return np.maximum(np.minimum(*costs) - point.cost, 0.0)
