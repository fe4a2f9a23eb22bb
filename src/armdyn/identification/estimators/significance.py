"""Significance analysis: columns and directions that data cannot tell from noise are left out.

Kapadia, section 4.3: columns scaled by torque sensitivities; deletion of insensitive columns (a), of near
dependencies by singular vectors (b), and of the weakest directions (c).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.identification.estimators.data import Data, Estimate, estimate
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.fit.perturbation import lawson_hanson
from armdyn.names import HintedAttributes


def sensitivities(data: Data) -> NDArray:
    """Torque sensitivities (p,): |H'T| / |T|, how much of the torque each unit parameter accounts for."""
    return _sensitivities(*data.weighted(1.0))


def _sensitivities(rows: NDArray, torques: NDArray) -> NDArray:
    return np.abs(rows.T @ torques) / max(float(np.linalg.norm(torques)), 1e-300)


class Bound(NamedTuple):
    """Bound of parameter errors: Kapadia, equation (4.1), after Lawson and Hanson."""

    error: float  # bound of |x - truth|; infinite if the regressor's error reaches its smallest singular value
    condition: float


def perturbation_bound(data: Data, x: NDArray, regressor_error: float, torque_error: float) -> Bound:
    """The bound for a regressor off by `regressor_error` (spectral norm) and torques by `torque_error` (norm)."""
    rows, torques = data.weighted(1.0)
    values = np.linalg.svd(rows, compute_uv=False)
    largest, smallest = float(values[0]), float(values[-1])
    residual, size = float(np.linalg.norm(torques - rows @ x)), float(np.linalg.norm(x))
    error = lawson_hanson(largest, smallest, size, residual, regressor_error, torque_error)
    return Bound(error, largest / smallest if smallest > 0 else np.inf)


@dataclass(frozen=True)
class Significance(HintedAttributes):
    """Least squares on what is significant.

    `sensitivity`: columns below this fraction of the largest contribution are deleted. `condition`: near
    dependencies are deleted until the scaled regressor is at least this well conditioned. `weakest`: so many
    directions of least singular value are left out of the solution. `scaling`: columns are divided by their "length",
    and contribute their length times the estimate; or by their "torque" sensitivities, as the thesis does, and
    contribute these.
    """

    sensitivity: float = 0.0
    condition: float = np.inf
    weakest: int = 0
    scaling: str = "length"

    def __post_init__(self) -> None:
        if self.weakest < 0 or self.sensitivity < 0 or self.condition < 1:
            raise ArmdynError(where="Significance", expected="sensitivity >= 0, condition >= 1 and weakest >= 0")
        if self.scaling not in ("length", "torque"):
            raise ArmdynError(where="Significance", expected="scaling 'length' or 'torque'", got=f"{self.scaling!r}")

    def selected(self, data: Data) -> NDArray:
        """Positions of the columns that stay."""
        return self._significant(self._weighted(data))

    def fit(self, data: Data) -> Estimate:
        """The estimate; deleted parameters are zero, with zero deviation."""
        weighted = self._weighted(data)
        rows, torques = weighted.rows, weighted.torques
        k = self._significant(weighted)
        size = weighted.size[k]
        left, values, right = np.linalg.svd(rows[:, k] / size, full_matrices=False)
        rank = max(len(k) - self.weakest, 1)
        strong = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        x, covariance = np.zeros(rows.shape[1]), np.zeros((rows.shape[1],) * 2)
        x[k] = strong @ torques / size
        e = torques - rows @ x
        variance = float(e @ e) / max(len(e) - rank, 1)
        covariance[np.ix_(k, k)] = (
            variance * (right[:rank].T / values[:rank] ** 2) @ right[:rank] / np.outer(size, size)
        )
        return estimate(data, x, weighted.weights, covariance, rows[:, k] / size, rank)

    def _weighted(self, data: Data) -> _Weighted:
        weights = np.asarray(LeastSquares().fit(data).weights)
        rows, torques = data.weighted(weights)
        length = np.linalg.norm(rows, axis=0)
        if self.scaling == "length":
            share = length * np.abs(np.linalg.lstsq(rows, torques, rcond=None)[0])
            return _Weighted(weights, rows, torques, length, share)
        share = _sensitivities(rows, torques)
        # A column that is orthogonal to the torque would be divided by nothing: chance leaves so much of any.
        return _Weighted(weights, rows, torques, np.maximum(share, length / np.sqrt(len(rows))), share)

    def _significant(self, weighted: _Weighted) -> NDArray:
        rows, size, share = weighted.rows, weighted.size, weighted.share
        k = np.flatnonzero((share >= self.sensitivity * share.max()) & (size > 0))
        while len(k) > 1:
            _, values, right = np.linalg.svd(rows[:, k] / size[k], full_matrices=False)
            if values[0] <= self.condition * values[-1]:
                break
            # The largest entry of the weakest right singular vector is the column most nearly redundant.
            k = np.delete(k, int(np.argmax(np.abs(right[-1]))))
        return k


class _Weighted(NamedTuple):
    """Equations of weighted joints, and what their columns are divided by and contribute."""

    weights: NDArray  # (n,)
    rows: NDArray  # (N n, p)
    torques: NDArray  # (N n,)
    size: NDArray  # (p,)
    share: NDArray  # (p,)
