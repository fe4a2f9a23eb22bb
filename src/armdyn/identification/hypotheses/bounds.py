"""Evidence that variants of a log can have, of many at once: by it most are out, and need not be fitted one by one.

It is that of `ScreeningRegression.evidence_ratio` with two simplifications: the price of the prior is that of strengths
that suit the log as it is, and friction brakes. Residuals that are smaller than those of the log as it is count as if
neighbours were independent, by which a variant has the most evidence that it can have, or as those. Joint terms are
eliminated joint by joint (a Schur complement of the normal equations): a variant costs two small factorisations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.hypotheses.regression import MODEL_ERROR, ROUNDS, SCREENED, ModelDesign, ScreeningRegression

N_TERMS = len(SCREENED)
RIDGE = 1e-9  # of columns with unit length, which keeps unknown directions small


class PossibleRatios(NamedTuple):
    """Log evidence ratios of designs, each (k,): infinite where samples are left out."""

    most: NDArray  # that they hardly exceed
    usual: NDArray
    likelihood: NDArray  # the part of the usual one that no prior changes


def possible_ratios(regression: ScreeningRegression, designs: Sequence[ModelDesign], gain: float) -> PossibleRatios:
    """Ratios of designs; the prior of one that gains more log-likelihood than `gain` may be any: strengths change."""
    ratios = np.full((3, len(designs)), np.inf)
    sizes = [d.rigid.shape[2] if d.rows.all() else 0 for d in designs]
    for size in set(sizes) - {0}:
        some = [k for k, c in enumerate(sizes) if c == size]
        ratios[:, some] = _Batch(regression, [designs[k] for k in some]).ratios(gain)
    most, usual, likelihood = ratios
    brakes = regression.model.dissipation
    return PossibleRatios(most - brakes, usual - brakes, likelihood)


class _Batch:
    """Sums over the rows of designs that have columns alike, and what free parameters leave of their torques."""

    def __init__(self, regression: ScreeningRegression, designs: list[ModelDesign]) -> None:
        self.regression, self.designs = regression, designs
        self.sums = np.stack([regression.sums(design) for design in designs])  # (v, n, m, m)
        deviations = np.stack([design.tau.std(axis=0) for design in designs])
        self.deviations = np.maximum(deviations, 1e-3 * deviations.max(axis=1, keepdims=True))
        self.squares = self._free_squares()

    def ratios(self, gain: float) -> NDArray:
        """Log evidence ratios (3, v) over the log as it is, see `PossibleRatios`."""
        regression = self.regression
        mixes, before = np.abs([design.mix for design in self.designs]), regression.squares(regression.model.residual)
        parts = np.sqrt(self.squares / len(regression.tau))[:, :, None] * mixes
        left = np.maximum(2 * parts.max(axis=1) - parts.sum(axis=1), 0.0)  # at least: torques may cancel
        gains = np.log(before / np.maximum(left, MODEL_ERROR * regression.deviations) ** 2)
        counts = regression.counts(regression.model.residual)
        most = 0.5 * np.sum(np.where(gains > 0, len(regression.tau), counts) * gains, axis=1)
        usual = 0.5 * gains @ counts
        # No prior costs less than nothing.
        ratios = np.stack([most - regression.model.prior_cost, usual - regression.model.prior_cost, usual])
        possible = np.flatnonzero((ratios[0] > 0) & (usual < gain))
        if len(possible) and self.designs[0].rigid.shape[2] == regression.base.count:  # else its parameters are others
            old = _Batch(regression, [regression.design])._prior_costs(np.arange(1))
            ratios[:2, possible] += regression.model.prior_cost + self._prior_costs(possible) - old
        return ratios

    def _free_squares(self) -> NDArray:
        """Sums of squares (v, n) that free parameters leave of the modelled torques."""
        rows, k = len(self.regression.tau), np.arange(N_TERMS)
        sums, _ = _without_terms(self.sums, RIDGE * self.sums[..., k, k])
        noise, diagonal = self.deviations, np.arange(sums.shape[-1] - 1)
        for _ in range(ROUNDS):
            whole = np.einsum("vj,vjab->vab", noise**-2, sums, optimize=True)
            A, b = whole[:, :-1, :-1], whole[:, :-1, -1:]
            scale = 1 / np.sqrt(np.maximum(A[:, diagonal, diagonal], 1e-300))[:, :, None]
            A = A * scale * scale.swapaxes(1, 2)
            A[:, diagonal, diagonal] = 1 + RIDGE
            x = scale * np.linalg.solve(A, scale * b)
            z = np.concatenate([x, np.full((len(x), 1, 1), -1.0)], axis=1)[:, None]
            squares = np.maximum(np.sum((sums @ z) * z, axis=(2, 3)), 0.0)
            noise = np.maximum(np.sqrt(squares / rows), MODEL_ERROR * self.deviations)
        return np.asarray(squares)

    def _prior_costs(self, some: NDArray) -> NDArray:
        """Prices of the prior for some designs, with the strengths of the log as it is."""
        regression, rows, k = self.regression, len(self.regression.tau), np.arange(N_TERMS)
        squares, deviations, all_sums = self.squares[some], self.deviations[some], self.sums[some]
        noise = np.maximum(np.sqrt(squares / rows), MODEL_ERROR * deviations)
        W = regression.counts(regression.model.residual) / rows / noise**2
        size = np.sqrt(all_sums[..., k, k] / rows)
        size = np.maximum(size, 1e-3 * size.max(axis=1, keepdims=True) + 1e-12) / deviations[:, :, None]
        costs, c = [], regression.base.count
        for (Q, centre), other in zip(regression.bodies[c], regression.model.weighings, strict=True):
            base, of_terms = other.strengths.base * Q, other.strengths.terms[c:].reshape(regression.n, -1)
            P = size**2 * of_terms[:, SCREENED]
            sums, T = _without_terms(W[..., None, None] * all_sums, P)
            whole = sums.sum(axis=1)
            M, b = whole[:, :c, :c] + base, whole[:, :c, c] + base @ centre
            M[:, np.arange(c), np.arange(c)] *= 1 + RIDGE
            misfit = whole[:, c, c] + centre @ base @ centre - np.sum(b * np.linalg.solve(M, b[..., None])[..., 0], 1)
            sharper = np.linalg.slogdet(T)[1].sum(axis=1) + np.linalg.slogdet(M)[1] - np.log(P).sum(axis=(1, 2))
            costs.append(-0.5 * (misfit + sharper - np.linalg.slogdet(base)[1]))
        return np.asarray(np.max(costs, axis=0) + 0.5 * np.sum(W * squares, axis=1))


def _without_terms(sums: NDArray, precision: NDArray) -> tuple[NDArray, NDArray]:
    """Sums (..., c + 1, c + 1) beyond what joint terms of a precision (..., k) explain, and sums of these."""
    terms, k = slice(0, N_TERMS), np.arange(N_TERMS)
    T, both = sums[..., terms, terms].copy(), sums[..., terms, N_TERMS:]
    T[..., k, k] = np.maximum(T[..., k, k] + precision, 1e-300)
    return sums[..., N_TERMS:, N_TERMS:] - both.swapaxes(-1, -2) @ np.linalg.solve(T, both), T
