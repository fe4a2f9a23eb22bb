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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.trajectory.protocol import GRID_RATE_HZ

REFINEMENT = 8  # samples for one in a finer grid
MAX_REFINEMENTS = 3  # finer grids, one within the other


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

    def bounds(t: NDArray) -> SlackBounds:
        s = slack(t)
        lower, change = np.minimum(s[:-1], s[1:]) - _dips(s), np.abs(np.diff(s, axis=0))
        return SlackBounds(lower, (lower < change).any(1) & (np.minimum(s[:-1], s[1:]) >= 0).all(1))

    # One interval more on each side, so that bends at the ends are seen.
    return refined_least(bounds, grid(duration, rate), beside=1)


class SlackBounds(NamedTuple):
    """Lower bounds (N - 1, s) of slacks between the times of a grid, and where (N - 1,) a finer grid may raise them."""

    lower: NDArray
    is_rough: NDArray


def grid(duration: float, rate: float = GRID_RATE_HZ) -> NDArray:
    """Times from 0 to a duration, at least `rate` a second."""
    return np.linspace(0.0, duration, max(4, int(np.ceil(duration * rate))) + 1)


def refined_least(
    bounds: Callable[[NDArray], SlackBounds], t: NDArray, refinements: int = MAX_REFINEMENTS, beside: int = 0
) -> float:
    """The least of lower bounds on a grid, with finer grids, one within the other, where they are rough.

    Finer grids begin and end `beside` so many intervals more. Infinite if there is nothing to bound.
    """
    lower, is_rough = bounds(t)
    if not refinements or not is_rough.any():
        return float(lower.min(initial=np.inf))
    least = float(lower[~is_rough].min(initial=np.inf))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_rough.astype(int), [0]])))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        first, last = max(first - beside, 0), min(last + beside, len(t) - 1)
        part = np.linspace(t[first], t[last], REFINEMENT * (last - first) + 1)
        least = min(least, refined_least(bounds, part, refinements - 1, beside))
    return least


def _dips(s: NDArray) -> NDArray:
    """Return bounds (N - 1, s) of how far slacks may fall below the ends of their intervals."""
    bend = np.maximum(0.0, np.diff(s, 2, axis=0))
    none = np.zeros((1, s.shape[1]))
    bend = np.concatenate([none, bend, none])
    one, two = bend[:-1], bend[1:]
    return np.divide(one * two, one + two, out=np.zeros_like(one), where=one + two > 0)
