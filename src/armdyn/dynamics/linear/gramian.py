"""Controllability and observability over a finite time, measured and not only decided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import common_batch
from armdyn.dynamics.linear.checks import check_matrices, check_square, check_steps
from armdyn.dynamics.linear.discretize import exponential, halvings

# Sixteen terms of the Gramian's series leave less than 1e-16 while |A| times the time is below this.
RADIUS, TERMS = 0.4, 16


class Gramian(NamedTuple):
    """A Gramian W (..., m, m) and its extreme eigenvalues (...); `smallest` = 0 means a lost direction."""

    W: NDArray
    smallest: NDArray
    largest: NDArray


def controllability(A: ArrayLike, B: ArrayLike, horizon: float) -> Gramian:
    """Return how far inputs can move the state within a time.

    Parameters
    ----------
    A : array_like, shape (..., m, m)
    B : array_like, shape (..., m, k)
        Scale its columns by the inputs' ranges and its rows by the inverse of the states' (A alike) where
        units differ: `B * effort` lets every torque count as a share of its limit.
    horizon : float
        Time [s].

    Returns
    -------
    Gramian
        W is the integral of exp(A t) B B' exp(A' t): inputs of energy 1 reach the ellipsoid x' W^-1 x <= 1,
        whose shortest half-axis is the root of `smallest`.
    """
    A = check_square(A, "controllability")
    B = check_matrices(B, "controllability", "B", rows=A.shape[-1])
    return _gramian(A, B, horizon, "controllability")


def observability(A: ArrayLike, C: ArrayLike, horizon: float) -> Gramian:
    """Return how well outputs y = C x determine the state from which the system started.

    Parameters
    ----------
    A : array_like, shape (..., m, m)
    C : array_like, shape (..., k, m)
        Such as `tip_output(...)`; scale its rows by the inverse of the sensors' noise.
    horizon : float
        Time [s].

    Returns
    -------
    Gramian
        W is the integral of exp(A' t) C' C exp(A t): the start x shows an output of energy x' W x.
    """
    A = check_square(A, "observability")
    C = check_matrices(C, "observability", "C", columns=A.shape[-1])
    return _gramian(np.swapaxes(A, -1, -2), np.swapaxes(C, -1, -2), horizon, "observability")


def _gramian(A: NDArray, B: NDArray, horizon: float, where: str) -> Gramian:
    """The integral of exp(A t) B B' exp(A' t), by a series over a short time that is then doubled."""
    T = check_steps(horizon, where, "horizon")
    common_batch(where, {"A": A.shape[:-2], "B": B.shape[:-2], "horizon": T.shape})
    T = T[..., None, None]
    doublings = halvings(float(np.abs(A * T).sum(axis=-2).max(initial=0.0)), RADIUS)
    T = T * 0.5**doublings
    W, step = _short(A * T, B @ np.swapaxes(B, -1, -2) * T), exponential(A * T)[0]
    for _ in range(doublings):
        # W(2T) = W + exp(A T) W exp(A' T), with exp = 1 + step
        half = W + step @ W
        W = W + half + half @ np.swapaxes(step, -1, -2)
        step = 2 * step + step @ step
    W = (W + np.swapaxes(W, -1, -2)) / 2
    spread = np.linalg.eigvalsh(W)
    # Round-off makes an eigenvalue of zero slightly negative.
    return Gramian(W, np.maximum(spread[..., 0], 0.0), spread[..., -1])


def _short(Z: NDArray, X: NDArray) -> NDArray:
    """The Gramian over one unit of time for a small Z, X = B B': the sum of L^k X / (k + 1)!, L X = Z X + X Z'."""
    W = term = X
    for k in range(1, TERMS):
        ZX = Z @ term
        term = (ZX + np.swapaxes(ZX, -1, -2)) / (k + 1)
        W = W + term
    return W
