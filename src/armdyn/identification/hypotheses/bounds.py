"""Evidence that variants of a log can have, of many at once: by it most are out, and need not be fitted one by one.

It is that of `ScreeningRegression.evidence_ratio` with the strengths of the prior that suit the log as it is. Residuals
that are smaller than those of the log as it is count as if neighbours were independent, by which a variant has the most
evidence that it can have, or as those. What free parameters leave bounds how far errors can fall. Joint terms are
eliminated joint by joint (a Schur complement of the normal equations): a variant costs two small factorisations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.evidence import WEAKEST
from armdyn.identification.fit.terms import OFFSET
from armdyn.identification.hypotheses.regression import ROUNDS, SCREENED, ModelDesign, ScreeningRegression
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.precision import NEGLIGIBLE

N_TERMS = len(SCREENED)


class PossibleRatios(NamedTuple):
    """Log evidence ratios and errors of designs: ratios are infinite, errors zero where samples are left out."""

    most: NDArray  # (k,) that they hardly exceed
    usual: NDArray  # (k,)
    errors: NDArray  # (k, n) norms of the torques that free parameters leave
    described: NDArray  # (k,) norms of the torques that the described bodies leave beside friction


def possible_ratios(regression: ScreeningRegression, designs: Sequence[ModelDesign], gain: float) -> PossibleRatios:
    """Ratios of designs; the prior of one that gains more log-likelihood than `gain` may be any: strengths change."""
    n = len(designs)
    ratios = PossibleRatios(np.full(n, np.inf), np.full(n, np.inf), np.zeros((n, regression.n)), np.zeros(n))
    sizes = [d.rigid.shape[2] if d.rows.all() else 0 for d in designs]
    for size in set(sizes) - {0}:
        some = [k for k, c in enumerate(sizes) if c == size]
        for whole, part in zip(ratios, _Batch(regression, [designs[k] for k in some]).ratios(gain), strict=True):
            whole[some] = part
    return ratios


class _Batch:
    """Sums over the rows of designs that have columns alike, and what free parameters leave of their torques."""

    def __init__(self, regression: ScreeningRegression, designs: list[ModelDesign]) -> None:
        self.regression, self.designs = regression, designs
        self.sums = regression.sums(designs)  # (v, n, m, m)
        torque = self.sums[..., -1] / len(regression.tau)  # mean products with the torque, also of the column of ones
        deviations = np.sqrt(np.maximum(torque[..., -1] - torque[..., SCREENED.index(OFFSET)] ** 2, 0.0))
        self.deviations = np.maximum(deviations, 1e-3 * deviations.max(axis=1, keepdims=True))
        self.bodies, k = regression.bodies(designs[0]), np.arange(N_TERMS)
        self.beyond_terms, self.of_terms, _ = _without_terms(self.sums, NEGLIGIBLE * self.sums[..., k, k])
        self.free, self.noise = self._free()

    def ratios(self, gain: float) -> PossibleRatios:
        """Log evidence ratios over the log as it is, and errors."""
        regression, old = self.regression, self.regression.model
        errors, counts = self._measured(self.free), old.counts
        floor = (SMALL_SHARE * regression.deviations) ** 2
        gains = np.log(regression.squares(old.residual) / np.maximum(errors**2 / len(regression.tau), floor))
        usual = 0.5 * gains @ counts
        # No prior costs less than nothing, and what brakes for certain costs nothing.
        most = 0.5 * np.sum(np.where(gains > 0, len(regression.tau), counts) * gains, axis=1)
        ratios = np.stack([most, usual]) - old.prior_cost - old.dissipation
        possible = np.flatnonzero(ratios[0] > 0)
        if len(possible):
            costs = self._prior_costs(possible)
            ratios[1, possible] += costs
            same = self.designs[0].lift is regression.design.lift  # strengths suit the same parameters
            ratios[0, possible] += np.where(same & (usual[possible] < gain), costs, 0.0)
        described = np.zeros(len(errors))
        if regression.described is not None:
            theta = np.stack([design.lift @ regression.described.theta for design in self.designs])
            described = np.linalg.norm(self._measured(theta), axis=1)
        return PossibleRatios(ratios[0], ratios[1], errors, described)

    def _free(self) -> tuple[NDArray, NDArray]:
        """Free parameters (v, c) of the links, and the noise (v, n) by which they were weighed."""
        sums, noise, rows = self.beyond_terms, self.deviations, len(self.regression.tau)
        diagonal = np.arange(sums.shape[-1] - 1)
        for _ in range(ROUNDS):
            whole = (noise[:, None] ** -2 @ sums.reshape(*noise.shape, -1)).reshape(-1, *sums.shape[2:])
            A, b = whole[:, :-1, :-1] + WEAKEST * self.bodies[0][0], whole[:, :-1, -1:]
            scale = 1 / np.sqrt(np.maximum(A[:, diagonal, diagonal], 1e-300))[:, :, None]
            A = A * scale * scale.swapaxes(1, 2)
            A[:, diagonal, diagonal] = 1 + NEGLIGIBLE
            x = (scale * np.linalg.solve(A, scale * b))[..., 0]
            weighed, noise = noise, np.maximum(np.sqrt(self._squares(x) / rows), SMALL_SHARE * self.deviations)
        return np.asarray(x), weighed

    def _squares(self, x: NDArray) -> NDArray:
        """Sums of squares (v, n) that parameters (v, c) of the links leave of the modelled torques, beside friction."""
        z = np.concatenate([x, np.full((len(x), 1), -1.0)], axis=1)[:, None, :, None]
        return np.maximum(np.sum((self.beyond_terms @ z) * z, axis=(2, 3)), 0.0)

    def _measured(self, x: NDArray) -> NDArray:
        """Norms (v, n) of what parameters (v, c) of the links leave of the measured torques, beside friction."""
        mixes = np.stack([design.mix for design in self.designs])
        squares = np.einsum("vj,vji->vi", self._squares(x), mixes**2)
        for k in np.flatnonzero((np.count_nonzero(mixes, axis=1) > 1).any(axis=1)):  # what shafts leave may cancel
            design, friction = self.designs[k], self.of_terms[k, :, :, -1] - self.of_terms[k, :, :, :-1] @ x[k]
            left = design.tau - design.rigid @ x[k] - np.einsum("tjk,jk->tj", design.terms, friction)
            squares[k] = np.sum((left @ design.mix) ** 2, axis=0)
        return np.sqrt(squares)

    def _prior_costs(self, some: NDArray) -> NDArray:
        """Prices of the prior and of friction that drives, with the strengths of the log as it is, of some designs."""
        regression, rows, k = self.regression, len(self.regression.tau), np.arange(N_TERMS)
        squares, all_sums, curves = self._squares(self.free)[some], self.sums[some], regression.friction_curves
        W = regression.model.counts / rows / self.noise[some] ** 2
        size = np.sqrt(all_sums[..., k, k] / rows)
        size = np.maximum(size, 1e-3 * size.max(axis=1, keepdims=True) + 1e-12) / self.deviations[some][:, :, None]
        costs, braking, c = [], [], self.sums.shape[-1] - N_TERMS - 1
        for (Q, mean), other in zip(self.bodies, regression.model.weighings, strict=True):
            base = other.hyperparameters.base * Q
            of_terms = other.hyperparameters.terms[regression.base.count :].reshape(regression.n, -1)
            P = size**2 * of_terms[:, SCREENED]
            sums, slopes, T = _without_terms(W[..., None, None] * all_sums, P)
            whole = sums.sum(axis=1)
            M, b = whole[:, :c, :c] + base, whole[:, :c, c] + base @ mean
            M[:, np.arange(c), np.arange(c)] *= 1 + NEGLIGIBLE
            levers = curves @ slopes  # (v, n, 2, c + 1) of parameters of the links on friction
            right = np.concatenate([b[:, None], levers[..., :c].reshape(len(some), -1, c)], axis=1).swapaxes(1, 2)
            solved = np.linalg.solve(M, right)
            x, spread = solved[..., 0], solved[..., 1:].swapaxes(1, 2).reshape(levers[..., :c].shape)
            misfit = whole[:, c, c] + mean @ base @ mean - np.sum(b * x, axis=1)
            sharper = np.linalg.slogdet(T)[1].sum(axis=1) + np.linalg.slogdet(M)[1] - np.log(P).sum(axis=(1, 2))
            costs.append(-0.5 * (misfit + sharper - np.linalg.slogdet(base)[1]))
            torque = levers[..., c] - (levers[..., :c] @ x[:, None, :, None])[..., 0]
            variance = np.sum(levers[..., :c] * spread, axis=3)
            variance += np.sum(curves * np.linalg.solve(T, curves.swapaxes(1, 2)).swapaxes(2, 3), axis=3)
            std = np.sqrt(np.maximum(variance, 1e-300))
            braking.append(regression.braking(torque.swapaxes(1, 2), std.swapaxes(1, 2)))
        best = np.argmax(costs, axis=0), np.arange(len(some))
        return np.asarray(costs)[best] + np.asarray(braking)[best] + 0.5 * np.sum(W * squares, axis=1)


def _without_terms(sums: NDArray, precision: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Sums (..., c + 1, c + 1) beyond what joint terms of a precision (..., k) explain, how, and sums of these."""
    terms, k = slice(0, N_TERMS), np.arange(N_TERMS)
    T, both = sums[..., terms, terms].copy(), sums[..., terms, N_TERMS:]
    T[..., k, k] = np.maximum(T[..., k, k] + precision, 1e-300)
    slopes = np.linalg.inv(T) @ both
    return sums[..., N_TERMS:, N_TERMS:] - both.swapaxes(-1, -2) @ slopes, slopes, T
