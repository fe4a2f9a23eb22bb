"""Inertia at the tip."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ModelError


@pytest.mark.parametrize("kinds", ["RR", "RPR", "RRRRRRR"])
def test_a_force_on_the_resting_tip_accelerates_it_by_the_mobility(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=41).with_gravity([0, 0, 0]), np.random.default_rng(0)
    q, wrench = rng.normal(size=arm.n), rng.normal(size=6)
    R = armdyn.forward_kinematics(arm, q)[:3, :3]
    zero = np.zeros(arm.n)
    qdd = armdyn.forward_dynamics(arm, q, zero, zero, wrench=wrench)
    tip = armdyn.jacobian(arm, q) @ qdd  # at rest the Jacobian's rate does not enter
    in_base = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    mobility = armdyn.tip_mobility(arm, q)
    np.testing.assert_array_equal(mobility, mobility.T)
    np.testing.assert_allclose(mobility @ in_base, tip, rtol=1e-9, atol=1e-9)


def test_operational_inertia_is_the_inverse(random_arm):
    arm = random_arm("RRPRRR", seed=42)
    q = np.random.default_rng(0).normal(size=(3, 6))
    product = armdyn.operational_inertia(arm, q) @ armdyn.tip_mobility(arm, q)
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(6), (3, 6, 6)), atol=1e-8)


def test_too_few_joints_are_rejected():
    with raises(
        ModelError,
        cause="arm 'planar2' has 2 joints; the tip's inertia exists from six on, tip_mobility for any number",
    ):
        armdyn.operational_inertia(armdyn.arms.planar2(), [0.1, 0.2])
