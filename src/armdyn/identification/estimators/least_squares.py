"""Ordinary and weighted least squares, and iteratively reweighted least squares against outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.identification.estimators.data import Data, Estimate, estimate

HUBER = 1.345  # standard deviations: 95 % efficient for Gaussian noise (Huber 1981)
ROUNDS = 5  # in which weights of joints are found by what is left


@dataclass(frozen=True)
class LeastSquares:
    """Least squares by a QR-free singular value decomposition; `weigh` the joints by their own noise."""

    weigh: bool = True

    def fit(self, data: Data) -> Estimate:
        """The estimate; joints' weights are found by iteration."""
        weights = np.ones(data.tau.shape[1])
        estimate = solve_weighted(data, weights)
        for _ in range(ROUNDS if self.weigh else 0):
            weights = 1 / noise(data.residuals(estimate.x))
            estimate = solve_weighted(data, weights)
        return estimate


@dataclass(frozen=True)
class Reweighted:
    """Huber's estimator: equations with large residuals (velocity reversals, knocks) count less."""

    tuning: float = HUBER
    rounds: int = 30

    def __post_init__(self) -> None:
        if not self.tuning > 0:
            raise ArmdynError(where="Reweighted", expected="tuning > 0", got=self.tuning)

    def fit(self, data: Data) -> Estimate:
        """The estimate; `weights` (N, n) tell which equations were distrusted."""
        estimate = LeastSquares().fit(data)
        for _ in range(self.rounds):
            e = data.residuals(estimate.x)
            # The median is blind to outliers; 1.4826 makes it a standard deviation for Gaussian noise.
            sigma = np.maximum(1.4826 * np.median(np.abs(e), axis=0), 1e-12 * max(np.abs(data.tau).max(), 1.0))
            doubt = np.minimum(1.0, self.tuning * sigma / np.maximum(np.abs(e), 1e-300))
            before, estimate = estimate.x, solve_weighted(data, np.sqrt(doubt) / sigma)
            if np.linalg.norm(estimate.x - before) <= 1e-10 * np.linalg.norm(before):
                break
        return estimate


def noise(residuals: NDArray) -> NDArray:
    """Standard deviations (n,) of residuals, none so small that its joint drowns the others."""
    sigma = np.sqrt(np.mean(residuals**2, axis=0))
    return np.maximum(sigma, max(1e-3 * float(np.median(sigma)), 1e-12))


def solve_weighted(data: Data, weights: NDArray) -> Estimate:
    """Least squares with given weights of joints (n,) or equations (N, n)."""
    rows, torques = data.weighted(weights)
    x, _, rank, _ = np.linalg.lstsq(rows, torques, rcond=None)
    e = torques - rows @ x
    variance = float(e @ e) / max(len(e) - rank, 1)
    covariance = variance * np.linalg.pinv(rows.T @ rows, hermitian=True)
    return estimate(data, x, weights, covariance, rows, int(rank))
