"""Sums over blocks of rows, from which every fit and every held-out error follows without the rows.

For each block and joint the matrix [Y tau]'[Y tau] is kept. A structure is a choice of columns; its weighted
fit on some blocks and its squared error on others cost one small Cholesky factorisation.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.rows import Rows
from armdyn.identification.fit.terms import TERMS

BLOCKS = 6  # that are held out of each log in turn
BLOCK_SECONDS = 1.5  # s: shorter blocks are not strange to those beside them
FEWEST_BLOCKS = 3  # without which nothing is chosen by held-out error
MOST_BLOCKS = 50  # of many logs, each of which has at least one


class System(NamedTuple):
    """Weighted normal equations A x = b of all parameters: base ones, then terms joint by joint."""

    A: NDArray  # (..., p, p)
    b: NDArray  # (..., p)
    c: NDArray  # (...), weighted squares of the torques


@dataclass(frozen=True, eq=False)
class Equations:
    """Block sums; parameters are `count` base ones, then for each joint its `len(TERMS)` terms.

    Rows are those of the n joints, each with its own terms, or one kind with the terms of all (energy).
    """

    grams: NDArray  # (blocks, kinds, m, m) with m = count + terms + 1, the torque last
    samples: NDArray  # (blocks,) rows of each kind in each block
    count: int
    weights: NDArray  # (kinds,) 1 / standard deviation of the residual
    n: int  # joints
    logs: NDArray  # (blocks,) number of the log that each block is from; all zero where logs are too many to tell

    @classmethod
    def of(cls, rows: Rows, count: int, block: NDArray | None = None) -> Equations:
        """The sums of rows, cut into blocks of neighbours in time, or into those that are given (N,)."""
        block, logs = _blocks(rows) if block is None else (block, np.zeros(int(block.max()) + 1, int))
        blocks = len(logs)
        grams, first = np.zeros((0, 0, 0, 0)), 0
        for part in rows:
            joined = np.concatenate([part.Y, part.tau[..., None]], axis=2)
            kinds, _, m = joined.shape
            grams = grams if len(grams) else np.zeros((blocks, kinds, m, m))
            here = block[first : first + part.tau.shape[1]]
            for k in np.unique(here):
                some = joined[:, here == k]
                grams[k] += some.transpose(0, 2, 1) @ some
            first += len(here)
        samples = np.bincount(block, minlength=blocks)
        return cls(grams, samples, count, np.ones(grams.shape[1]), rows.base.source.n, logs)

    @property
    def size(self) -> int:
        """Number of parameters, used or not."""
        return self.count + self.n * len(TERMS)

    def weighted(self, weights: NDArray) -> Equations:
        """The same sums with other weights."""
        other = dataclasses.replace(self, weights=weights)
        other.__dict__["_sum"] = self._sum
        return other

    def own(self, kind: int) -> NDArray:
        """Positions of the parameters that a joint's rows, or those of all together, mention."""
        terms = self.grams.shape[-1] - 1 - self.count
        first = self.count + kind * terms
        return np.r_[0 : self.count, first : first + terms]

    @cached_property
    def folds(self) -> System:
        """The weighted normal equations of each block, stacked."""
        return self._systems(self.grams)

    @cached_property
    def total(self) -> System:
        """The weighted normal equations of all blocks."""
        return System(*(part[0] for part in self._systems(self._sum[None])))

    def _systems(self, grams: NDArray) -> System:
        """Weighted normal equations of sums (blocks, kinds, m, m)."""
        blocks, terms = len(grams), grams.shape[-1] - 1 - self.count
        A = np.zeros((blocks, self.size, self.size))
        b, c = np.zeros((blocks, self.size)), np.zeros(blocks)
        for kind, weight in enumerate(self.weights):
            gram = weight**2 * grams[:, kind]
            base, own = slice(0, self.count), slice(self.count + kind * terms, self.count + (kind + 1) * terms)
            A[:, base, base] += gram[:, base, base]
            A[:, base, own] = gram[:, base, self.count : -1]
            A[:, own, base] = gram[:, self.count : -1, base]
            A[:, own, own] = gram[:, self.count : -1, self.count : -1]
            b[:, base] += gram[:, base, -1]
            b[:, own] = gram[:, self.count : -1, -1]
            c += gram[:, -1, -1]
        return System(A, b, c)

    def errors(self, x: NDArray, block: int | None = None) -> NDArray:
        """Sums of squared residuals (kinds,) of parameters x (size,), on one block or all, without weights."""
        grams = self._sum if block is None else self.grams[block]
        found = []
        for kind, gram in enumerate(grams):
            z = np.append(x[self.own(kind)], -1.0)
            found.append(max(float(z @ gram @ z), 0.0))
        return np.array(found)

    @cached_property
    def _sum(self) -> NDArray:
        return self.grams.sum(axis=0)

    @property
    def felt(self) -> NDArray:
        """Mean squares (size,) of the columns."""
        found = np.zeros(self.size)
        for kind, gram in enumerate(self._sum):
            np.add.at(found, self.own(kind), np.diag(gram)[:-1])
        return found / self.samples.sum()

    @property
    def powers(self) -> NDArray:
        """Sums of squared torques (kinds,)."""
        return self.grams[:, :, -1, -1].sum(axis=0)

    def relative(self, fits: NDArray) -> float:
        """Relative error without weights of parameters (blocks, size), each on its own block."""
        return float(np.sqrt(self.squares(fits).sum() / max(self.powers.sum(), 1e-300)))

    def squares(self, fits: NDArray) -> NDArray:
        """Squared errors (blocks, kinds) without weights of parameters (blocks, size), each on its own block."""
        found = np.empty((len(self.grams), len(self.weights)))
        for kind in range(len(self.weights)):
            z = np.concatenate([fits[:, self.own(kind)], -np.ones((len(fits), 1))], axis=1)
            found[:, kind] = np.einsum("bi,bij,bj->b", z, self.grams[:, kind], z)
        return np.maximum(found, 0.0)

    def without(self, used: NDArray, precision: NDArray, prior: NDArray) -> NDArray:
        """Parameters (blocks, size) of the fits to all blocks but one."""
        k = np.flatnonzero(used)
        A, b = self.folds.A[:, k[:, None], k], self.folds.b[:, k]
        Q = precision[np.ix_(k, k)]
        x = np.zeros((len(A), self.size))
        x[:, k] = solve_scaled(A.sum(axis=0) - A + Q, (b.sum(axis=0) - b + Q @ prior[k])[..., None])[..., 0]
        return x

    def held_out(self, used: NDArray, precision: NDArray, prior: NDArray) -> NDArray:
        """Weighted squared error (blocks,) of each block under the fit to all others."""
        k = np.flatnonzero(used)
        A, b = self.folds.A[:, k[:, None], k], self.folds.b[:, k]
        x = self.without(used, precision, prior)[:, k]
        return np.sum(x * ((A @ x[..., None])[..., 0] - 2 * b), axis=1) + self.folds.c

    def held_out_adding(self, used: NDArray, more: NDArray, precision: NDArray, prior: NDArray) -> NDArray:
        """`held_out` (len(more), blocks) with one further parameter at a time, those at the positions `more`.

        One factorisation serves all of them (Schur complements).
        """
        k = np.concatenate([np.flatnonzero(used), more])
        u, more = np.arange(len(k) - len(more)), np.arange(len(k) - len(more), len(k))
        A, b = self.folds.A[:, k[:, None], k], self.folds.b[:, k]
        train = self.total.A[k[:, None], k] - A + precision[k[:, None], k]
        right = self.total.b[k] - b + (precision @ prior)[k]
        G, own = train[:, u[:, None], more], train[:, more, more]
        found = solve_scaled(train[:, u[:, None], u], np.concatenate([right[:, u, None], G], axis=2))
        x, W = found[..., :1], found[..., 1:]
        left = own - np.sum(G * W, axis=1)
        # A column that depends on the others adds nothing.
        y = np.where(left > 1e-10 * own, (right[:, more] - np.sum(G * x, axis=1)) / np.where(left > 0, left, 1.0), 0.0)
        X = x - W * y[:, None, :]
        squares = np.sum(X * (A[:, u[:, None], u] @ X - 2 * b[:, u, None]), axis=1)
        squares += y * (2 * np.sum(A[:, u[:, None], more] * X, axis=1) + A[:, more, more] * y - 2 * b[:, more])
        return (squares + self.folds.c[:, None]).T


