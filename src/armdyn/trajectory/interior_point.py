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

SUFFICIENT = 1e-4  # part of the predicted decrease that a step must bring
TO_BOUND = 0.99  # part of the way to the nearest bound that a step may go
SHORTEST = 1e-6
SHORTER = 0.4  # factor between trial steps


class Bounds(NamedTuple):
    """`|A[i] @ x[i]| < 1` for every joint i; A is (n, R, m)."""

    A: NDArray

    def barrier(self, x: NDArray) -> tuple[float, NDArray, NDArray]:
        """-mean log(1 - (A x)²), its gradient (n, m) and its Hessian's blocks (n, m, m); infinite outside."""
        r = np.einsum("irm,im->ir", self.A, x)
        room = 1 - r**2
        if room.min() <= 0:
            return np.inf, x, x
        rows = self.A.shape[1]
        slope = 2 * r / room / rows
        curvature = (2 / room + 4 * r**2 / room**2) / rows
        hessian = np.matmul(self.A.transpose(0, 2, 1) * curvature[:, None, :], self.A)
        return -np.log(room).sum() / rows, np.einsum("irm,ir->im", self.A, slope), hessian

    def longest_step(self, x: NDArray, step: NDArray) -> float:
        """The largest factor <= 1 with which x + factor * step is still inside."""
        r, dr = np.einsum("irm,im->ir", self.A, x), np.einsum("irm,im->ir", self.A, step)
        moving = dr != 0
        room = (1 - np.sign(dr[moving]) * r[moving]) / np.abs(dr[moving])
        return min(1.0, TO_BOUND * float(room.min(initial=np.inf)))


class Minimum(NamedTuple):
    """Where the search ended, the value there (without barrier), how many steps it took and the learned curvature."""

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
) -> Minimum:
    """Minimise `objective(x) + weight * barrier` from a point inside.

    Ends after `steps`, when the last `patience` steps gain less than `tolerance`, when none gains anything, or when
    `stop()`. What a search for a similar objective has learned of its curvature may be given as `hessian`. `tell(x)`
    is called after every step.
    """
    n, m = x.shape
    hessian = np.eye(n * m) if hessian is None else hessian.copy()
    value, gradient = objective(x)
    walls, wall_slope, wall_hessian = bounds.barrier(x)
    if not np.isfinite(value):
        return Minimum(x, value, 0, hessian)
    blocks = [slice(i * m, (i + 1) * m) for i in range(n)]
    totals = [value + weight * walls]
    for count in range(1, steps + 1):
        slope = gradient + weight * wall_slope
        H = hessian.copy()
        for i, block in enumerate(blocks):
            H[block, block] += weight * wall_hessian[i]
        step = -np.linalg.solve(H, slope.ravel()).reshape(n, m)
        factor, decrease = bounds.longest_step(x, step), float((slope * step).sum())
        while True:
            x_new = x + factor * step
            walls, wall_slope, wall_hessian = bounds.barrier(x_new)
            value_new, gradient_new = objective(x_new)
            if value_new + weight * walls <= totals[-1] + SUFFICIENT * factor * decrease:
                break
            factor *= SHORTER
            if factor < SHORTEST or stop():
                return Minimum(x, value, count, hessian)
        _learn(hessian, (x_new - x).ravel(), (gradient_new - gradient).ravel())
        x, value, gradient = x_new, value_new, gradient_new
        tell(x)
        totals.append(value + weight * walls)
        if (count >= patience and totals[-1 - patience] - totals[-1] < tolerance) or stop():
            break
    return Minimum(x, value, count, hessian)


def _learn(hessian: NDArray, s: NDArray, y: NDArray) -> None:
    """The damped BFGS update (Powell 1978; Nocedal and Wright, procedure 18.2), in place."""
    Hs = hessian @ s
    expected, seen = float(s @ Hs), float(s @ y)
    if not expected > 0:  # a step of no length teaches nothing
        return
    if seen < 0.2 * expected:
        share = 0.8 * expected / (expected - seen)
        y = share * y + (1 - share) * Hs
        seen = float(s @ y)
    hessian += np.outer(y, y) / seen - np.outer(Hs, Hs) / expected
