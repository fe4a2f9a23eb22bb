"""Lyapunov functions along a run: whether theory held in practice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Lyapunov(NamedTuple):
    """V, the rate that theory gives it, and the smallest eigenvalue of what makes it fall, each (..., T)."""

    V: NDArray
    rate: NDArray
    margin: NDArray  # where it is not positive, nothing is proven

    @property
    def unproven(self) -> float:
        """Part of the run during which theory does not promise that V falls."""
        return float((self.margin <= 0).mean())


def surface(run: Any, lam: NDArray) -> NDArray:
    """The distance s = e' + Lambda e from the sliding surface along a run, (..., T, n)."""
    return np.asarray(run.qd_ref - run.qd + (run.q_ref - run.q) @ np.asarray(lam).T)


def quadratic(A: NDArray, x: NDArray) -> NDArray:
    """The quadratic form x' A x, sample by sample."""
    return np.einsum("...i,...ij,...j->...", x, A, x)


def parameter_energy(phi: NDArray, truth: ArrayLike, gain: ArrayLike) -> NDArray:
    """Half the squared error of the estimate, measured by the inverse gain."""
    return ((phi - np.asarray(truth)) ** 2 / np.asarray(gain)).sum(-1) / 2
