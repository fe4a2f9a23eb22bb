"""How A and B move with the payload, against arms that carry one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn


def test_unit_payload_is_what_with_payload_adds(random_arm):
    arm = random_arm("RPR", seed=4)
    com, inertia = np.array([0.1, -0.2, 0.05]), np.diag([0.02, 0.03, 0.04])
    carried = arm.with_payload(2.5, com, 2.5 * inertia)
    np.testing.assert_allclose(carried.theta - arm.theta, 2.5 * armdyn.unit_payload(arm, com, inertia), atol=1e-12)


@pytest.mark.parametrize("kinds", ["RR", "RPR", "PRRP"])
def test_sensitivity_against_differences(random_arm, kinds):
    """All matrices, with a wrench and a moving base, along a direction of all parameters."""
    arm, rng = random_arm(kinds, seed=5), np.random.default_rng(6)
    state, wrench, base_motion = rng.normal(size=(3, arm.n)), rng.normal(size=6), rng.normal(size=(3, 3))
    direction = armdyn.unit_payload(arm, (0.1, 0.2, 0.3)) + 0.01 * rng.normal(size=10 * arm.n)
    got = armdyn.linearize_sensitivity(arm, *state, direction, wrench, base_motion)
    h = 1e-5  # central differences: h² times the third derivative
    there, back = (
        armdyn.linearize(arm, *state, wrench, base_motion, theta=arm.theta + s * h * direction) for s in (1, -1)
    )
    for slope, x, y in zip(got, there, back, strict=True):
        expected = (x - y) / (2 * h)
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7 * max(1.0, np.abs(expected).max()))


def test_the_torque_changes_by_the_regressor(random_arm):
    arm, state = random_arm("RRP", seed=6), np.random.default_rng(7).normal(size=(3, 3))
    direction = armdyn.unit_payload(arm, (0, 0, 0.1))
    change = armdyn.inverse_dynamics(arm.with_payload(1.0, (0, 0, 0.1)), *state) - armdyn.inverse_dynamics(arm, *state)
    np.testing.assert_allclose(armdyn.regressor(arm, *state) @ direction, change, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("width", [0.0, 0.5])
def test_sensitivity_of_the_full_model(random_arm, width):
    arm = random_arm("RP", seed=5)
    friction = armdyn.Friction(viscous=0.5, coulomb=1.0, load=0.2)
    arm = arm.with_joints([dataclasses.replace(joint, friction=friction) for joint in arm.joints])
    state, direction, h = np.random.default_rng(2).normal(size=(3, 2)), armdyn.unit_payload(arm, (0.1, 0, 0)), 1e-5
    options = {"model": "full", "width": width}
    got = armdyn.linearize_sensitivity(arm, *state, direction, **options)
    there, back = (armdyn.linearize(arm, *state, theta=arm.theta + s * h * direction, **options) for s in (1, -1))
    for slope, x, y in zip(got, there, back, strict=True):
        np.testing.assert_allclose(slope, (x - y) / (2 * h), rtol=1e-6, atol=1e-6)
