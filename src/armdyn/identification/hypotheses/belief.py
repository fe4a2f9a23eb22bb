"""How probable a log is if bodies are believed to be generic ones strung along the links, or those described.

Zeros of joints and the pace of a clock are mostly made up for by other bodies: least squares then sees nothing, but
the bodies that it needs are odd. The evidence, with the strength of the belief that suits the log best, weighs that.
Noise is that of the fit without belief, and residuals that resemble their neighbours count less.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.correlation import correlation_times
from armdyn.identification.fit.prior import Prior, generic_covariance, precision_in, why_no_prior
from armdyn.identification.hypotheses.trial import ScreeningSystem, Trial, positions
from armdyn.spatial import inertia as inertial

STRENGTHS = 10.0 ** np.arange(-9.0, 9.1)  # bodies of a gram to tons, or torques in other units
STRENGTH_STEPS = 10.0 ** np.array([-0.5, 0.0, 0.5])
TERM_STRENGTH = 0.01  # strength with which a joint's own terms are believed to be small


class _Bodies(NamedTuple):
    """Prior of the base parameters."""

    precision: NDArray
    centre: NDArray


class Probable(NamedTuple):
    """The most probable parameters."""

    logarithm: float  # of the evidence
    x: NDArray
    inverse: NDArray  # of the normal equations with the belief


class EvidenceModel:
    """The beliefs in which changes of a trial's motion are judged."""

    def __init__(self, trial: Trial) -> None:
        base, arm = trial.base, trial.arm
        self.trial = trial
        self.weights = trial.fit.weights / np.sqrt(correlation_times(trial.fit.residual))
        self._bodies = [_Bodies(precision_in(base, generic_covariance(arm)), np.zeros(base.count))]
        if not why_no_prior(arm):
            prior = Prior.of(arm)
            centre = base.P[:, : inertial.SIZE * arm.n_joints] @ prior.theta
            self._bodies.append(_Bodies(precision_in(base, prior.covariance), centre))

    @cached_property
    def now(self) -> Probable:
        """Evidence of the log as it is."""
        return self.of(self.trial.columns)

    def of(self, columns: NDArray) -> Probable:
        """Return the evidence of other columns (N, n, c + OWN)."""
        return self._of(self.trial.sums(columns, self.trial.tau), self.weights)

    def of_gains(self, factors: NDArray) -> Probable:
        """Return the evidence of torques that were measured with factors (n,), noise included: they are divided by
        them.
        """
        return self._of(self.trial.sums(self.trial.columns, self.trial.tau).rescaled(factors), self.weights * factors)

    def _of(self, system: ScreeningSystem, weights: NDArray) -> Probable:
        G, h = system.normal(weights)
        size = float(system.grams[:, -1, -1] @ weights**2)
        several = [_Weighed(G, h, size, bodies, system.samples) for bodies in self._bodies]
        best = max(several, key=lambda weighed: weighed.best[0])
        return best.probable()

    def added(self, C: NDArray) -> tuple[NDArray, NDArray]:
        """Values (k,) of further columns (N, n, k), each alone, and what they gain of log-likelihood."""
        trial, now = self.trial, self.now
        W = self.weights[:, None]
        count, rows = trial.base.count, trial.columns
        cross = np.zeros((len(now.x), C.shape[2]))
        residual = np.empty_like(trial.tau)
        for j in range(trial.n):
            at = positions(count, j)
            cross[at] += self.weights[j] ** 2 * (rows[:, j].T @ C[:, j])
            residual[:, j] = trial.tau[:, j] - rows[:, j] @ now.x[at]
        square = np.einsum("tjk,jl->k", (C * W) ** 2, np.ones((trial.n, 1)))
        left = square - np.einsum("pk,pq,qk->k", cross, now.inverse, cross)
        pull = np.einsum("tjk,tj,j->k", C, residual, self.weights**2)
        determined = left > 1e-9 * np.maximum(square, 1e-300)
        values = np.divide(pull, left, out=np.zeros_like(pull), where=determined)
        return values, np.where(determined, 0.5 * pull * values, 0.0)


class _Weighed:
    """The evidence of normal equations G x = h under a belief, at the strength that suits them best.

    With T = G + belief of the joints' own terms, which no strength touches, S = G - G T^-1 G of the base parameters
    and P = R R' their precision, S + s P = R V (lambda + s) V' R': one decomposition serves all strengths s.
    """

    def __init__(self, G: NDArray, h: NDArray, size: float, bodies: _Bodies, samples: int) -> None:
        count = len(bodies.centre)
        b, t = slice(0, count), slice(count, len(h))
        self.G, self.bodies = G, bodies
        self.term_precisions = TERM_STRENGTH * np.maximum(np.diag(G)[t], 1e-12 * np.diag(G).max()) / samples
        self.centre = np.concatenate([bodies.centre, np.zeros(len(h) - count)])
        self.pull = h - G @ self.centre
        length = np.sqrt(np.diag(G)[t] + self.term_precisions)
        T = G[t, t] / np.outer(length, length) + np.diag(self.term_precisions / length**2)
        shares = np.linalg.solve(T, np.c_[G[t, b], self.pull[t]] / length[:, None])
        S = G[b, b] - (G[b, t] / length) @ shares[:, :-1]
        scale = 1 / np.sqrt(np.diag(bodies.precision))
        R = np.linalg.cholesky(bodies.precision * np.outer(scale, scale) + 1e-12 * np.eye(count))
        inverse = np.linalg.solve(R, np.diag(scale))
        values, vectors = np.linalg.eigh(inverse @ ((S + S.T) / 2) @ inverse.T)
        self.values = np.maximum(values, 0.0)
        self.away = vectors.T @ (inverse @ (self.pull[b] - (G[b, t] / length) @ shares[:, -1]))
        left = size - 2 * self.centre @ h + self.centre @ G @ self.centre - (self.pull[t] / length) @ shares[:, -1]
        self.rest = float(left + np.linalg.slogdet(T)[1] - np.sum(np.log(self.term_precisions / length**2)))

    @cached_property
    def best(self) -> tuple[float, float]:
        """Logarithm of the evidence, and the strength."""
        at = STRENGTHS[int(np.argmax(self._logarithms(STRENGTHS)))] * STRENGTH_STEPS
        logarithms = self._logarithms(at)
        k = int(np.argmax(logarithms))
        return float(logarithms[k]), float(at[k])

    def _logarithms(self, strengths: NDArray) -> NDArray:
        s = strengths[:, None]
        gained = np.sum(self.away**2 / (self.values + s) - np.log1p(self.values / s), axis=1)
        return np.asarray(0.5 * (gained - self.rest))

    def probable(self) -> Probable:
        """The parameters at that strength."""
        logarithm, strength = self.best
        count = len(self.bodies.centre)
        L = np.diag(np.concatenate([np.zeros(count), self.term_precisions]))
        L[:count, :count] = strength * self.bodies.precision
        scale = 1 / np.sqrt(np.diag(self.G + L))
        H = (self.G + L) * np.outer(scale, scale) + 1e-11 * np.eye(len(L))
        inverse = np.linalg.inv(H) * np.outer(scale, scale)
        return Probable(logarithm, self.centre + inverse @ self.pull, inverse)
