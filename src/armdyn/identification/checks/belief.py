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

from armdyn.identification.checks.trial import OWN, System, Trial, correlation_times
from armdyn.identification.fit.prior import Prior, believable, generic_covariance, precision_in
from armdyn.spatial import inertia as inertial

STRENGTHS = 10.0 ** np.arange(-3.0, 6.1)
FINER = 10.0 ** np.array([-0.5, 0.0, 0.5])
TERMS = 0.01  # strength with which a joint's own terms are believed to be small


class _Bodies(NamedTuple):
    """What base parameters are believed to be."""

    precision: NDArray
    centre: NDArray


class Probable(NamedTuple):
    """The most probable parameters."""

    logarithm: float  # of the evidence
    x: NDArray
    inverse: NDArray  # of the normal equations with the belief


class Belief:
    """The beliefs in which changes of a trial's motion are judged."""

    def __init__(self, trial: Trial) -> None:
        base, arm = trial.base, trial.arm
        self.trial = trial
        self.weights = trial.fit.weights / np.sqrt(correlation_times(trial.fit.residual))
        self._bodies = [_Bodies(precision_in(base, generic_covariance(arm)), np.zeros(base.count))]
        if not believable(arm):
            prior = Prior.of(arm)
            centre = base.P[:, : inertial.SIZE * arm.n] @ prior.theta
            self._bodies.append(_Bodies(precision_in(base, prior.covariance), centre))

    @cached_property
    def now(self) -> Probable:
        """Of the log as it is."""
        return self.of(self.trial.columns)

    def of(self, columns: NDArray) -> Probable:
        """Of other columns (N, n, c + OWN)."""
        tau = self.trial.tau
        G, h = System.of(columns, tau).normal(self.weights)
        size = float(np.sum(tau**2, axis=0) @ self.weights**2)
        best = None
        for bodies in self._bodies:
            some = [_probable(G, h, size, bodies, s, len(tau)) for s in STRENGTHS]
            at = STRENGTHS[int(np.argmax([p.logarithm for p in some]))]
            for p in [*some, *(_probable(G, h, size, bodies, at * s, len(tau)) for s in FINER)]:
                best = p if best is None or p.logarithm > best.logarithm else best
        assert best is not None
        return best

    def added(self, C: NDArray) -> tuple[NDArray, NDArray]:
        """Values (k,) of further columns (N, n, k), each alone, and what they gain of log-likelihood."""
        trial, now = self.trial, self.now
        W = self.weights[:, None]
        count, rows = trial.base.count, trial.columns
        cross = np.zeros((len(now.x), C.shape[2]))
        residual = np.empty_like(trial.tau)
        for j in range(trial.n):
            at = np.r_[0:count, count + OWN * j : count + OWN * (j + 1)]
            cross[at] += self.weights[j] ** 2 * (rows[:, j].T @ C[:, j])
            residual[:, j] = trial.tau[:, j] - rows[:, j] @ now.x[at]
        square = np.einsum("tjk,jl->k", (C * W) ** 2, np.ones((trial.n, 1)))
        left = square - np.einsum("pk,pq,qk->k", cross, now.inverse, cross)
        pull = np.einsum("tjk,tj,j->k", C, residual, self.weights**2)
        felt = left > 1e-9 * np.maximum(square, 1e-300)
        values = np.divide(pull, left, out=np.zeros_like(pull), where=felt)
        return values, np.where(felt, 0.5 * pull * values, 0.0)


def _probable(G: NDArray, h: NDArray, size: float, bodies: _Bodies, strength: float, samples: int) -> Probable:
    """At a strength of the belief."""
    count = len(bodies.centre)
    centre = np.concatenate([bodies.centre, np.zeros(len(h) - count)])
    L = np.zeros_like(G)
    L[:count, :count] = strength * bodies.precision
    k = np.arange(count, len(h))
    L[k, k] = TERMS * np.maximum(np.diag(G)[k], 1e-12 * np.diag(G).max()) / samples
    scale = 1 / np.sqrt(np.diag(G + L))
    H = (G + L) * np.outer(scale, scale) + 1e-11 * np.eye(len(G))
    inverse = np.linalg.inv(H) * np.outer(scale, scale)
    away = inverse @ (h - G @ centre)
    x = centre + away
    misfit = size - 2 * float(x @ h) + float(x @ G @ x) + float(away @ L @ away)
    volume = np.linalg.slogdet(H)[1] - np.linalg.slogdet(L * np.outer(scale, scale) + 1e-14 * np.eye(len(L)))[1]
    return Probable(-0.5 * (misfit + float(volume)), x, inverse)
