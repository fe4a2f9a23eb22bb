"""Hyperparameters of the prior by the evidence of the data (MacKay 1992).

The prior's mean are generic bodies, or those of the description, and joint terms of zero; one hyperparameter scales
the precision of all links, and one that of every joint term. The fixed point of MacKay balances what a parameter is
worth against how well the data determine it. The noise is kept fixed: estimated along, it would collapse where the
motion is poor. It is at least a share of the torques, for what a model lacks is no noise, and residuals that resemble
their neighbours count less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.shafts import at_drives
from armdyn.identification.correlation import correlation_times
from armdyn.identification.fit.equations import Equations, solve
from armdyn.identification.fit.rows import Rows
from armdyn.identification.fit.terms import ASYMMETRIES, COULOMB, OFFSET, TERMS
from armdyn.precision import SOLUTION_ERROR

ROUNDS, SETTLED = 40, 0.02  # of the fixed point, and change of logarithms at which it has settled
# Hyperparameters, where 1 means a torque of the joint's own deviation; with the weakest parameters are nearly free.
WEAKEST, STRONGEST = 1e-4, 1e8
STRONGEST_DRY = 1e3  # the same of Coulomb friction and offset: no joint is certain to be without
LARGEST = 1.0  # weakest of a joint term: larger ones are there only to make up for one another
DRY = (COULOMB, OFFSET)  # terms that no joint is certain to be without
ASYMMETRY_SHARE = 0.1  # of a joint's torque that asymmetries of its friction may be
PATIENCE = 3.0  # correlated neighbours that count as one without any discount


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """Gaussian prior: parameters are near `mean`, as precisely as hyperparameters say."""

    base: NDArray  # (count, count) precision of base parameters at strength 1
    terms: NDArray  # (size,) precision of joint terms at strength 1, zero for base parameters
    mean: NDArray  # (size,)
    fixed: float | None = None  # strength of the base parameters, where it was asked for

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.base)

    def precision(self, hyperparameters: Hyperparameters) -> NDArray:
        """Return the prior precision of all parameters (size, size)."""
        matrix = np.diag(self.terms * hyperparameters.terms)
        matrix[: self.count, : self.count] = hyperparameters.base * self.base
        return matrix


class Hyperparameters(NamedTuple):
    """One for all links, one for every joint term."""

    base: float
    terms: NDArray  # (size,)


class Posterior(NamedTuple):
    """The most probable parameters under the hyperparameters that the data support."""

    x: NDArray  # (size,)
    hyperparameters: Hyperparameters
    prior_precision: NDArray  # (size, size)

    @property
    def pruned(self) -> NDArray:
        """Joint terms (size,) that the data shrink to nothing."""
        return self.hyperparameters.terms > 1e4

    def refit(self, equations: Equations, used: NDArray, mean: NDArray) -> Posterior:
        """Return the most probable parameters of other equations with the same hyperparameters."""
        return self._replace(x=equations.fit(used, self.prior_precision, mean))

    def logarithm(self, equations: Equations, used: NDArray, mean: NDArray) -> float:
        """Return the log evidence, but for what all models of the same equations share."""
        k = np.flatnonzero(used)
        A, b, c = equations.total(k)
        L, x, deviation = self.prior_precision[np.ix_(k, k)], self.x[k], (self.x - mean)[k]
        misfit = float(c - 2 * x @ b + x @ A @ x) + float(deviation @ L @ deviation)
        scale = 1 / np.sqrt(np.maximum(np.diag(A + L), 1e-300))
        by = np.outer(scale, scale)
        posterior = np.linalg.slogdet((A + L) * by + SOLUTION_ERROR * np.eye(len(k)))[1]
        prior = np.linalg.slogdet(L * by + 1e-14 * np.eye(len(k)))[1]
        return -0.5 * (misfit + posterior - prior)


def term_precision(rows: Rows, equations: Equations) -> NDArray:
    """Precision (size,) at strength 1: a term makes a torque as large as the deviation of its joint's."""
    count, n = equations.count, equations.n
    deviations = rows.deviations
    if len(equations.weights) != n:  # powers of all joints together
        speeds = np.concatenate([at_drives(rows.base.source, track.qd) for track in rows.tracks])
        deviations = deviations * np.sqrt(np.mean(speeds**2, axis=0))
    column_rms = np.sqrt(equations.column_squares[count:].reshape(n, len(TERMS)))
    # What is hardly felt must not be worth more than what is felt by others.
    least = 1e-3 * np.maximum(column_rms.max(axis=0, initial=0.0), 1e-12)
    size = np.maximum(deviations, 1e-6 * max(float(deviations.max()), 1e-12))
    precision = (np.maximum(column_rms, least) / size[:, None]) ** 2
    precision[:, ASYMMETRIES] /= ASYMMETRY_SHARE**2
    return np.concatenate([np.zeros(count), precision.ravel()])


