"""Gauss-Newton over replays: derivatives and trial steps are lanes of one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.servo.log import ENCODER_NOISE
from armdyn.servo.parameters import ParameterLayout
from armdyn.servo.replay import Replay, residuals

# Of a parameter, for differences, and in parts of its floor: joints stick and slip at whole steps of the integrator, so
# that small differences are noise.
DIFFERENCE_RATIO, DIFFERENCE_FLOORS = 0.1, 2.0
DAMPINGS = (1e-8, 1e-4, 1e-2, 1.0)  # of Levenberg and Marquardt, tried at a time
PRIOR_WEIGHT = 3e-5  # pull to the first guess, in parts of what a parameter that the log shows has


@dataclass(frozen=True, eq=False)
class Point:
    """Parameters with what the replay makes of them."""

    space: ParameterLayout
    replays: Sequence[Replay]
    free: NDArray  # indices of the parameters that are sought
    x: NDArray
    r: NDArray  # (N, n)
    weight: NDArray  # (n,): one over the squared error of each joint

    @property
    def cost(self) -> float:
        """Weighted sum of squares."""
        return self.cost_of(self.r)

    def cost_of(self, r: NDArray) -> float:
        """The same of other residuals (N, n), weighted as here."""
        return float((r**2 * self.weight).sum())

    @property
    def rms(self) -> NDArray:
        """Replay error of each joint (n,) [rad or m]."""
        return np.sqrt((self.r**2).mean(0))

    def jacobian(self) -> NDArray:
        """Weighted derivatives (N n, free) of the residuals."""
        lower, upper = self.space.bounds
        step = np.maximum(DIFFERENCE_RATIO * np.abs(self.x), DIFFERENCE_FLOORS * self.space.floor)[self.free]
        step = np.where(self.x[self.free] + step > upper[self.free], -step, step)
        lanes = np.tile(self.x, (len(self.free), 1))
        lanes[range(len(self.free)), self.free] += step
        moved = residuals(self.replays, np.clip(lanes, lower, upper))
        return ((moved - self.r) * np.sqrt(self.weight)).reshape(len(self.free), -1).T / step


def make_point(space: ParameterLayout, replays: Sequence[Replay], free: NDArray, x: NDArray) -> Point:
    """A point at x, every joint weighted by its own error."""
    r = residuals(replays, x[None])[0]
    return Point(space, replays, free, x, r, 1 / np.maximum((r**2).mean(0), ENCODER_NOISE**2))


def search(point: Point, max_steps: int) -> Point:
    """The point of least squares from a start: at most so many steps, until one takes off no more than a share."""
    start = point.x
    for _ in range(max_steps):
        J = point.jacobian()
        trials = np.array([bounded_step(point, J, start, damping) for damping in DAMPINGS])
        moved = residuals(point.replays, trials)
        costs = [point.cost_of(r) for r in moved]
        best = int(np.argmin(costs))
        if costs[best] >= point.cost * (1 - 1e-6):
            return point
        fall = 1 - costs[best] / point.cost
        r = moved[best]
        point = replace(point, x=trials[best], r=r, weight=1 / np.maximum((r**2).mean(0), ENCODER_NOISE**2))
        if fall < SMALL_SHARE:
            return point
    return point


def bounded_step(point: Point, J: NDArray, start: NDArray, damping: float) -> NDArray:
    """A damped Gauss-Newton step within bounds: what would leave them is set there, the rest solved again."""
    lower, upper = point.space.bounds
    free, x = point.free, point.x
    scale = np.maximum(np.abs(x[free]), point.space.floor[free])
    # No parameter more than doubles in a step.
    low, high = np.maximum(lower[free] - x[free], -scale), np.minimum(upper[free] - x[free], scale)
    N = len(J)
    A = J.T @ J
    b = -J.T @ (point.r * np.sqrt(point.weight)).ravel()
    # The prior is worth little: it decides what the log does not show.
    belief = PRIOR_WEIGHT * N / scale**2
    A, b = A + np.diag(belief), b + belief * (start[free] - x[free])
    A = A + damping * np.diag(np.diag(A))
    step, held = np.zeros(len(free)), np.zeros(len(free), bool)
    for _ in range(len(free)):
        move = ~held
        step[move] = np.linalg.solve(A[np.ix_(move, move)], b[move] - A[np.ix_(move, held)] @ step[held])
        out = move & ((step < low) | (step > high))
        if not out.any():
            break
        step = np.clip(step, low, high)
        held |= out
    moved = x.copy()
    moved[free] += step
    return np.clip(moved, lower, upper)
