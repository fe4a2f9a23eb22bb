"""Lyapunov functions along a run: whether theory held in practice."""

from __future__ import annotations

from typing import NamedTuple

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


def quadratic(A: NDArray, x: NDArray) -> NDArray:
    """The quadratic form x' A x, sample by sample."""
    return np.einsum("...i,...ij,...j->...", x, A, x)


def parameter_energy(phi: NDArray, truth: ArrayLike, gain: ArrayLike) -> NDArray:
    """Half the squared error of the estimate, measured by the inverse gain."""
    return ((phi - np.asarray(truth)) ** 2 / np.asarray(gain)).sum(-1) / 2
