"""Riccati equations for whole batches of linear systems.

All gains K are for u = -K x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.settings import as_numbers
from armdyn.errors import ArmdynError, ShapeError, expect
from armdyn.precision import MAX_ITERATIONS, SOLUTION_ERROR

# Entries that only systems without a stabilising solution reach; products of four do not overflow yet.
MAX_ENTRY = np.sqrt(np.sqrt(np.finfo(float).max))


class Regulator(NamedTuple):
    """Gains (..., m, k), cost-to-go x' P x (..., k, k)."""

    K: NDArray
    P: NDArray


def discrete_lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> Regulator:
    """Regulators of x[k+1] = A x[k] + B u[k] that minimise the infinite sum of x' Q x + u' R u.

    Parameters
    ----------
    A : array_like, shape (..., k, k)
    B : array_like, shape (..., k, m)
    Q : array_like, shape (..., k, k)
        Positive semidefinite.
    R : array_like, shape (..., m, m)
        Positive definite.

    Returns
    -------
    K : ndarray, shape (..., m, k)
    P : ndarray, shape (..., k, k)

    Raises
    ------
    ArmdynError
        If a system of the batch cannot be stabilised.

    References
    ----------
    Chu, Fan, Lin and Wang (2004), Structure-preserving algorithms for periodic discrete-time algebraic Riccati
    equations (doubling).
    """
    A, B, Q, R = _check(A, B, Q, R, "discrete_lqr")
    one = np.eye(A.shape[-1])
    E, G, P = A, B @ np.linalg.solve(R, _t(B)), np.broadcast_to(Q, A.shape)
    for _ in range(MAX_ITERATIONS):
        # One pass of each makes k steps of the horizon 2 k.
        inverse = np.linalg.inv(one + G @ P)
        grown = P + _t(E) @ P @ inverse @ E
        E, G = E @ inverse @ E, G + E @ inverse @ G @ _t(E)
        largest = np.abs(grown).max(initial=0.0)
        change = np.abs(grown - P).max(initial=0.0) / max(largest, 1e-300)
        P = (grown + _t(grown)) / 2
        # What cannot be stabilised grows beyond bounds: stop before numbers overflow.
        if change < SOLUTION_ERROR or not max(largest, np.abs(E).max(initial=0.0)) < MAX_ENTRY:
            break
    good = bool((np.abs(P) < MAX_ENTRY).all())
    K = np.linalg.solve(R + _t(B) @ P @ B, _t(B) @ P @ A) if good else P
    if not good or np.abs(np.linalg.eigvals(A - B @ K)).max(initial=0.0) >= 1:
        raise ArmdynError("a system of the batch cannot be stabilised with these weights", where="discrete_lqr")
    return Regulator(K, P)


def continuous_lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> Regulator:
    """Regulators of dx/dt = A x + B u that minimise the infinite integral of x' Q x + u' R u.

    Parameters
    ----------
    A, B, Q, R : array_like
        As in `discrete_lqr`.

    Returns
    -------
    K, P : ndarray

    Raises
    ------
    ArmdynError
        If a system of the batch cannot be stabilised.

    References
    ----------
    Byers (1987), Solving the algebraic Riccati equation with the matrix sign function.
    """
    A, B, Q, R = _check(A, B, Q, R, "continuous_lqr")
    k = A.shape[-1]
    W = np.linalg.solve(R, _t(B))
    Z = np.concatenate(
        [np.concatenate([A, -B @ W], -1), np.concatenate([-np.broadcast_to(Q, A.shape), -_t(A)], -1)], -2
    )
    for _ in range(MAX_ITERATIONS):
        # Newton's iteration for the sign; the determinant's scale makes its start fast.
        _, logdet = np.linalg.slogdet(Z)
        scale = np.exp(-logdet / (2 * k))[..., None, None]
        after = (scale * Z + np.linalg.inv(scale * Z)) / 2
        done = np.abs(after - Z).max(initial=0.0) < SOLUTION_ERROR * np.abs(after).max(initial=0.0)
        Z = after
        if done:
            break
    one = np.eye(k)
    left = np.concatenate([Z[..., :k, k:], Z[..., k:, k:] + one], -2)
    right = -np.concatenate([Z[..., :k, :k] + one, Z[..., k:, :k]], -2)
    try:
        P = np.linalg.solve(_t(left) @ left, _t(left) @ right)
    except np.linalg.LinAlgError:
        P = np.full_like(A, np.nan)
    P = (P + _t(P)) / 2
    K = W @ P
    if not np.isfinite(P).all() or np.linalg.eigvals(A - B @ K).real.max(initial=-1.0) >= 0:
        raise ArmdynError("a system of the batch cannot be stabilised with these weights", where="continuous_lqr")
    return Regulator(K, P)


