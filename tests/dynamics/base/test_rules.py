"""Geometric rules, Mayeda's formula and Kapadia's theorems against each other."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm
from armdyn.dynamics.base.rules import base_counts, mayeda_count, null_directions
from armdyn.dynamics.base.theorems import absorption, theorem2_coefficients
from armdyn.errors import ArmdynError, ModelError

CLOSE = {"rtol": 1e-11, "atol": 1e-10}  # round-off on torques of order 100


@pytest.mark.parametrize("kinds", ["RRR", "RPR", "PRP", "RRRPRR"])
@pytest.mark.parametrize("rotors", [False, True])
def test_null_directions_move_no_torque(random_arm, kinds, rotors):
    arm = random_arm(kinds, seed=3)
    state = np.random.default_rng(0).normal(size=(3, 30, arm.n))
    terms = ("rotor",) if rotors else ()
    Y = armdyn.full_regressor(arm, *state, terms=terms)
    N = null_directions(arm, rotors=rotors)
    np.testing.assert_allclose(Y @ N, 0, atol=1e-10)
    # They are all there are: rank and nullity add up to the number of columns.
    assert np.linalg.matrix_rank(Y.reshape(-1, Y.shape[-1])) + N.shape[1] == Y.shape[-1]


def test_what_each_link_contributes(random_arm):
    """In general position: 3 for the first revolute link (1 of them weightless), 7 a revolute, 4 a prismatic."""
    assert base_counts(random_arm("RRPR", seed=1)) == [3, 7, 4, 7]
    arm = random_arm("RRPR", seed=1)
    assert base_counts(arm.with_gravity([0, 0, 0])) == [1, 7, 4, 7]
    # Links that only slide have a mass; the first to turn shows its moment of inertia and two first moments.
    assert base_counts(random_arm("PPR", seed=1)) == [1, 1, 3]


def test_a_tiny_arm_has_the_same_parameters():
    """Lengths of millimetres are not taken for round-off."""
    rows = [{"kind": "R", "a": 0.3, "d": 0.1, "alpha": a} for a in (np.pi / 2, 0.0, np.pi / 2)]
    small = [{**row, "a": 3e-4, "d": 1e-4} for row in rows]
    assert base_counts(Arm.from_dh(rows)) == base_counts(Arm.from_dh(small))


def test_mayeda_on_golden_arms(golden, golden_arm):
    checked = 0
    for case in golden("base_parameter_counts")["arms"]:
        try:
            count = mayeda_count(golden_arm(case))
        except ModelError:
            continue  # a sliding joint, or axes at another angle: not an arm the rule is for
        assert count == case["base_inertial_parameters"], case["arm"]
        checked += 1
    assert checked >= 11


def test_mayeda_says_what_it_is_not_for(random_arm):
    with raises(ModelError, cause="the rule is for revolute arms, but joint 'joint2' slides", names=("joint2",)):
        mayeda_count(random_arm("RP", seed=0))
    with raises(
        ModelError, cause=re.compile("joint 'joint2' is neither parallel nor perpendicular"), names=("joint2",)
    ):
        mayeda_count(random_arm("RR", seed=0))


def test_theorem_1_masses_can_be_absorbed(random_arm):
    arm = random_arm("RRRR", seed=5)
    theta = absorption(arm) @ arm.trace_data("theta")
    np.testing.assert_allclose(theta[::10], 0, atol=1e-14)
    state = np.random.default_rng(1).normal(size=(3, 6, arm.n))
    tau = armdyn.inverse_dynamics(arm, *state)
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, *state, theta=theta), tau, **CLOSE)


def test_theorem_2_gives_inertia_and_gravity_torques(random_arm):
    arm = random_arm("RRRR", seed=6)
    q, qdd = np.random.default_rng(2).normal(size=(2, 6, arm.n))
    theta = absorption(arm) @ arm.trace_data("theta")
    inertia, weight = theorem2_coefficients(arm, q, qdd)
    expected = (armdyn.mass_matrix(arm, q) @ qdd[..., None])[..., 0]
    np.testing.assert_allclose(inertia @ theta, expected, **CLOSE)
    np.testing.assert_allclose(weight @ theta, armdyn.gravity_torque(arm, q), **CLOSE)


def test_theorem_2_shows_all_base_parameters(golden, golden_arm):
    for case in golden("base_parameter_counts")["arms"][:6]:
        arm = golden_arm(case)
        assert (
            armdyn.base_parameters(arm, method="theorems").columns
            == armdyn.base_parameters(arm, method="rules").columns
        ), case["arm"]


def test_theorems_reject_sliding_joints(random_arm):
    with raises(ModelError, where="theorem2_coefficients", names=("joint2",)):
        armdyn.base_parameters(random_arm("RP", seed=0), method="theorems")
    with raises(
        ModelError,
        where="absorption",
        cause="the theorem is for revolute arms, but joint 'joint2' slides",
        names=("joint2",),
    ):
        absorption(random_arm("RP", seed=0))


def test_counts_of_library_arms():
    """As the literature counts them: Panda and LWR 4 have 43, PUMA 560 and UR 10 36, the Stanford arm 33."""
    known = {"panda": 43, "lwr4": 43, "puma560": 36, "ur10": 36, "stanford": 33, "scara": 8, "sarcos": 45}
    for name, count in known.items():
        assert sum(base_counts(getattr(armdyn.arms, name)())) == count, name


@pytest.mark.parametrize("terms", ["full", "gravity"])
@pytest.mark.parametrize("name", ["puma560", "planar2", "panda"])
def test_the_theorems_are_a_method(name, terms):
    """The same base parameters as by numbers: the same torques from as many, each a combination of the others."""
    arm = getattr(armdyn.arms, name)()
    found, numeric = (armdyn.base_parameters(arm, terms, method=method) for method in ("theorems", "numeric"))
    assert found.columns == numeric.columns
    np.testing.assert_allclose(found.P, numeric.P, atol=1e-9)
    q = np.random.default_rng(0).normal(size=(5, arm.n))
    np.testing.assert_allclose(found.regressor(q) @ found.theta, armdyn.gravity_torque(arm, q), atol=1e-9)


def test_the_theorems_are_of_links():
    with raises(ArmdynError, cause="the theorems are of links, not of rotor", names=("rotor",)):
        armdyn.base_parameters(armdyn.arms.puma560(), joint_terms=("rotor",), method="theorems")
