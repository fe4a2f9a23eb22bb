"""Sums over blocks of rows, from which every fit and every held-out error follows without the rows.

For each block and joint the matrix [Y tau]'[Y tau] is kept. A structure is a choice of columns; its weighted
fit on some blocks and its squared error on others cost one small Cholesky factorisation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.correlation import correlate
from armdyn.identification.fit.rows import OVERSAMPLING, Rows, columns_per_joint
from armdyn.identification.fit.terms import TERMS
from armdyn.identification.limits import CHARACTERISTIC_SHARE, MIN_SECONDS
from armdyn.identification.logs.log import SMALL_SHARE, STILL_TRAVEL
from armdyn.precision import SOLUTION_ERROR

MAX_BLOCKS_PER_LOG = 6  # that are held out of each log in turn
BLOCK_SECONDS = MIN_SECONDS / MAX_BLOCKS_PER_LOG  # shorter blocks are not strange to those beside them
MAX_BLOCKS = 50  # of many logs, each of which has at least one


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
    def of(cls, rows: Rows, block: NDArray | None = None, logs: NDArray | None = None) -> Equations:
        """The sums of rows, cut into blocks of neighbours in time, or into blocks (N,) of logs (blocks,)."""
        if block is None:
            block, logs = _blocks(rows)
        logs = np.zeros(int(block.max()) + 1, int) if logs is None else logs
        blocks = len(logs)
        kinds, _, m = next(iter(rows)).Y.shape
        grams = np.zeros((blocks, kinds, m + 1, m + 1))
        active = [k.start if kinds == rows.base.source.n else 0 for k in columns_per_joint(rows.base)[:kinds]]
        for k, kind, joined in _joined(rows, block):
            some = joined[:, active[kind] :]
            grams[k, kind, active[kind] :, active[kind] :] += some.T @ some
        samples = np.bincount(block, minlength=blocks)
        return cls(grams, samples, rows.base.count, np.ones(grams.shape[1]), rows.base.source.n, logs)

    def updated(self, rows: Rows, columns: NDArray) -> Equations:
        """The sums of rows that differ in some columns, the torque being the last one, in blocks of time."""
        grams = self.grams.copy()
        grams[:, :, columns] = 0.0
        for k, kind, joined in _joined(rows, _blocks(rows)[0]):
            grams[k, kind, columns] += joined[:, columns].T @ joined
        grams[:, :, :, columns] = grams[:, :, columns].swapaxes(2, 3)
        return dataclasses.replace(self, grams=grams)

    def by_phase(self, rows: Rows) -> Equations:
        """The same equations in blocks that hold out all repetitions of a motion, where logs repeat theirs."""
        blocks = _phase_blocks(rows)
        return self if blocks is None else Equations.of(rows, *blocks).with_weights(self.weights)

    @property
    def size(self) -> int:
        """Number of parameters, used or not."""
        return self.count + self.n * len(TERMS)

    def with_weights(self, weights: NDArray) -> Equations:
        """The same sums with other weights."""
        other = dataclasses.replace(self, weights=weights)
        other.__dict__["_sum"] = self._sum
        return other

    @property
    def owns(self) -> NDArray:
        """Positions (kinds, m - 1) of the parameters that a joint's rows, or those of all together, mention."""
        return _owns(self.count, self._terms, len(self.weights))

    @property
    def _terms(self) -> int:
        """Number of joint terms in rows of a kind."""
        return self.grams.shape[-1] - 1 - self.count

    def folds(self, k: NDArray) -> System:
        """The weighted normal equations of each block, stacked, of the parameters at the positions k."""
        return self._systems(self.grams, k)

    def total(self, k: NDArray) -> System:
        """The weighted normal equations of all blocks, of the parameters at the positions k."""
        return System(*(part[0] for part in self._systems(self._sum[None], k)))

    def _systems(self, grams: NDArray, k: NDArray) -> System:
        """Weighted normal equations of sums (blocks, kinds, m, m); k begins with all base parameters."""
        base, W = self.count, self.weights**2
        kind, term_columns = np.divmod(k[base:] - base, self._terms)
        term_columns, weight = base + term_columns, W[kind]
        A, b = np.zeros((len(grams), len(k), len(k))), np.empty((len(grams), len(k)))
        both = (W @ grams.reshape(*grams.shape[:2], -1)).reshape(len(grams), *grams.shape[2:])  # of all kinds together
        A[:, :base, :base], b[:, :base] = both[:, :base, :base], both[:, :base, -1]
        A[:, base:, :base] = weight[:, None] * grams[:, kind, term_columns, :base]
        A[:, :base, base:] = A[:, base:, :base].swapaxes(1, 2)
        i, j = np.nonzero(kind[:, None] == kind)  # terms of different joints are in no row together
        A[:, base + i, base + j] = weight[i] * grams[:, kind[i], term_columns[i], term_columns[j]]
        b[:, base:] = weight * grams[:, kind, term_columns, -1]
        return System(A, b, both[:, -1, -1])

    def errors(self, x: NDArray) -> NDArray:
        """Sums of squared residuals (kinds,) of parameters x (size,), without weights."""
        return _squares(self._sum, x[self.owns])

    @cached_property
    def _sum(self) -> NDArray:
        return self.grams.sum(axis=0)

    @property
    def column_squares(self) -> NDArray:
        """Means over all rows (size,)."""
        squares = np.zeros(self.size)
        np.add.at(squares, self.owns, np.diagonal(self._sum, axis1=1, axis2=2)[:, :-1])
        return squares / self.samples.sum()

    @property
    def powers(self) -> NDArray:
        """Sums of squared torques (kinds,)."""
        return self.grams[:, :, -1, -1].sum(axis=0)

    def relative(self, squares: NDArray) -> float:
        """Relative error of all torques together, from squared errors without weights."""
        return float(np.sqrt(squares.sum() / max(float(self.powers.sum()), 1e-300)))

    def squares(self, fits: NDArray) -> NDArray:
        """Squared errors (blocks, kinds) without weights of parameters (blocks, size), each on its own block."""
        return _squares(self.grams, fits[:, self.owns])

    def fit(self, used: NDArray, precision: NDArray, mean: NDArray) -> NDArray:
        """Parameters (size,), zero where not used, with the least weighted error and distance from the prior's mean."""
        k = np.flatnonzero(used)
        x = np.zeros(self.size)
        x[k] = solve(self.total(k), precision[np.ix_(k, k)], mean[k])
        return x

    def without(self, used: NDArray, precisions: Iterable[NDArray], mean: NDArray) -> Iterator[NDArray]:
        """Parameters (blocks, size) of the fits to all blocks but one, for each precision (size, size)."""
        k = np.flatnonzero(used)
        A, b, _ = self.folds(k)
        A, b = A.sum(axis=0) - A, b.sum(axis=0) - b
        for precision in precisions:
            Q, x = precision[np.ix_(k, k)], np.zeros((len(A), self.size))
            x[:, k] = solve_scaled(A + Q, (b + Q @ mean[k])[..., None])[..., 0]
            yield x