def finite_horizon_lqr(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, terminal: ArrayLike | None = None
) -> Regulator:
    """Time-varying regulators over N steps, from the last to the first.

    Parameters
    ----------
    A : array_like, shape (N, k, k)
    B : array_like, shape (N, k, m)
    Q, R : array_like, shape (k, k), (m, m), or with a leading axis N
    terminal : array_like, shape (k, k), optional
        Cost of the state after the last step; default that of the last system going on for ever.

    Returns
    -------
    K : ndarray, shape (N, m, k)
    P : ndarray, shape (N + 1, k, k)
    """
    A, B, Q, R = _check(A, B, Q, R, "finite_horizon_lqr")
    expect(A.ndim == 3, "finite_horizon_lqr", "A of shape (N, k, k)", A.shape)
    N, m = len(A), B.shape[-1]
    Q, R = np.broadcast_to(Q, A.shape), np.broadcast_to(R, (N, m, m))
    P = np.empty((N + 1, *A.shape[1:]))
    P[N] = discrete_lqr(A[-1], B[-1], Q[-1], R[-1]).P if terminal is None else _terminal(terminal, A.shape[-1])
    K = np.empty((N, m, A.shape[-1]))
    for i in reversed(range(N)):
        PB = P[i + 1] @ B[i]
        K[i] = np.linalg.solve(R[i] + B[i].T @ PB, PB.T @ A[i])
        cost = Q[i] + A[i].T @ P[i + 1] @ (A[i] - B[i] @ K[i])
        P[i] = (cost + cost.T) / 2
    return Regulator(K, P)


def _terminal(value: ArrayLike, k: int) -> NDArray:
    array = as_numbers(value, "finite_horizon_lqr: terminal")
    fits = array.shape == (k, k) and np.isfinite(array).all()
    expect(fits, "finite_horizon_lqr: terminal", f"a finite matrix ({k}, {k})", got=f"shape {array.shape}")
    return array


def _t(X: NDArray) -> NDArray:
    return X.swapaxes(-1, -2)


def _check(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, where: str) -> tuple[NDArray, ...]:
    arrays = [as_numbers(x, where, "matrices") for x in (A, B, Q, R)]
    if any(x.ndim < 2 for x in arrays):
        raise ShapeError(where=where, expected="matrices", got=f"shapes {', '.join(str(x.shape) for x in arrays)}")
    k, m = arrays[1].shape[-2:]
    for name, array, shape in zip("AQR", (arrays[0], *arrays[2:]), ((k, k), (k, k), (m, m)), strict=True):
        expect(array.shape[-2:] == shape, where, f"{name} of shape (..., {shape[0]}, {shape[1]})", array.shape)
    expect(all(np.isfinite(x).all() for x in arrays), where, "finite numbers")
    least_Q, least_R = (np.linalg.eigvalsh(x).min() for x in arrays[2:])
    fits = least_Q >= -SOLUTION_ERROR * np.abs(arrays[2]).max() and least_R > 0
    expect(fits, where, "Q positive semidefinite and R positive definite")
    return tuple(arrays)
