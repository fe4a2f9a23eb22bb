"""Time stamps and rows as loggers write them, made usable: every repair is reported, hopeless ones are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.limits import CHARACTERISTIC_SHARE
from armdyn.identification.logs.log import GAP_PERIODS, GAP_SECONDS
from armdyn.numerals import pluralize


class Repair(NamedTuple):
    """Rows to keep, their times, and what was done."""

    keep: NDArray  # (N,) of bool
    t: NDArray  # times of the rows kept
    notes: list[str]


def repair(t: NDArray, columns: Sequence[NDArray], where: str) -> Repair:
    """Drop rows that cannot be used and make the times rise.

    Parameters
    ----------
    t : ndarray, shape (N,)
        Stamps [s].
    columns : sequence of ndarray, shape (N, k)
        Everything measured, to find missing values and rows sent twice.
    where : str
        Begins the messages of errors.
    """
    notes: list[str] = []
    keep = np.isfinite(t)
    for x in columns:
        keep &= np.isfinite(x).all(axis=1)
    _note_dropped(keep, np.ones_like(keep), "have missing values", notes, where)
    times = _spread(t[keep], notes)
    stale = np.zeros(len(t), bool)
    stale[np.flatnonzero(keep)[_not_rising(times)]] = True
    full = t.copy()
    full[keep] = times
    if stale.sum() > CHARACTERISTIC_SHARE * keep.sum():
        first = int(np.flatnonzero(stale)[0])
        raise ReadError(
            f"time does not rise in {stale.sum()} of {keep.sum()} rows, first in row {first + 1} ({full[first]:g} s)",
            where=where,
            remedy="two runs in one file, not the time column, or stamps rounded to single precision?",
        )
    before = keep.copy()
    keep &= ~stale
    _note_dropped(keep, before, "have a time that is not later than that of the row before", notes, where)
    before = keep.copy()
    keep &= ~_repeats(columns, keep)
    if count := int(before.sum() - keep.sum()):  # however many: what remains may still be enough
        notes.append(f"{count} of {len(keep)} rows repeat the measurement before: dropped")
    _describe(full[keep], notes)
    return Repair(keep, full[keep], notes)


def _note_dropped(keep: NDArray, before: NDArray, why: str, notes: list[str], where: str) -> None:
    count = int(before.sum() - keep.sum())
    if not count:
        return
    if count > CHARACTERISTIC_SHARE * len(keep):
        raise ReadError(
            f"{count} of {len(keep)} rows {why}", where=where, expected=f"at most {CHARACTERISTIC_SHARE:.0%}"
        )
    notes.append(f"{count} of {len(keep)} rows {why}: dropped")


def _spread(t: NDArray, notes: list[str]) -> NDArray:
    """Stamps rounded so coarsely that several rows share one, spread evenly."""
    steps = np.diff(t)
    if len(t) < 2 or (steps < 0).any() or (steps == 0).mean() <= CHARACTERISTIC_SHARE or t[-1] == t[0]:
        return t
    first = np.flatnonzero(np.r_[True, steps > 0])
    notes.append(f"stamps are rounded: {len(t)} rows share {len(first)} stamps; spread evenly")
    # The last stamp's rows go on at the usual pace.
    pace = (t[-1] - t[0]) / first[-1]
    return np.interp(np.arange(len(t)), np.r_[first, len(t)], np.r_[t[first], t[-1] + pace * (len(t) - first[-1])])


def _not_rising(t: NDArray) -> NDArray:
    """Rows that are not later than all before."""
    if len(t) == 0:
        return np.zeros(0, bool)
    return np.r_[False, t[1:] <= np.maximum.accumulate(t)[:-1]]


def _repeats(columns: Sequence[NDArray], keep: NDArray) -> NDArray:
    """Rows in which a reader got the previous packet again: all equal, and not for long (an arm at rest)."""
    index = np.flatnonzero(keep)
    same = np.ones(len(index), bool)
    same[:1] = False
    for x in columns:
        values = x if len(index) == len(x) else x[index]
        same[1:] &= (values[1:] == values[:-1]).all(axis=1)
    lone = same & ~np.r_[same[1:], False] & ~np.r_[False, same[:-1]]
    repeats = np.zeros(len(keep), bool)
    repeats[index[lone]] = True
    return repeats


def _describe(t: NDArray, notes: list[str]) -> None:
    if len(t) < 3:
        return
    steps = np.diff(t)
    usual = np.median(steps)
    low, high = np.percentile(steps, (1, 99))
    if high - low > 0.1 * usual:
        notes.append(f"stamps jitter: 98 % of the steps are {1e3 * low:.2g} to {1e3 * high:.2g} ms; resampled evenly")
    gaps = np.flatnonzero(steps > max(GAP_PERIODS * usual, GAP_SECONDS))
    if len(gaps):
        where = ", ".join(f"{steps[k]:.2g} s at {t[k] - t[0]:.2f} s" for k in gaps[:5])
        notes.append(
            f"{pluralize(len(gaps), 'gap')} ({where}{' ...' if len(gaps) > 5 else ''}): the parts are used separately"
        )
