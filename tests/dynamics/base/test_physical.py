"""Physically consistent bodies behind base parameters."""

from __future__ import annotations

import re
from importlib.util import find_spec

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.dynamics.base.physical import possible_range, possible_theta
from armdyn.errors import ArmdynError, ShapeError

# Not imported before a test needs it: that takes seconds, of every process that collects tests.
pytestmark = pytest.mark.skipif(find_spec("cvxpy") is None, reason="the extra 'physical' is not installed")

# The conic solver stops at a relative accuracy of 1e-8; base parameters are of order 1.
SOLVED = {"rtol": 0, "atol": 1e-6}


@pytest.fixture
def base(random_arm):
    return armdyn.base_parameters(random_arm("RRR", seed=4), method="rules")


def test_possible_bodies_with_the_same_torques(base):
    far = np.zeros(30)
    theta = possible_theta(base, base.theta, near=far)
    np.testing.assert_allclose(base.project(theta), base.theta, **SOLVED)
    for i in range(3):
        body = armdyn.Inertia(theta[10 * i : 10 * (i + 1)])
        assert np.linalg.eigvalsh(body.pseudo_inertia).min() > -1e-6
    # The base values alone, with zeros elsewhere, are not physically consistent.
    assert not base.arm.is_physical


def test_the_arm_itself_is_the_nearest_to_itself(base):
    np.testing.assert_allclose(possible_theta(base, base.theta), base.source.theta, **SOLVED)


def test_range_of_a_parameter(base):
    low, high = possible_range(base, base.theta, "Izz3")
    assert low <= base.source.theta[29] <= high
    low, high = possible_range(base, base.theta, "m1")
    assert low >= -1e-6
    assert high == np.inf


def test_impossible_base_parameters_are_rejected(base):
    # A moment of inertia about the first axis below zero belongs to no body.
    with raises(
        ArmdynError,
        cause=re.compile(r"no physically consistent bodies of arm 'RRR' .* the nearest that have are \d.*% away"),
    ):
        possible_theta(base, -base.theta)
    with raises(ArmdynError, cause="no physically consistent bodies of arm 'RRR' have these base parameters"):
        possible_range(base, -base.theta, "m1")


def test_mistakes_are_named(base):
    with raises(
        ArmdynError,
        cause="no parameter 'm9'",
        expected=(
            "one of m1, mx1, my1, mz1, Ixx1, Ixy1, Iyy1, Ixz1, Iyz1, Izz1, m2, mx2, my2, mz2, Ixx2, "
            "Ixy2, Iyy2, Ixz2, Iyz2, Izz2, m3, mx3, my3, mz3, Ixx3, Ixy3, Iyy3, Ixz3, Iyz3, Izz3"
        ),
        names=("m9",),
    ):
        possible_range(base, base.theta, "m9")
    with raises(ShapeError, expected="17 base parameters of arm 'RRR'", got="shape (2,)"):
        possible_theta(base, [1.0, 2.0])
