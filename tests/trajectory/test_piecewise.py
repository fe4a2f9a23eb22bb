"""Polynomials between knots: they meet what they are given, and their rates are their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

from armdyn.errors import ShapeError
from armdyn.trajectory.piecewise import PiecewiseQuintic
from armdyn.trajectory.protocol import JointMotion, Trajectory


@pytest.fixture(scope="module")
def trajectory():
    rng = np.random.default_rng(0)
    start, end = (JointMotion(*rng.normal(size=(3, 3, 2))) for _ in range(2))
    return PiecewiseQuintic.through(np.array([0.0, 0.5, 0.8, 2.0]), start, end), start, end


def test_both_ends_of_every_interval_are_met(trajectory):
    curve, start, end = trajectory
    assert isinstance(curve, Trajectory)
    for k, t in enumerate(curve.knots[:-1]):
        for got, want in zip(curve(t), start, strict=True):
            np.testing.assert_allclose(got, want[k], atol=1e-12)
    for got, want in zip(curve(curve.duration), end, strict=True):
        np.testing.assert_allclose(got, want[-1], atol=1e-10)
    # Just before an inner knot the end of the interval is met as well.
    for got, want in zip(curve(0.5 - 1e-9), end, strict=True):
        np.testing.assert_allclose(got, want[0], atol=1e-5)


def test_rates_are_derivatives(trajectory):
    curve = trajectory[0]
    t, h = np.linspace(0.81, 1.99, 20), 1e-6
    q, qd, qdd = curve(t)
    np.testing.assert_allclose((curve(t + h).q - curve(t - h).q) / (2 * h), qd, atol=1e-7)
    np.testing.assert_allclose((curve(t + h).qd - curve(t - h).qd) / (2 * h), qdd, atol=1e-6)
    assert q.shape == (20, 2)


def test_it_rests_before_and_after(trajectory):
    curve = trajectory[0]
    q, qd, qdd = curve([-1.0, 3.0])
    np.testing.assert_array_equal(q, [curve(0.0).q, curve(2.0).q])
    assert not qd.any()
    assert not qdd.any()


def test_wrong_knots_are_rejected():
    with raises(ShapeError, expected="ascending knots from 0"):
        PiecewiseQuintic(np.array([0.0, 1.0, 1.0]), np.zeros((2, 6, 3)))
    with raises(ShapeError, got="(2,) and (2, 6, 3)"):
        PiecewiseQuintic(np.array([0.0, 1.0]), np.zeros((2, 6, 3)))
