"""Ridge regression towards earlier estimates, with the curve of norm and residual from which to choose lambda.

Kapadia, equation (4.2), corrected: rows are weighted by inverse square roots of the covariances.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError
from armdyn.identification.estimators.data import Data, Estimate, check_size, estimate
from armdyn.identification.estimators.least_squares import LeastSquares

SCANNED_STRENGTHS = tuple(10.0**k for k in range(-4, 5))


class Curve(NamedTuple):
    """Residual against distance from the prior, as lambda grows."""

    strengths: NDArray
    residuals: NDArray  # norm of weighted residuals
    distances: NDArray  # norm of the weighted distance from the prior


@dataclass(frozen=True, eq=False)
class Ridge:
    """Least squares plus `strength` times the squared distance from `prior`, in units of its `covariance`."""

    prior: ArrayLike
    covariance: ArrayLike  # (p, p), or (p,) variances
    strength: float = 1.0
    _root: NDArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        C = np.asarray(self.covariance, float)
        C = np.diag(C) if C.ndim == 1 else C
        p = len(np.asarray(self.prior))
        if C.shape != (p, p):
            raise ShapeError(where="Ridge", expected=f"a covariance of shape ({p}, {p}) or ({p},)", got=C.shape)
        if not self.strength >= 0:
            raise ShapeError(where="Ridge", expected="strength >= 0", got=self.strength)
        values, vectors = np.linalg.eigh(C)
        if values[0] <= 0:
            raise ShapeError("the prior's covariance is not positive definite", where="Ridge")
        object.__setattr__(self, "_root", (vectors / np.sqrt(values)) @ vectors.T)

    def fit(self, data: Data) -> Estimate:
        """The estimate; `std` counts the prior as knowledge."""
        prior = check_size(self.prior, data.Y.shape[2:], "Ridge prior")
        weights = np.asarray(LeastSquares().fit(data).weights)
        rows, torques = data.weighted(weights)
        both = np.vstack([rows, np.sqrt(self.strength) * self._root])
        wanted = np.concatenate([torques, np.sqrt(self.strength) * self._root @ prior])
        x, _, rank, _ = np.linalg.lstsq(both, wanted, rcond=None)
        return estimate(data, x, weights, np.linalg.inv(both.T @ both), both, int(rank))

    def curve(self, data: Data, strengths: ArrayLike = SCANNED_STRENGTHS) -> Curve:
        """The fit for a range of strengths; its corner is a good choice (Lawson, Hanson)."""
        strengths = np.asarray(strengths, float)
        residuals, distances = [], []
        for strength in strengths:
            estimate = Ridge(self.prior, self.covariance, float(strength)).fit(data)
            rows, torques = data.weighted(estimate.weights)
            residuals.append(np.linalg.norm(torques - rows @ estimate.x))
            distances.append(np.linalg.norm(self._root @ (estimate.x - np.asarray(self.prior, float))))
        return Curve(strengths, np.array(residuals), np.array(distances))
