"""Where line pieces, the axes of capsules, come nearest to each other and to obstacles.

Pieces lead from `a` to `a + way`, arrays (..., 3); places on them are parts from 0 to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.shapes.obstacles import Box, HalfSpace, Obstacle


class Nearest(NamedTuple):
    """Nearest points of two pieces: places (...) on both, the distance (...), the unit vector (..., 3) from second to
    first.
    """

    s: NDArray
    t: NDArray
    distance: NDArray
    away: NDArray


def between_pieces(a: NDArray, d: NDArray, r: NDArray, e: NDArray) -> Nearest:
    """Return where the pieces a + s d and r + t e are nearest; either may be a point.

    Ericson (2005), Real-Time Collision Detection, section 5.1.9.
    """
    w = a - r
    dd, de, ee = (d * d).sum(-1), (d * e).sum(-1), (e * e).sum(-1)
    dw, ew = (d * w).sum(-1), (e * w).sum(-1)
    tiny = np.finfo(float).tiny
    det = dd * ee - de * de
    s = np.clip(np.where(det > 1e-12 * dd * ee, (de * ew - ee * dw) / np.maximum(det, tiny), 0.0), 0, 1)
    t = (de * s + ew) / np.maximum(ee, tiny)
    s = np.where(t < 0, _part(-dw, dd), np.where(t > 1, _part(de - dw, dd), np.where(ee > 0, s, _part(-dw, dd))))
    t = np.clip(t, 0, 1)
    gap = w + s[..., None] * d - t[..., None] * e
    distance = np.linalg.norm(gap, axis=-1)
    return Nearest(s, t, distance, gap / np.maximum(distance, 1e-12)[..., None])


def _part(numerator: NDArray, square: NDArray) -> NDArray:
    """numerator / square, within 0 and 1; zero for a point."""
    return np.clip(np.where(square > 0, numerator / np.where(square > 0, square, 1.0), 0.0), 0, 1)


class ToObstacle(NamedTuple):
    """Point of a piece nearest to an obstacle: the place (...), the signed distance (...) and the way out (..., 3)."""

    s: NDArray
    distance: NDArray
    away: NDArray


def to_obstacle(a: NDArray, way: NDArray, obstacle: Obstacle) -> ToObstacle:
    """Return where pieces a + s way are nearest to an obstacle, or deepest in it."""
    if isinstance(obstacle, HalfSpace):
        s = np.where(way @ obstacle.normal < 0, 1.0, 0.0)
    elif isinstance(obstacle, Box):
        rows = _to_box(a.reshape(-1, 3), way.reshape(-1, 3), obstacle)
        return ToObstacle(*(x.reshape(*a.shape[:-1], *x.shape[1:]) for x in rows))
    else:
        s = _part(((obstacle.center - a) * way).sum(-1), (way * way).sum(-1))
    distance, away = obstacle.distance(a + s[..., None] * way)
    return ToObstacle(s, distance, away)


def _to_box(a: NDArray, way: NDArray, box: Box) -> ToObstacle:
    R, half = box.T[:3, :3], box.size / 2
    a, way = (a - box.T[:3, 3]) @ R, way @ R
    s = nearest_to_box(a, way, half)
    p = a + s[:, None] * way
    free = _beyond(p, half)
    away = np.sign(p) * np.maximum(np.abs(p) - half, 0.0)
    away /= np.maximum(free, 1e-12)[:, None]
    within = np.flatnonzero(free <= 0)
    s[within], away[within] = _deepest(a[within], way[within], half)
    free[within] = _beyond(a[within] + s[within, None] * way[within], half)
    return ToObstacle(s, free, away @ R.T)


def nearest_to_box(a: NDArray, way: NDArray, half: NDArray) -> NDArray:
    """Return where (N,) pieces are nearest to a box of half edges (3,) about the origin.

    The square of the distance is convex in s, and its slope straight between the places where the line crosses the
    planes of the walls.
    """
    N = len(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = np.concatenate([(-half - a) / way, (half - a) / way], axis=1)
    cuts = np.nan_to_num(np.clip(cuts, 0, 1))
    s = np.sort(np.concatenate([np.zeros((N, 1)), cuts, np.ones((N, 1))], axis=1), axis=1)
    p = a[:, None] + s[..., None] * way[:, None]
    outward = np.sign(p) * np.maximum(np.abs(p) - half, 0.0)
    slope = (outward * way[:, None]).sum(-1)
    # It rises: the last place where it is below zero, or the first, and on along the straight line to zero.
    rows, last = np.arange(N), s.shape[1] - 2
    k = np.clip((slope < 0).sum(1) - 1, 0, last)
    rise = slope[rows, k + 1] - slope[rows, k]
    part = np.divide(-slope[rows, k], rise, out=np.zeros(N), where=rise > 0)
    return s[rows, k] + np.clip(part, 0, 1) * (s[rows, k + 1] - s[rows, k])


def _deepest(a: NDArray, way: NDArray, half: NDArray) -> tuple[NDArray, NDArray]:
    """Return where (N,) pieces are deepest in a box, and how the depth there changes with the place (N, 3).

    It is where the piece ends, or where two walls are equally near: as much of both then as leaves no change along
    the piece.
    """
    start, rate = np.concatenate([-half - a, a - half], axis=1), np.concatenate([-way, way], axis=1)
    i, j = np.triu_indices(6, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        equal = np.nan_to_num(np.clip((start[:, j] - start[:, i]) / (rate[:, i] - rate[:, j]), 0, 1))
        share = np.nan_to_num(np.clip(rate[:, j] / (rate[:, j] - rate[:, i]), 0, 1))
    s = np.concatenate([np.zeros((len(a), 1)), np.ones((len(a), 1)), equal], axis=1)
    best = _beyond(a[:, None] + s[..., None] * way[:, None], half).argmin(1)
    rows, normals = np.arange(len(a)), np.concatenate([-np.eye(3), np.eye(3)])
    depth = s[rows, best]
    pair = np.maximum(best - 2, 0)
    both = share[rows, pair, None] * normals[i[pair]] + (1 - share[rows, pair, None]) * normals[j[pair]]
    one = normals[(start + depth[:, None] * rate).argmax(1)]
    return depth, np.where((best < 2)[:, None], one, both)


def _beyond(p: NDArray, half: NDArray) -> NDArray:
    """Signed distance (...) of points (..., 3) from a box about the origin."""
    beyond = np.abs(p) - half
    inside = beyond.max(-1)
    return np.where(inside > 0, np.sqrt((np.maximum(beyond, 0.0) ** 2).sum(-1)), inside)
