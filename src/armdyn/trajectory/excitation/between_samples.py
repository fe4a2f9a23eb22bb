"""Slacks of a motion between the samples at which they are computed.

A slack s(t) sampled every h falls below both ends of an interval by no more than

    d_k d_{k+1} / (d_k + d_{k+1}),   d_k = max(0, s_{k+1} - 2 s_k + s_{k-1}),

exactly so for two straight pieces that meet in the interval (a distance whose nearest points change), and four
times less for a parabola. So the bound is right as long as an interval holds one bend at most; motions of some
hertz have none that are finer than a millisecond. Friction makes jumps, of which samples see but one side: where
the next sample might break the limit the grid is made finer. The first and the last interval are taken to be
without a bend: there a motion begins and ends, and dry friction with it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

GRID_RATE_HZ = 1000.0  # samples per second of the first grid
REFINEMENT = 8  # samples for one in a finer grid
MOST_REFINEMENTS = 2  # finer grids, one within the other


def least_between(slack: Callable[[NDArray], NDArray], duration: float, rate: float = GRID_RATE_HZ) -> float:
    """A lower bound of slacks `slack(t)` (N, s), t (N,), at all times from 0 to `duration`; infinite if there are none.

    Parameters
    ----------
    slack : callable
    duration : float
        [s].
    rate : float
        Samples a second of the first grid.
    """
    steps = max(4, int(np.ceil(duration * rate)))
    return _least(slack, np.linspace(0.0, duration, steps + 1), MOST_REFINEMENTS)


def _least(slack: Callable[[NDArray], NDArray], t: NDArray, levels: int) -> float:
    s = slack(t)
    if s.shape[1] == 0:
        return np.inf
    bound = np.minimum(s[:-1], s[1:]) - _dips(s)
    change = np.abs(np.diff(s, axis=0))
    close = (bound < change).any(1) & (np.minimum(s[:-1], s[1:]) >= 0).all(1)
    if not levels or not close.any():
        return float(bound.min())
    least = float(bound[~close].min(initial=np.inf))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], close.astype(int), [0]])))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        # One interval more on each side, so that bends at the ends are seen.
        first, last = max(first - 1, 0), min(last + 1, len(t) - 1)
        part = np.linspace(t[first], t[last], REFINEMENT * (last - first) + 1)
        least = min(least, _least(slack, part, levels - 1))
    return least


def _dips(s: NDArray) -> NDArray:
    """How far (N - 1, s) slacks may fall below the ends of their intervals."""
    bend = np.maximum(0.0, np.diff(s, 2, axis=0))
    none = np.zeros((1, s.shape[1]))
    bend = np.concatenate([none, bend, none])
    one, two = bend[:-1], bend[1:]
    return np.divide(one * two, one + two, out=np.zeros_like(one), where=one + two > 0)