def _joined(rows: Rows, block: NDArray) -> Iterator[tuple[int, int, NDArray]]:
    """Return block, kind and [Y tau] (samples, m) of all rows, of which each has a block (N,)."""
    first = 0
    for part in rows:
        here = block[first : first + part.tau.shape[1]]
        first += len(here)
        for k in np.unique(here).tolist():
            at = np.flatnonzero(here == k)
            run = slice(at[0], at[-1] + 1) if at[-1] - at[0] == len(at) - 1 else at
            for kind, (Y, tau) in enumerate(zip(part.Y, part.tau, strict=True)):
                yield k, kind, np.column_stack([Y[run], tau[run]])


def _blocks(rows: Rows) -> tuple[NDArray, NDArray]:
    """The block of every row, and the number of the log that each block is from: none has rows of two logs."""
    sizes = np.bincount(rows.logs, weights=rows.sizes).astype(int)
    total = len(rows)
    if len(sizes) > MAX_BLOCKS:
        return np.arange(total) * MAX_BLOCKS // total, np.zeros(MAX_BLOCKS, int)
    counts = np.clip((sizes * rows.spacing / BLOCK_SECONDS).astype(int), 1, np.minimum(MAX_BLOCKS_PER_LOG, sizes))
    firsts = np.cumsum(counts) - counts
    parts = [first + np.arange(n) * k // n for first, n, k in zip(firsts, sizes, counts, strict=True)]
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), counts)


