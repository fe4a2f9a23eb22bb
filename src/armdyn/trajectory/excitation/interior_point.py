"""A minimiser of smooth functions within symmetric linear bounds that every joint has for itself.

Logarithmic barriers keep each step strictly inside; the function's curvature is learned (damped BFGS),
that of the barriers is exact and block-diagonal. A plain quasi-Newton method would have to learn
thousands of bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Objective = Callable[[NDArray], tuple[float, NDArray]]  # x (n, m) -> value, gradient (n, m)

MIN_DECREASE_RATIO = 1e-4  # part of the predicted decrease that a step must bring
WAY_TO_BOUND_RATIO = 0.99  # part of the way to the nearest bound that a step may go
MIN_STEP_RATIO = 1e-6
STEP_REDUCTION = 0.4  # factor between trial steps


class Bounds(NamedTuple):
    """`|A[i] @ x[i]| < 1` for every joint i; A is (n, R, m)."""

    A: NDArray

    def barrier(self, x: NDArray) -> tuple[float, NDArray, NDArray]:
        """-mean log(1 - (A x)²), its gradient (n, m) and its Hessian's blocks (n, m, m); infinite outside."""
        r = self.parts(x)
        room = 1 - r**2
        if room.min() <= 0:
            return np.inf, x, x
        rows = self.A.shape[1]
        slope = 2 * r / room / rows
        curvature = (2 / room + 4 * r**2 / room**2) / rows
        hessian = np.matmul(self.A.transpose(0, 2, 1) * curvature[:, None, :], self.A)
        return -np.log(room).sum() / rows, (slope[:, None, :] @ self.A)[:, 0], hessian

    def parts(self, x: NDArray) -> NDArray:
        """A x (n, R), the parts of their bounds that are taken."""
        return np.asarray((self.A @ x[..., None])[..., 0])

    def longest_step(self, x: NDArray, step: NDArray) -> float:
        """The largest factor <= 1 with which x + factor * step is still inside."""
        r, dr = self.parts(x), self.parts(step)
        # The way dr reaches its bound after (1 - sign(dr) r) / |dr|; what divides by zero is never reached.
        fastest = float((np.abs(dr) / (1 - np.sign(dr) * r)).max())
        return min(1.0, WAY_TO_BOUND_RATIO / fastest) if fastest > 0 else 1.0


class BarrierMinimum(NamedTuple):
    """End of a search, the value there (without barrier), the number of its steps and the learned curvature."""

    x: NDArray
    value: float
    steps: int
    hessian: NDArray  # (n m, n m)


def minimize_inside(
    objective: Objective,
    x: NDArray,
    bounds: Bounds,
    *,
    weight: float,
    steps: int,
    tolerance: float,
    patience: int = 1,
    hessian: NDArray | None = None,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[NDArray], None] = lambda x: None,
) -> BarrierMinimum:
    """Minimise `objective(x) + weight * barrier` from a point inside.

    Ends after `steps`, when the last `patience` steps gain less than `tolerance`, when none gains anything, or when
    `stop()`. What a search for a similar objective has learned of its curvature may be given as `hessian`. `tell(x)`
    is called after every step.
    """
    hessian = np.eye(x.size) if hessian is None else hessian.copy()
    here = _place(objective, bounds, x, weight)
    if not np.isfinite(here.value):
        return BarrierMinimum(x, here.value, 0, hessian)
    totals = [here.total]
    for count in range(1, steps + 1):
        new = _step(objective, bounds, here, hessian, weight, stop)
        if new is None:
            break
        _learn(hessian, (new.x - here.x).ravel(), (new.gradient - here.gradient).ravel())
        here = new
        tell(here.x)
        totals.append(here.total)
        if (count >= patience and totals[-1 - patience] - totals[-1] < tolerance) or stop():
            break
    return BarrierMinimum(here.x, here.value, count, hessian)


class _Place(NamedTuple):
    """Values and derivatives at a point."""

    x: NDArray
    value: float
    gradient: NDArray
    total: float  # with the barrier
    slope: NDArray  # of the total
    walls: NDArray  # curvature of the barrier (n, m, m)


def _place(objective: Objective, bounds: Bounds, x: NDArray, weight: float) -> _Place:
    value, gradient = objective(x)
    walls, slope, curvature = bounds.barrier(x)
    return _Place(x, value, gradient, value + weight * walls, gradient + weight * slope, weight * curvature)


def _step(
    objective: Objective, bounds: Bounds, here: _Place, hessian: NDArray, weight: float, stop: Callable[[], bool]
) -> _Place | None:
    """One step along Newton's direction, as long as it brings what it promises; None if it never does."""
    n, m = here.x.shape
    H = hessian.copy()
    for i in range(n):
        block = slice(i * m, (i + 1) * m)
        H[block, block] += here.walls[i]
    step = -np.linalg.solve(H, here.slope.ravel()).reshape(n, m)
    factor, decrease = bounds.longest_step(here.x, step), float((here.slope * step).sum())
    while factor >= MIN_STEP_RATIO:
        new = _place(objective, bounds, here.x + factor * step, weight)
        if new.total <= here.total + MIN_DECREASE_RATIO * factor * decrease:
            return new
        factor *= STEP_REDUCTION
        if stop():
            break
    return None


def _learn(hessian: NDArray, s: NDArray, y: NDArray) -> None:
    """The damped BFGS update (Powell 1978; Nocedal and Wright, procedure 18.2), in place."""
    Hs = hessian @ s
    expected, curvature = float(s @ Hs), float(s @ y)
    if not expected > 0:  # a step of no length teaches nothing
        return
    if curvature < 0.2 * expected:
        share = 0.8 * expected / (expected - curvature)
        y = share * y + (1 - share) * Hs
        curvature = float(s @ y)
    hessian += np.outer(y, y) / curvature - np.outer(Hs, Hs) / expected
