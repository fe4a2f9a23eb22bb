"""Manipulability, condition and singular configurations."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError


@pytest.mark.parametrize(
    ("kinds", "part"), [("RRPRRRR", "all"), ("RPR", "all"), ("RRR", "linear"), ("RRRR", "angular")]
)
def test_manipulability_is_the_product_of_singular_values(random_arm, kinds, part):
    arm = random_arm(kinds, seed=2)
    q = np.random.default_rng(0).normal(size=(4, arm.n))
    found = armdyn.dexterity(arm, q, part)
    np.testing.assert_allclose(armdyn.manipulability(arm, q, part=part), found.manipulability, rtol=1e-10)
    np.testing.assert_allclose(found.condition, found.singular_values[:, 0] / found.singular_values[:, -1])
    assert not found.singular.any()


def test_a_wrist_with_two_axes_in_line_is_singular_and_named():
    arm = armdyn.arms.puma560()
    q = np.array([0.3, -0.7, 0.4, 0.5, 0.0, -0.2])
    found = armdyn.dexterity(arm, q)
    assert found.singular
    assert found.condition > 1e12
    # Turning joints 4 and 6 against each other moves nothing; nothing else is needed for that.
    moving = np.flatnonzero(np.abs(found.cause) > 1e-6)
    assert moving.tolist() == [3, 5]
    assert np.abs(armdyn.jacobian(arm, q) @ found.cause).max() < 1e-12
    # The lost velocity cannot be made by any joint.
    assert np.abs(found.lost @ armdyn.jacobian(arm, q)).max() < 1e-12
    assert "joint4, joint6 can move with the tip at rest" in str(found)
    # Round-off of the determinant of a singular matrix, under a root
    assert armdyn.manipulability(arm, q) < 1e-8


def test_a_stretched_arm_cannot_move_outwards():
    arm = armdyn.arms.planar2()
    found = armdyn.dexterity(arm, [0.4, 0.0], "linear")
    assert found.singular
    outwards = armdyn.forward_kinematics(arm, [0.4, 0.0])[:3, 3]
    assert abs(found.lost[:3] @ outwards) == pytest.approx(np.linalg.norm(outwards))
    assert "of 3 configurations" in str(armdyn.dexterity(arm, np.zeros((3, 2)), "linear"))


def test_nothing_is_said_of_configurations_that_are_none():
    arm = armdyn.arms.puma560()
    assert np.isnan(armdyn.manipulability(arm, [np.nan] * 6))
    with raises(ShapeError, expected="finite numbers for q", got="NaN or infinity"):
        armdyn.dexterity(arm, [np.nan] * 6)


def test_unknown_parts_are_rejected():
    with raises(ShapeError, names=("half",), expected="one of all, linear, angular"):
        armdyn.manipulability(armdyn.arms.planar2(), [0.0, 0.0], part="half")