def _phase_blocks(rows: Rows) -> tuple[NDArray, NDArray] | None:
    """The same with neighbours in phase in the logs that repeat their motion; None where no log does."""
    block, logs = _blocks(rows)
    log_of_row, times = logs[block], rows.times()
    periods = [_period(rows, number) if len(set(rows.logs)) <= MAX_BLOCKS else None for number in np.unique(logs)]
    for number, period in enumerate(periods):
        if period is not None:
            some = log_of_row == number
            phase = (times[some] - times[some][0]) / period % 1
            block[some] = np.flatnonzero(logs == number)[0] + ((logs == number).sum() * phase).astype(int)
    return (block, logs) if any(periods) else None


def _period(rows: Rows, number: int) -> float | None:
    """Time after which a log repeats its motion [s]; None where it does not."""
    tracks = [track for track, log in zip(rows.tracks, rows.logs, strict=True) if log == number]
    begin, step = tracks[0].t[0], 1 / (OVERSAMPLING * rows.filters.band)
    places = np.concatenate([((track.t - begin) / step).astype(int) for track in tracks])
    logged, first = np.unique(places, return_index=True)
    q = np.concatenate([track.q for track in tracks])[first]
    moving = q.std(axis=0) > STILL_TRAVEL
    first_lag, size = int(BLOCK_SECONDS / step), int(logged[-1]) + 1
    if not moving.any() or size <= first_lag:
        return None
    x, known = np.zeros((size, int(moving.sum()))), np.zeros(size)
    x[logged], known[logged] = ((q - q.mean(axis=0)) / np.maximum(q.std(axis=0), STILL_TRAVEL))[:, moving], 1.0
    # Mean of (x(t + lag) - x(t))^2 / 2 over times at which both are known.
    squares = (x**2).mean(axis=1)
    both = correlate(known, known)
    products = correlate(x, x).mean(axis=1)
    difference = (correlate(squares, known) + correlate(known, squares)) / 2 - products
    repeats = (2 * difference < SMALL_SHARE * both) & (both > CHARACTERISTIC_SHARE * len(logged))
    repeats[:first_lag] = False
    if not repeats.any():
        return None
    least = np.argmax(repeats)
    run = slice(least, least + int(np.argmin(np.append(repeats[least:], False))))
    return float(step * (least + np.argmin((difference / np.maximum(both, 0.5))[run])))


def solve(system: System, precision: NDArray, mean: NDArray) -> NDArray:
    """Parameters (p,) that minimise x'Ax/2 - b'x + (x - mean)' precision (x - mean) / 2.

    Kapadia, equation (4.2), with square roots of the inverse covariances as weights (corrected).
    """
    return solve_scaled(system.A + precision, (system.b + precision @ mean)[:, None])[:, 0]


@lru_cache(maxsize=8)
def _owns(count: int, terms: int, kinds: int) -> NDArray:
    """See `Equations.owns`."""
    term_columns = count + terms * np.arange(kinds)[:, None] + np.arange(terms)
    return np.hstack([np.tile(np.arange(count), (kinds, 1)), term_columns])


def _squares(grams: NDArray, x: NDArray) -> NDArray:
    """Squared residuals (...) of parameters (..., m - 1) in sums (..., m, m)."""
    z = np.concatenate([x, np.full((*x.shape[:-1], 1), -1.0)], axis=-1)
    return np.maximum(np.sum((z[..., None, :] @ grams)[..., 0, :] * z, axis=-1), 0.0)


def solve_scaled(A: NDArray, b: NDArray) -> NDArray:
    """A^-1 b (..., p, k) with columns scaled to unit length; a trace of a ridge keeps unknown directions small."""
    from scipy.linalg.lapack import dposv

    scale = 1 / np.sqrt(np.maximum(np.diagonal(A, axis1=-2, axis2=-1), 1e-300))[..., None]
    scaled = A * (scale * scale.swapaxes(-1, -2))
    np.einsum("...ii->...i", scaled)[...] += SOLUTION_ERROR
    right = scale * b
    solution = np.empty_like(right)
    for k in np.ndindex(A.shape[:-2]):
        _, solution[k], failed = dposv(scaled[k], right[k], lower=1)
        if failed:  # round-off
            solution[k] = np.linalg.solve(scaled[k], right[k])
    return scale * solution
