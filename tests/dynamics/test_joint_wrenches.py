"""What bearings carry, against balance of the whole arm."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

CLOSE = {"rtol": 1e-11, "atol": 1e-10}


@pytest.mark.parametrize("kinds", ["R", "PR", "RPR"])
def test_component_along_the_joint_is_the_torque(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=2), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 4, arm.n))
    wrench, base = rng.normal(size=6), rng.normal(size=(3, 3))
    wrenches = armdyn.joint_wrenches(arm, q, qd, qdd, wrench, base)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd, wrench, base)
    assert wrenches.shape == (4, arm.n, 6)
    for i, joint in enumerate(arm.joints):
        axis = joint.after[:3, :3].T @ joint.axis  # in link axes
        part = wrenches[:, i, 3:] if joint.kind == "revolute" else wrenches[:, i, :3]
        np.testing.assert_allclose(part @ axis, tau[:, i], **CLOSE)


def test_the_base_carries_the_weight_of_a_resting_arm(random_arm):
    arm = random_arm("RPR", seed=3)
    q = np.array([0.4, 0.1, -0.7])
    first = armdyn.joint_wrenches(arm, q, 0 * q, 0 * q)[0]
    R, p = armdyn.link_poses(arm, q)[0][:3, :3], (arm.base_pose @ arm.joints[0].before)[:3, 3]
    mass = arm.theta[::10].sum()
    np.testing.assert_allclose(R @ first[:3], -mass * arm.gravity, **CLOSE)
    lever = armdyn.center_of_mass(arm, q) - p
    np.testing.assert_allclose(R @ first[3:], -np.cross(lever, mass * arm.gravity), **CLOSE)
