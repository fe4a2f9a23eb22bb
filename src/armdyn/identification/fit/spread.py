"""How sure the estimates are: covariances that hold for filtered, autocorrelated residuals.

Neighbouring residuals are alike: the low-pass and what the model lacks make them so. The naive formula counts
them as independent and is two to three times too sure. Here the residuals of each joint are a stationary
process with the spectrum that they show, and the covariance is the sandwich A^-1 (sum of Y'RY) A^-1.

A fit takes most from the residuals where its columns live, at low frequencies. So the residuals are first
corrected block by block with (1 - H)^-1/2, H being the block's part of the hat matrix (Bell, McCaffrey 2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.correlation import correlate, count_lags
from armdyn.identification.fit.equations import MAX_BLOCKS_PER_LOG, Equations
from armdyn.identification.fit.rows import Part, Rows
from armdyn.precision import NEGLIGIBLE, SIX_DIGITS


class Spread(NamedTuple):
    """Confidence of a least-squares fit."""

    covariance: NDArray  # (used, used); infinite variances where nothing is determined
    undetermined: NDArray  # (used,) of bool
    effective: NDArray  # (n,) number of independent residuals of each joint
    condition: float  # of the weighted regressor
    condition_scaled: float  # with columns of unit length


def estimate_spread(rows: Rows, equations: Equations, used: NDArray, x: NDArray) -> Spread:
    """Covariance of the least-squares parameters that are used."""
    k = np.flatnonzero(used)
    A = equations.total(k).A
    known = determine(A)
    meat, effective = _meat(rows, equations, k, _correct(rows, equations, k, x, known.root))
    covariance = known.inverse @ meat @ known.inverse
    covariance[known.lost, known.lost] = np.inf
    return Spread(covariance, known.lost, effective, condition(np.linalg.eigvalsh(A)), condition(known.values))


class Information(NamedTuple):
    """Information of normal equations: what they determine, and what they do not."""

    root: NDArray  # (p, p - k) of their inverse, which is zero along directions that no sample shows: root root'
    null: NDArray  # (p, k) these directions
    lost: NDArray  # (p,) of bool: parameters that take part in them
    values: NDArray  # (p,) eigenvalues with columns of unit length, smallest first

    @property
    def inverse(self) -> NDArray:
        """(p, p)"""
        return self.root @ self.root.T


def determine(A: NDArray) -> Information:
    """Directions of parameters that the normal equations A (p, p) determine, and those that they do not."""
    size = np.diag(A)
    scale = 1 / np.sqrt(np.maximum(np.where(size > 0, size, size.max()), 1e-300))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    known = values > NEGLIGIBLE * values[-1]
    root, null = scale[:, None] * vectors[:, known] / np.sqrt(values[known]), vectors[:, ~known]
    return Information(root, scale[:, None] * null, (null**2).sum(axis=1) > SIX_DIGITS, values)


def condition(eigenvalues: NDArray) -> float:
    """Condition of a regressor whose normal equations have these eigenvalues; infinite beyond round-off."""
    smallest = eigenvalues[0] if eigenvalues[0] > 1e-15 * eigenvalues[-1] else 0.0
    return float(np.sqrt(eigenvalues[-1] / smallest)) if smallest else np.inf


def _correct(rows: Rows, equations: Equations, k: NDArray, x: NDArray, root: NDArray) -> NDArray:
    """Weighted residuals (n, N) with the spread of the noise itself: what the fit took away is put back."""
    residuals = []
    for part in rows:
        # Long logs come in parts that are blocks as they are.
        cuts = np.array_split(np.arange(part.tau.shape[1]), max(1, MAX_BLOCKS_PER_LOG // len(rows.parts)))
        residuals += [_put_back(part, cut, equations, k, x, root) for cut in cuts if len(cut)]
    return np.concatenate(residuals, axis=1)


def _put_back(part: Part, cut: NDArray, equations: Equations, k: NDArray, x: NDArray, root: NDArray) -> NDArray:
    """The corrected residuals (n, samples) of a block."""
    U, e = [], []
    for joint, weight in enumerate(equations.weights):
        columns = equations.owns[joint]
        Y = weight * part.Y[joint][cut]
        e.append(weight * part.tau[joint][cut] - Y @ x[columns])
        here, at = places(columns, k)
        U.append(Y[:, here] @ root[at])
    # (1 - U U')^-1/2 = 1 + U V ((1 - m)^-1/2 - 1)/m V' U' with U'U = V m V'
    stacked, error = np.concatenate(U), np.concatenate(e)
    m, V = np.linalg.eigh(stacked.T @ stacked)
    m = np.clip(m, 1e-12, 1 - SIX_DIGITS)  # a block that determines a direction alone tells no noise along it
    gain = (1 / np.sqrt(1 - m) - 1) / m
    error = error + stacked @ (V @ (gain * (V.T @ (stacked.T @ error))))
    return error.reshape(len(equations.weights), len(cut))


def places(columns: NDArray, k: NDArray) -> tuple[NDArray, NDArray]:
    """Return which of a joint's columns are used, and where they stand among all that are."""
    at = np.searchsorted(k, columns)
    here = (at < len(k)) & (k[np.minimum(at, len(k) - 1)] == columns)
    return here, at[here]


