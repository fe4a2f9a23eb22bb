"""What every estimator takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Data:
    """Equations `tau = Y x` of n joints at N samples."""

    Y: NDArray  # (N, n, p)
    tau: NDArray  # (N, n)

    def __post_init__(self) -> None:
        Y, tau = np.asarray(self.Y, float), np.asarray(self.tau, float)
        if Y.ndim != 3 or tau.shape != Y.shape[:2]:
            raise ShapeError(where="Data", expected="Y (N, n, p) and tau (N, n)", got=f"{Y.shape} and {tau.shape}")
        if Y.shape[0] * Y.shape[1] < Y.shape[2]:
            raise ShapeError(f"{Y.shape[0] * Y.shape[1]} equations for {Y.shape[2]} parameters", where="Data")
        if not (np.isfinite(Y).all() and np.isfinite(tau).all()):
            raise ShapeError(where="Data", expected="finite numbers")
        object.__setattr__(self, "Y", Y)
        object.__setattr__(self, "tau", tau)

    def weighted(self, weights: ArrayLike) -> tuple[NDArray, NDArray]:
        """Rows (N n, p) and torques (N n,) multiplied by weights of joints (n,) or of equations (N, n)."""
        w = np.broadcast_to(np.asarray(weights, float), self.tau.shape)
        return (self.Y * w[..., None]).reshape(-1, self.Y.shape[2]), (self.tau * w).ravel()

    def residuals(self, x: NDArray) -> NDArray:
        """(N, n)"""
        return self.tau - self.Y @ x


def normal_equations(Y: NDArray, tau: NDArray, weights: ArrayLike = 1.0) -> tuple[NDArray, NDArray]:
    """Y'W²Y (p, p) and Y'W²tau (p,) of rows (..., p) and torques (...), with weights that broadcast to the latter."""
    w = np.broadcast_to(weights, tau.shape)
    rows = (Y * w[..., None]).reshape(-1, Y.shape[-1])
    return rows.T @ rows, rows.T @ (tau * w).ravel()


def check_size(values: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray:
    """Settings of an estimator that must have a shape; one number stands for all."""
    array = np.asarray(values, float)
    if array.shape not in ((), shape) or not np.isfinite(array).all():
        raise ShapeError(where=what, expected=f"finite numbers of shape {shape}", got=f"shape {array.shape}")
    return np.broadcast_to(array, shape)


class Estimate(NamedTuple):
    """A result; `std` assumes independent residuals (see `spread` for those that are not)."""

    x: NDArray  # (p,)
    std: NDArray  # (p,)
    weights: NDArray  # of joints (n,) or of equations (N, n)
    rms: NDArray  # (n,) residuals
    condition: float  # of the weighted rows
    rank: int


def estimate(data: Data, x: NDArray, weights: NDArray, covariance: NDArray, rows: NDArray, rank: int) -> Estimate:
    """An `Estimate` from its parts."""
    residuals = data.residuals(x)
    return Estimate(
        x,
        np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        weights,
        np.sqrt(np.mean(residuals**2, axis=0)),
        float(np.linalg.cond(rows)),
        rank,
    )
