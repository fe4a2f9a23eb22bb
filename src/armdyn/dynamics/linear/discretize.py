"""Linear systems in steps: from dx/dt = A x + B u to x[k+1] = Ad x[k] + Bd u[k], for whole batches."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import blocks, common_batch
from armdyn.dynamics.linear.checks import check_matrices, check_square, check_steps
from armdyn.errors import ShapeError, check_choice

METHODS = ("zoh", "euler", "tustin")


# The series of (exp(Z) - 1) / Z cut after Z^7 or Z^15: its remainder is below 1e-16 for |Z| up to these.
RADIUS_7, RADIUS_15 = 0.05, 0.8
SERIES = tuple(1 / math.factorial(k + 1) for k in range(16))


class Discrete(NamedTuple):
    """x[k+1] = A x[k] + B u[k]."""

    A: NDArray
    B: NDArray


def discretize(A: ArrayLike, B: ArrayLike, dt: ArrayLike, method: str = "zoh") -> Discrete:
    """State matrices of a linear system in steps of `dt`.

    Parameters
    ----------
    A : array_like, shape (..., m, m)
    B : array_like, shape (..., m, k)
    dt : array_like, shape (...)
        Step [s], > 0.
    method : {"zoh", "euler", "tustin"}
        Exact for an input held over the step (matrix exponential); the first-order step 1 + A dt; or the
        trapezoidal rule, whose B multiplies the mean of the inputs at both ends.

    Returns
    -------
    A : ndarray, shape (..., m, m)
    B : ndarray, shape (..., m, k)

    Raises
    ------
    ShapeError
        If shapes do not fit, the method is unknown, a step is not positive, or a sample is not finite.

    Notes
    -----
    The exponential is accurate to about 1e-15 of its norm: a Taylor series of the scaled matrix, then
    doublings of exp(Z) - 1, which keep small steps from drowning beside the identity.
    """
    check_choice("discretize", "method", method, METHODS, ShapeError)
    A = check_square(A, "discretize")
    B = check_matrices(B, "discretize", "B", rows=A.shape[-1])
    dt = check_steps(dt, "discretize", "dt")
    common_batch("discretize", {"A": A.shape[:-2], "B": B.shape[:-2], "dt": dt.shape})
    step, one = dt[..., None, None], np.eye(A.shape[-1])
    Z = A * step
    if method == "euler":
        return Discrete(one + Z, B * step)
    if method == "tustin":
        inverse = np.linalg.inv(one - Z / 2)
        return Discrete(inverse @ (one + Z / 2), inverse @ (B * step))
    growth, mean = exponential(Z)
    return Discrete(one + growth, mean @ (B * step))


def exponential(Z: NDArray) -> tuple[NDArray, NDArray]:
    """exp(Z) - 1 and the mean of exp(s Z) over 0 < s < 1, for matrices (..., m, m)."""
    flat = Z.reshape(-1, *Z.shape[-2:])
    growth, mean = np.empty_like(flat), np.empty_like(flat)
    for part in blocks(len(flat), 6 * flat[0].size if len(flat) else 1):  # with their powers and series
        growth[part], mean[part] = _exponential_block(flat[part])
    return growth.reshape(Z.shape), mean.reshape(Z.shape)


def _exponential_block(Z: NDArray) -> tuple[NDArray, NDArray]:
    """Scaling and doubling; one number of doublings serves the whole block."""
    Z2 = Z @ Z
    Z3 = Z2 @ Z
    # A nilpotent part such as [0 1; 0 0] makes |Z| large but not its powers (Al-Mohy and Higham 2009).
    size = max(_norm(Z2) ** (1 / 2), _norm(Z3) ** (1 / 3))
    doublings = halvings(size, RADIUS_15)
    scale = 0.5**doublings
    terms = 8 if size <= RADIUS_7 else 16
    mean = _mean_series(Z * scale, Z2 * scale**2, Z3 * scale**3, terms)
    growth = Z @ mean * scale
    for _ in range(doublings):
        # exp(2Z) - 1 = (exp(Z) - 1)(exp(Z) + 1); the mean is that of the first half and of the second.
        mean = mean + mean @ growth / 2
        growth = 2 * growth + growth @ growth
    return growth, mean


def halvings(size: float, radius: float) -> int:
    """Return how often `size` must be halved to be at most `radius`."""
    return max(0, math.ceil(math.log2(size / radius))) if size > 0 else 0


def _mean_series(Z: NDArray, Z2: NDArray, Z3: NDArray, terms: int) -> NDArray:
    """Sum of Z^k / (k + 1)! for k < terms, four terms a product (Paterson and Stockmeyer)."""
    one, Z4 = np.eye(Z.shape[-1]), Z2 @ Z2
    total = np.zeros_like(Z)
    for first in reversed(range(0, terms, 4)):
        total = total @ Z4 if first + 4 < terms else total
        for k, power in enumerate((one, Z, Z2, Z3)):
            total += SERIES[first + k] * power
    return total


def _norm(Z: NDArray) -> float:
    """The largest column sum of any matrix of the block."""
    return float(np.abs(Z).sum(axis=-2).max(initial=0.0))