def weigh(rows: Rows, equations: Equations, used: NDArray, prior: GaussianPrior, floor: float) -> Equations:
    """Joints weighed by 1 / noise, which a nearly free fit leaves; residuals that resemble neighbours count less."""
    kinds = len(equations.weights)
    samples = equations.samples.sum()
    spread = np.sqrt(np.maximum(equations.powers, 1e-300) / samples)
    if kinds == equations.n:
        spread = np.maximum(rows.deviations, 1e-6 * spread.max())
    known = rows.measured if kinds == equations.n else np.ones(kinds, bool)
    least = floor * float(np.sqrt(np.mean(spread[known] ** 2)))
    nearly_free = prior.precision(Hyperparameters(WEAKEST, np.full(equations.size, WEAKEST)))
    weights = 10 / spread
    for _ in range(4):
        equations = equations.with_weights(weights)
        x = equations.fit(used, nearly_free, prior.mean)
        noise = np.maximum(np.sqrt(equations.errors(x) / samples), least)
        weights = 1 / noise
    return equations.with_weights(weights / np.sqrt(discount(rows, equations, x)))


def discount(rows: Rows, equations: Equations, x: NDArray) -> float:
    """Return the variance inflation due to residual autocorrelation."""
    parameters = x[equations.owns][..., None]
    residuals = np.concatenate([part.tau - (part.Y @ parameters)[..., 0] for part in rows], axis=1).T
    residuals = residuals[:, rows.measured] if residuals.shape[1] == equations.n else residuals
    return max(1.0, float(np.median(correlation_times(residuals))) / PATIENCE)


def covariance(equations: Equations, used: NDArray, precision: NDArray) -> NDArray:
    """Return the posterior covariance of the active parameters."""
    k = np.flatnonzero(used)
    return _inverse(equations.total(k).A + precision[np.ix_(k, k)])


def evidence(
    equations: Equations, used: NDArray, prior: GaussianPrior, start: Hyperparameters | None = None
) -> Posterior:
    """Hyperparameters by MacKay's fixed point, and the fit under them.

    Joint terms are eliminated kind by kind: all but the inverse of a small Schur complement is done in blocks.
    """
    count, k = prior.count, np.flatnonzero(used)  # base parameters first, which are all used
    kinds = len(equations.weights)
    kind = (k[count:] - count) // ((equations.size - count) // kinds)
    active = np.arange(np.bincount(kind, minlength=kinds).max()) < np.bincount(kind, minlength=kinds)[:, None]
    # Places of the terms of each kind, and one beyond where it has fewer than others.
    at = np.full(active.shape, len(k))
    at[active] = np.arange(count, len(k))
    terms = np.append(k, count)[at]
    system, mean, Q = equations.total(k), prior.mean[k], prior.base
    A, pull = np.pad(system.A, (0, 1)), np.append(system.b - system.A @ mean, 0.0)
    of_base, of_terms, slopes = A[:count, :count], A[at[:, :, None], at[:, None]], A[at, :count]
    flat = slopes.reshape(-1, count)
    precisions = np.where(active, prior.terms[terms], 1.0)
    base = (start.base if start else 1.0) if prior.fixed is None else prior.fixed
    alpha = np.where(active, start.terms[terms], 1.0) if start else np.ones(terms.shape)
    strongest = np.where(np.isin((terms - count) % len(TERMS), DRY), STRONGEST_DRY, STRONGEST)
    # Power does not tell joints apart: what one has, another could have, and no strength is to be learnt.
    apart = kinds == equations.n
    diagonal = np.arange(terms.shape[1])
    for _ in range(ROUNDS):
        T = of_terms.copy()
        T[:, diagonal, diagonal] += alpha * precisions
        T[:, diagonal, diagonal] *= 1 + SOLUTION_ERROR
        inverse = np.linalg.inv(T)
        levers = inverse @ slopes
        spread = _inverse(of_base + base * Q - flat.T @ levers.reshape(-1, count))
        deviation = (inverse @ pull[at][..., None])[..., 0]
        base_deviation = spread @ (pull[:count] - flat.T @ deviation.ravel())
        deviation -= levers @ base_deviation
        variances = inverse[:, diagonal, diagonal] + ((levers @ spread) * levers).sum(axis=2)
        good = np.clip(1 - alpha * precisions * variances, 0.05, 1.0)
        if not apart:
            good, deviation = np.ones_like(good), 1 / np.sqrt(precisions)
        new = np.clip(good / np.maximum(precisions * deviation**2, 1e-12), LARGEST, strongest)
        new[~active] = 1.0
        change = np.abs(np.log(new / alpha)).max(initial=0.0)
        alpha = new
        if prior.fixed is None and count:
            distance = max(float(base_deviation @ Q @ base_deviation), 1e-12)
            next_base = max(count - base * float((spread * Q).sum()), 0.1) / distance
            next_base = min(max(next_base, WEAKEST), STRONGEST)
            change, base = max(change, abs(np.log(next_base / base))), next_base
        if change < SETTLED:
            break
    hyperparameters = Hyperparameters(base, np.ones(equations.size))
    hyperparameters.terms[terms[active]] = alpha[active]
    precision = prior.precision(hyperparameters)
    x = np.zeros(equations.size)
    x[k] = solve(system, precision[np.ix_(k, k)], mean)
    return Posterior(x, hyperparameters, precision)


def _inverse(M: NDArray) -> NDArray:
    """M^-1 of a positive matrix M, to which a trace of a ridge is added."""
    from scipy.linalg.lapack import dpotrf, dpotri

    M.flat[:: len(M) + 1] *= 1 + SOLUTION_ERROR
    factor, failed = dpotrf(M.T)
    if failed or not len(M):  # round-off
        return np.linalg.inv(M)
    half = dpotri(factor, overwrite_c=1)[0]
    return np.asarray(half + np.triu(half, 1).T)
