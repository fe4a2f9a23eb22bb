"""The kernel of distances that fall short, against the distances themselves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.shapes.bodies import Bodies, bodies_of
from armdyn.shapes.obstacles import HalfSpace, Sphere
from armdyn.trajectory.excitation import clearance
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.crowding import shortfall

WALL = HalfSpace(np.array([0.6, 0.0, 0.8]), -0.3)
LAMP = Sphere(np.array([0.3, 0.3, 0.5]), 0.2)


def points(bodies: Bodies) -> Bodies:
    """Every second capsule a ball."""
    balls = [one._replace(b=one.a) if k % 2 else one for k, one in enumerate(bodies.capsules)]
    return dataclasses.replace(bodies, capsules=tuple(balls))


@pytest.mark.parametrize("name", ["puma560", "panda", "ur10", "stanford"])
@pytest.mark.parametrize("shaped", [lambda bodies: bodies, points], ids=["capsules", "balls"])
@pytest.mark.by_day(4)
def test_it_agrees_with_distances(name, shaped):
    arm = getattr(armdyn.arms, name)()
    near = Clearance(shaped(bodies_of(arm)), (WALL,))
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (200, arm.n))
    q[0] = 0  # axes in line with each other
    squares, dq = shortfall(near._crowd, q, np.array(0.3))
    plain = near._shortfall(near._near, q, 0.3)
    assert (plain.squares > 0).any()
    # Round-off of sums; parallel axes have many nearest points, which give the same distance.
    np.testing.assert_allclose(squares, plain.squares, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(dq[1:], plain.dq[1:], rtol=1e-9, atol=1e-9)


def test_what_is_not_in_the_kernel_counts_too(monkeypatch):
    bodies = bodies_of(armdyn.arms.puma560())
    q = np.random.default_rng(1).uniform(-1.5, 1.5, (50, 6))
    states = (q, q, q)
    value, pull = Clearance(bodies, (WALL, LAMP)).penalty(states, 0.3)
    monkeypatch.setattr(clearance, "MAX_PAIRS", 0)
    other, other_pull = Clearance(bodies, (WALL, LAMP)).penalty(states, 0.3)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(pull.dq, other_pull.dq, rtol=1e-9, atol=1e-12)
    assert value > Clearance(bodies, (WALL,)).penalty(states, 0.3)[0]
