"""Capsules: all points nearer to a line piece than a radius. They stand for links in distances.

Every capsule rides on one link and is given in that link's frame; link 0 is the base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.precision import MAX_ITERATIONS, SIX_DIGITS

# Radii that are tried, over the least one around a direction: a thicker capsule may be shorter.
RADIUS_RATIOS = np.concatenate([np.linspace(1.0, 1.3, 13), np.linspace(1.4, 3.0, 9)])


class Capsule(NamedTuple):
    """The piece from `a` to `b` (3,) [m] of a link's frame with a radius [m]; a ball where both are the same."""

    link: int
    a: NDArray
    b: NDArray
    radius: float
    name: str  # of the link it stands for


def enclosing_capsule(points: NDArray, link: int, name: str) -> Capsule:
    """A small capsule that holds all points (P, 3), and so their convex hull."""
    center = points.mean(0)
    axes = np.linalg.svd(points - center, full_matrices=False)[2] if len(points) > 1 else np.eye(3)
    candidates = [_along(points, axis) for axis in axes]
    _, a, b, radius = min(candidates, key=lambda one: one[0])
    # Where a capsule touches a point, a square root loses half of the digits.
    return Capsule(link, a, b, (1 + SIX_DIGITS) * radius, name)


def _along(points: NDArray, axis: NDArray) -> tuple[float, NDArray, NDArray, float]:
    """The capsule of the least volume along an axis: volume, ends, radius."""
    height = points @ axis
    flat = points - height[:, None] * axis
    middle, _ = enclosing_ball(flat)
    middle = middle - (middle @ axis) * axis
    aside = np.linalg.norm(flat - middle, axis=1)
    best: tuple[float, NDArray, NDArray, float] | None = None
    for radius in RADIUS_RATIOS * aside.max():
        reach = np.sqrt(np.maximum(radius**2 - aside**2, 0.0))
        low, high = (height + reach).min(), (height - reach).max()
        if low > high:  # a ball holds them all
            low = high = (low + high) / 2
        volume = np.pi * radius**2 * (high - low + 4 / 3 * radius)
        if best is None or volume < best[0]:
            best = float(volume), middle + low * axis, middle + high * axis, float(radius)
    assert best is not None
    return best


def enclosing_ball(points: NDArray) -> tuple[NDArray, float]:
    """Centre and radius of a ball around points (P, 3), a per cent larger than the least one at most.

    Badoiu and Clarkson (2003), Smaller core-sets for balls: ever shorter steps to the farthest point.
    """
    center = (points.min(0) + points.max(0)) / 2
    best = center, np.inf
    for k in range(1, MAX_ITERATIONS + 1):
        away = np.linalg.norm(points - center, axis=1)
        far = int(away.argmax())
        if away[far] < best[1]:
            best = center, float(away[far])
        center = center + (points[far] - center) / (k + 1)
    return best
