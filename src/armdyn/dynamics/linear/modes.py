"""Eigenvalues of linear systems: how fast small deviations grow, decay and swing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import common_batch
from armdyn.dynamics.linear.checks import check_matrices, check_square
from armdyn.precision import NEGLIGIBLE


class Modes(NamedTuple):
    """Arrays of shape (..., m), the fastest growing mode first."""

    eigenvalues: NDArray  # complex [1/s]
    time_constants: NDArray  # -1 / real part [s]: negative where deviations grow, infinite if they do neither
    frequencies: NDArray  # magnitude [rad/s]
    damping: NDArray  # -real part / magnitude: 1 decays without swinging, NaN for an eigenvalue of zero


def modes(A: ArrayLike) -> Modes:
    """Eigenvalues of dx/dt = A x, with time constants, frequencies and damping.

    Parameters
    ----------
    A : array_like, shape (..., m, m)
        Such as `linearize(...).A`, sample by sample along a motion.

    Returns
    -------
    Modes
        HintedAttributes arrays of shape (..., m).

    Notes
    -----
    Along a motion these are the modes of the arm frozen at each instant. They tell how fast a controller
    has to be; by themselves they prove nothing about stability while A changes.
    """
    values = np.linalg.eigvals(check_square(A, "modes")).astype(complex)
    values = -np.sort_complex(-values)
    real, size = values.real, np.abs(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Modes(values, -1 / np.where(real == 0, -0.0, real), size, -real / size)


class EigenvalueShift(NamedTuple):
    """Eigenvalues (..., m), the fastest growing first, and how they move."""

    eigenvalues: NDArray
    shift: NDArray  # derivative of each, NaN where eigenvalues coincide and none exists


def eigenvalue_shift(A: ArrayLike, dA: ArrayLike) -> EigenvalueShift:
    """Return how the eigenvalues of A move along dA.

    Parameters
    ----------
    A, dA : array_like, shape (..., m, m)
        Such as `linearize(...).A` and `linearize_sensitivity(..., unit_payload(arm)).dA`, which gives the
        shift per kilogram of unknown payload.

    Returns
    -------
    EigenvalueShift
        Complex arrays of shape (..., m).
    """
    A = check_square(A, "eigenvalue_shift")
    m = A.shape[-1]
    dA = check_matrices(dA, "eigenvalue_shift", "dA", m, m)
    common_batch("eigenvalue_shift", {"A": A.shape[:-2], "dA": dA.shape[:-2]})
    values, vectors = (x.astype(complex) for x in np.linalg.eig(A))
    order = np.lexsort((-values.imag, -values.real), axis=-1)
    values = np.take_along_axis(values, order, -1)
    vectors = np.take_along_axis(vectors, order[..., None, :], -1)
    # Eigenvectors nearer to dependence than this have no derivative worth the name.
    defective = np.linalg.svd(vectors, compute_uv=False)[..., -1] < NEGLIGIBLE
    vectors = np.where(defective[..., None, None], np.eye(m), vectors)
    # First-order perturbation: the diagonal of V^-1 dA V.
    shift = np.einsum("...ii->...i", np.linalg.solve(vectors, dA @ vectors))
    return EigenvalueShift(values, np.where(defective[..., None], np.nan, shift))
