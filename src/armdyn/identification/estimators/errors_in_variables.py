"""Estimators for regressors that are noisy themselves: total least squares and instrumental variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.estimators.data import Data, Estimate, estimate
from armdyn.identification.estimators.least_squares import LeastSquares, noise


@dataclass(frozen=True, eq=False)
class TotalLeastSquares:
    """The smallest change of regressor and torque together that makes them agree (Van Huffel, Vandewalle 1991).

    `column_noise` (p,) are standard deviations of the regressor's columns relative to those of the torque, zero
    for columns that are exact (left out: all equal, after scaling columns to unit length).
    """

    column_noise: ArrayLike | None = None

    def fit(self, data: Data) -> Estimate:
        """The estimate."""
        weights = np.asarray(LeastSquares().fit(data).weights)
        rows, torques = data.weighted(weights)
        p = rows.shape[1]
        size = np.linalg.norm(rows, axis=0) / max(float(np.linalg.norm(torques)), 1e-12)
        scale = size if self.column_noise is None else np.asarray(self.column_noise, float)
        if scale.shape != (p,) or (scale < 0).any():
            raise ShapeError(where="TotalLeastSquares", expected=f"{p} deviations >= 0", got=f"shape {scale.shape}")
        # Exact columns are solved away first: only what is orthogonal to them is noisy.
        exact, noisy = np.flatnonzero(scale == 0), np.flatnonzero(scale > 0)
        Q = np.linalg.qr(rows[:, exact])[0] if len(exact) else np.zeros((len(rows), 0))
        joined = np.column_stack([rows[:, noisy] / scale[noisy], torques])
        joined = joined - Q @ (Q.T @ joined)
        right = np.linalg.svd(joined, full_matrices=False)[2][-1]
        if abs(right[-1]) < 1e-12:
            cause = "no solution: some columns are dependent"
            raise ArmdynError(cause, where="TotalLeastSquares", remedy="use base parameters")
        x = np.zeros(p)
        x[noisy] = -right[:-1] / right[-1] / scale[noisy]
        if len(exact):
            x[exact] = np.linalg.lstsq(rows[:, exact], torques - rows @ x, rcond=None)[0]
        e = torques - rows @ x
        covariance = float(e @ e) / max(len(e) - p, 1) * np.linalg.pinv(rows.T @ rows, hermitian=True)
        return estimate(data, x, weights, covariance, rows, p)


@dataclass(frozen=True, eq=False)
class InstrumentalVariables:
    """Regressors of a simulated, noise-free motion as instruments (Janot, Vandanjon, Gautier 2014).

    `simulate(x)` gives the regressor (N, n, p) along the motion that the model with parameters x makes; its errors
    are independent of the measured regressor's, which removes the bias of least squares.
    """

    simulate: Callable[[NDArray], NDArray]
    rounds: int = 10

    def fit(self, data: Data) -> Estimate:
        """The estimate, from least squares by iteration."""
        ols = LeastSquares().fit(data)
        x, weights = ols.x, np.asarray(ols.weights)
        rows, torques = data.weighted(weights)
        Z = rows
        for _ in range(self.rounds):
            weights = 1 / noise(data.residuals(x))
            rows, torques = data.weighted(weights)
            Z = Data(self.simulate(x), data.tau).weighted(weights)[0]
            if Z.shape != rows.shape:
                expected = f"{rows.shape[1]} simulated columns"
                raise ShapeError(where="InstrumentalVariables", expected=expected, got=Z.shape[1])
            before, x = x, np.linalg.lstsq(Z.T @ rows, Z.T @ torques, rcond=None)[0]
            if np.linalg.norm(x - before) <= 1e-8 * np.linalg.norm(before):
                break
        e = torques - rows @ x
        gain = np.linalg.pinv(Z.T @ rows)
        covariance = float(e @ e) / max(len(e) - len(x), 1) * gain @ (Z.T @ Z) @ gain.T
        return estimate(data, x, weights, covariance, rows, len(x))
