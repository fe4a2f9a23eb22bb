"""Distances of line pieces: least among sampled points, right ways apart."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.shapes.distances import between_pieces, to_obstacle
from armdyn.shapes.obstacles import Box, HalfSpace, Sphere
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform


def test_distances_of_pieces_are_least():
    rng = np.random.default_rng(1)
    a, d, r, e = rng.normal(size=(4, 200, 3))
    d[:20] = 0  # points
    e[10:30] = 0
    e[40:60] = 0.7 * d[40:60]  # parallel
    found = between_pieces(a, d, r, e)
    s = np.linspace(0, 1, 60)
    one, two = a[:, None] + s[:, None] * d[:, None], r[:, None] + s[:, None] * e[:, None]
    sampled = np.linalg.norm(one[:, :, None] - two[:, None], axis=3).min((1, 2))
    assert (found.distance <= sampled + 1e-12).all()
    # A grid of sixty points on pieces about two long is this coarse.
    assert (sampled - found.distance).max() < 0.1
    gap = (a + found.s[:, None] * d) - (r + found.t[:, None] * e)
    np.testing.assert_allclose(found.distance[:, None] * found.away, gap, atol=1e-9)


OBSTACLES = (
    Box(transform(from_rpy([0.2, 0.5, -0.7]), [0.1, 0.0, -0.1]), np.array([0.6, 0.4, 0.8])),
    HalfSpace(np.array([0.0, 0.6, 0.8]), -0.1),
    Sphere(np.array([0.2, 0.1, 0.0]), 0.4),
)


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda o: o.name)
def test_distances_of_pieces_from_obstacles_are_least(obstacle):
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-1, 1, (2, 300, 3))
    a[::7] = b[::7]
    if isinstance(obstacle, Box):  # along its walls
        b[::3] = a[::3] + obstacle.T[:3, 0] * rng.uniform(-1, 1, (100, 1))
    s, distance, away = to_obstacle(a, b - a, obstacle)
    along = a[:, None] + np.linspace(0, 1, 400)[:, None] * (b - a)[:, None]
    sampled = obstacle.distance(along)[0].min(1)
    assert (distance <= sampled + 1e-6).all()
    # Points of a piece at most 3.5 long are this far apart.
    assert (sampled - distance).max() < 0.01
    assert ((s >= 0) & (s <= 1)).all()
    # Moving the whole piece along the way apart makes it as much freer.
    further = to_obstacle(a + 1e-6 * away, b - a, obstacle).distance
    outside = distance > 1e-5
    np.testing.assert_allclose((further - distance)[outside], 1e-6, rtol=1e-3)
