"""Points whose convex hull holds a solid about the origin: enough to enclose it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

UNIT_BOX_CORNERS = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T  # of a unit box
SIDES = 24  # of the polygons that stand for circles, around them


def prism(radius: float, length: float) -> NDArray:
    """Corners (P, 3) of a prism around a cylinder along z."""
    ring, top = radius * _ring(), np.array([0, 0, length / 2])
    return np.concatenate([ring - top, ring + top])


def ellipsoid_hull(half_axes: ArrayLike) -> NDArray:
    """Corners (P, 3) of a polyhedron around an ellipsoid, half axes (3,) along x, y, z.

    Of the unit ball: a polygon around its profile, turned; sections across z are polygons around the profile's circles.
    """
    angle = np.pi * np.arange(SIDES // 2 + 1) / (SIDES // 2)
    profile = np.column_stack([np.sin(angle), np.cos(angle)]) / np.cos(np.pi / SIDES)
    rings = [radius * _ring() + np.array([0.0, 0.0, height]) for radius, height in profile]
    return np.concatenate(rings) * np.asarray(half_axes, float)


def _ring() -> NDArray:
    """Corners (SIDES, 3) of a polygon around the unit circle."""
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(SIDES)]) / np.cos(np.pi / SIDES)