def _blocks(rows: Rows) -> tuple[NDArray, NDArray]:
    """The block of every row, and the number of the log that each block is from: none has rows of two logs."""
    sizes = np.bincount(rows.logs, weights=rows.sizes).astype(int)
    total = len(rows)
    if len(sizes) > MOST_BLOCKS:
        return np.arange(total) * MOST_BLOCKS // total, np.zeros(MOST_BLOCKS, int)
    counts = np.clip((sizes * rows.spacing / BLOCK_SECONDS).astype(int), 1, np.minimum(BLOCKS, sizes))
    firsts = np.cumsum(counts) - counts
    parts = [first + np.arange(n) * k // n for first, n, k in zip(firsts, sizes, counts, strict=True)]
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), counts)


def solve(system: System, used: NDArray, precision: NDArray, prior: NDArray) -> NDArray:
    """Parameters (size,) that minimise x'Ax/2 - b'x + (x - prior)' precision (x - prior) / 2 over the used ones.

    Kapadia, equation (4.2), with square roots of the inverse covariances as weights (corrected).
    """
    k = np.flatnonzero(used)
    Q = precision[np.ix_(k, k)]
    x = np.zeros(len(used))
    x[k] = solve_scaled(system.A[np.ix_(k, k)] + Q, (system.b[k] + Q @ prior[k])[:, None])[:, 0]
    return x


def solve_scaled(A: NDArray, b: NDArray) -> NDArray:
    """A^-1 b (..., p, k) with columns scaled to unit length; a trace of a ridge keeps unknown directions small."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(A, axis1=-2, axis2=-1), 1e-300))[..., None]
    scaled = A * (scale * scale.swapaxes(-1, -2)) + 1e-11 * np.eye(A.shape[-1])
    return scale * np.linalg.solve(scaled, scale * b)
