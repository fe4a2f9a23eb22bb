"""Criteria of how well a motion shows an arm's parameters, as smooth functions of its information matrix.

The information matrix is `S = W' W`, W being the regressor rows of all samples. Every criterion is a
function of its eigenvalues that is small for a good motion, with its derivative; maxima and minima are
replaced by p-norms, because the eigenvalues meet where the criterion is best and the plain ones have no
derivative there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_NAMED = 4  # columns that a motion shows least


class Spectrum(NamedTuple):
    """A criterion (k,) of k sets of eigenvalues' logarithms (k, c), and its derivative by them (k, c)."""

    value: NDArray
    slope: NDArray


def condition(log: NDArray, power: float) -> Spectrum:
    """Logarithm of the condition number of W."""
    largest, least = _soft_max(log, power), _soft_max(-log, power)
    return Spectrum((largest.value + least.value) / 2, (largest.slope - least.slope) / 2)


def log_det(log: NDArray, power: float) -> Spectrum:
    """Minus the mean of the logarithms of W's singular values (D-optimal: least volume of uncertainty)."""
    return Spectrum(-log.mean(-1) / 2, np.full_like(log, -0.5 / log.shape[-1]))


def least_singular(log: NDArray, power: float) -> Spectrum:
    """Minus the logarithm of the least eigenvalue of the correlation matrix (Armstrong 1989)."""
    least = _soft_max(-log, power)
    return Spectrum(least.value, -least.slope)


def kalman(log: NDArray, power: float) -> Spectrum:
    """Logarithm of the slowest time constant of the minimum-variance estimator, but for a constant.

    Parameters that drift with spectral density q I, seen through the mean information lambda per second along an
    eigenvector, have the steady variance p = sqrt(q / lambda) by the Riccati equation q = lambda p²; errors
    shrink at the rate lambda p = sqrt(q lambda) (Kapadia 1995, 8.2).
    """
    least = least_singular(log, power)
    return Spectrum(least.value / 2, least.slope / 2)


CRITERIA: dict[str, Callable[[NDArray, float], Spectrum]] = {
    "condition": condition,
    "log-det": log_det,
    "min-singular": least_singular,
    "kalman": kalman,
}


def _soft_max(x: NDArray, power: float) -> Spectrum:
    """log(sum exp(p x)) / p, which is above the maximum and tends to it as p grows."""
    top = x.max(-1, keepdims=True)
    parts = np.exp(power * (x - top))
    total = parts.sum(-1, keepdims=True)
    return Spectrum((top + np.log(total) / power)[..., 0], parts / total)


class CriterionValue(NamedTuple):
    """A criterion of information matrices: value, derivative (c, c) by the matrix."""

    value: float
    slope: NDArray


def evaluate(S: NDArray, forms: NDArray, criterion: str, power: float, unit_columns: bool) -> CriterionValue | None:
    """The soft maximum of a criterion over k forms `F' S F` of one information matrix; None if singular.

    Parameters
    ----------
    S : ndarray, shape (c, c)
    forms : ndarray, shape (k, c, c)
        Choices of the parameters that lead the base parameters: W F are the columns of such a choice.
    criterion : str
        One of `CRITERIA`.
    power : float
        The larger, the nearer to the plain maximum.
    unit_columns : bool
        Scale the columns of W F to unit length.
    """
    matrices = forms.transpose(0, 2, 1) @ S @ forms
    scale = np.ones(matrices.shape[:2])
    if unit_columns:
        diagonal = np.einsum("kii->ki", matrices)
        if diagonal.min() <= 0:
            return None
        scale = 1 / np.sqrt(diagonal)
        matrices = matrices * scale[:, :, None] * scale[:, None, :]
    eigenvalues, vectors = np.linalg.eigh(matrices)
    if not eigenvalues[:, 0].min() > 0:
        return None
    of_form = CRITERIA[criterion](np.log(eigenvalues), power)
    overall = _soft_max(of_form.value, 2 * power)
    share = overall.slope[:, None] * of_form.slope
    # dS = sum of share / eigenvalue u u', u = F D^-1/2 v; most shares are nothing where the power is high.
    columns = (forms @ (scale[:, :, None] * vectors)).transpose(1, 0, 2).reshape(len(S), -1)
    counts = np.flatnonzero(np.abs(share) > np.finfo(float).eps * np.abs(share).max())
    columns = columns[:, counts]
    slope = (columns * (share / eigenvalues).ravel()[counts]) @ columns.T
    if unit_columns:
        # C = D^-1/2 S D^-1/2 with D the diagonal of S:  dS = D^-1/2 dC D^-1/2 - diag(dC C) / D
        along = np.einsum("kij,kj->ki", vectors**2, share) * scale**2
        slope -= ((forms * along[:, None, :]) @ forms.transpose(0, 2, 1)).sum(0)
    return CriterionValue(float(overall.value), slope)


def condition_numbers(S: NDArray, forms: NDArray, unit_columns: bool = False) -> NDArray:
    """Condition numbers (k,) of W F for k choices; infinite where singular."""
    matrices = forms.transpose(0, 2, 1) @ S @ forms
    if unit_columns:
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1 / np.sqrt(np.einsum("kii->ki", matrices))
            matrices = np.nan_to_num(matrices * scale[:, :, None] * scale[:, None, :], posinf=0, neginf=0)
    eigenvalues = np.linalg.eigvalsh(matrices)
    tiny = eigenvalues[:, 0] <= eigenvalues[:, -1] * np.finfo(float).eps
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(tiny, np.inf, np.sqrt(eigenvalues[:, -1] / eigenvalues[:, 0]))


def least_seen(S: NDArray) -> list[int]:
    """Columns of W whose combination shows least, MAX_NAMED at most: those that W does not tell apart, or at all."""
    diagonal = np.diag(S)
    absent = np.flatnonzero(diagonal <= np.finfo(float).tiny)
    if len(absent):
        return [int(k) for k in absent[:MAX_NAMED]]
    scale = 1 / np.sqrt(diagonal)
    part = np.abs(np.linalg.eigh(S * np.outer(scale, scale))[1][:, 0])
    return [int(k) for k in np.argsort(-part)[:MAX_NAMED] if part[k] > part.max() / 3]
