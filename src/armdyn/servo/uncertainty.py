"""Range of each parameter that explains the log about as well, the others fitted again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.correlation import correlation_times
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.servo.search import Point

UNKNOWN_RATIO = 3.0  # of a parameter, beyond which nothing is known


class Intervals(NamedTuple):
    """Values that explain the log about as well, for all free parameters (p,)."""

    low: NDArray
    high: NDArray


def intervals(fit: Point) -> Intervals:
    """Ranges of the free parameters: where the cost rises by no more than noise and the model's error explain."""
    x, J = fit.x[fit.free], fit.jacobian()
    lower, upper = (bound[fit.free] for bound in fit.space.bounds)
    scale = np.maximum(np.abs(x), 3 * fit.space.floor[fit.free])
    A = J.T @ J
    # A parameter that the log does not show has no curvature: the least ridge keeps the matrix invertible.
    covariance = np.linalg.inv(A + np.diag(1e-9 * np.diag(A) + 1e-4 / scale**2))
    # The scale of the masses, the last parameter, counts with the first joint.
    joint = np.where(fit.free < fit.space.size - 1, fit.free % fit.space.arm.n, 0)
    half = np.sqrt(allowed_rise(fit.r)[joint] * np.diag(covariance))
    unknown = half >= UNKNOWN_RATIO * scale
    return Intervals(
        np.where(unknown, lower, np.maximum(x - half, lower)), np.where(unknown, np.inf, np.minimum(x + half, upper))
    )


def allowed_rise(residual: NDArray) -> NDArray:
    """Rise of each joint's cost (n,) below which a value is no worse.

    Noise alone allows chi squared times the correlation time. Errors that neighbours share are no noise but what the
    model lacks; as much again may hide in the parameters.
    """
    memory = (residual[1:] * residual[:-1]).sum(0) / np.maximum((residual**2).sum(0), 1e-300)
    noise = STD_OF_95_PERCENT**2 * correlation_times(residual)  # chi squared of one degree of freedom
    return (SMALL_SHARE + np.clip(memory, 0.0, 0.95)) * len(residual) + noise