def _meat(rows: Rows, equations: Equations, k: NDArray, residuals: NDArray) -> tuple[NDArray, NDArray]:
    """Sum of Y'RY over joints and pieces, R the covariance of a joint's residuals."""
    total = np.zeros((len(k), len(k)))
    number = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
    shapes = [autocorrelation(e, number) for e in residuals]
    powers = np.mean(residuals**2, axis=1)
    for part in rows:
        for joint, (correlation, _) in enumerate(shapes):
            here, at = places(equations.owns[joint], k)
            Y = part.Y[joint][:, here] * equations.weights[joint]
            total[np.ix_(at, at)] += powers[joint] * Y.T @ convolve(Y, correlation)
    return total, np.array([effective for _, effective in shapes])


def correlated_sum(Y: NDArray, e: NDArray, stretch: NDArray) -> NDArray:
    """Sum of Y'RY (p, p) over joints and stretches, of weighted rows (n, N, p) and their residuals (n, N)."""
    total = np.zeros((Y.shape[2], Y.shape[2]))
    for rows, residual in zip(Y, e, strict=True):
        correlation, _ = autocorrelation(residual, stretch)
        for number in np.unique(stretch):
            part = rows[stretch == number]
            total += residual @ residual / len(residual) * part.T @ convolve(part, correlation)
    return total


def autocorrelation(e: NDArray, stretch: NDArray) -> tuple[NDArray, float]:
    """Autocorrelation of residuals, tapered so that it is that of some process, and their effective number."""
    lags = count_lags(len(e))
    sums = np.zeros(lags)
    for number in np.unique(stretch):
        products = correlate(part := e[stretch == number], part)[:lags]
        sums[: len(products)] += products
    correlation = sums / max(sums[0], 1e-300) * _parzen(lags)
    width = max(1.0, correlation[0] + 2 * correlation[1:].sum())
    return correlation, len(e) / width


def _parzen(lags: int) -> NDArray:
    """Parzen's window, whose transform is nowhere negative."""
    u = np.arange(lags) / lags
    return np.where(u < 0.5, 1 - 6 * u**2 + 6 * u**3, 2 * (1 - u) ** 3)


def convolve(Y: NDArray, correlation: NDArray) -> NDArray:
    """R Y for the Toeplitz matrix R of an autocorrelation."""
    size = len(Y) + len(correlation)
    kernel = np.zeros(size)
    kernel[: len(correlation)] = correlation
    kernel[size - len(correlation) + 1 :] = correlation[:0:-1]
    return np.fft.irfft(np.fft.rfft(Y, size, axis=0) * np.fft.rfft(kernel)[:, None].real, size, axis=0)[: len(Y)]
