"""Velocity and acceleration of points, and the sum of angular velocities."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError

POINT = (0.1, -0.2, 0.3)


@pytest.mark.parametrize("link", [None, 2])
@pytest.mark.parametrize("axes", ["base", "tip"])
def test_motion_of_a_point_is_that_of_its_jacobian(random_arm, link, axes):
    arm = random_arm("RRPR", seed=1)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, arm.n))
    chosen = {"link": link, "axes": axes}
    J, J_rate = armdyn.jacobian(arm, q, POINT, **chosen), armdyn.jacobian_rate(arm, q, qd, POINT, **chosen)
    velocity = armdyn.point_velocity(arm, q, qd, POINT, **chosen)
    acceleration = armdyn.point_acceleration(arm, q, qd, qdd, POINT, **chosen)
    np.testing.assert_allclose(velocity, np.einsum("kij,kj->ki", J, qd), atol=1e-13)
    want = np.einsum("kij,kj->ki", J, qdd) + np.einsum("kij,kj->ki", J_rate, qd)
    np.testing.assert_allclose(acceleration, want, atol=1e-12)


def test_acceleration_is_the_derivative_of_velocity(random_arm):
    arm = random_arm("RPR", seed=7)
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, arm.n))

    def velocity(t):
        return armdyn.point_velocity(arm, q + t * qd + t**2 / 2 * qdd, qd + t * qdd, POINT)

    difference = (velocity(1e-6) - velocity(-1e-6)) / 2e-6
    np.testing.assert_allclose(armdyn.point_acceleration(arm, q, qd, qdd, POINT), difference, rtol=1e-8, atol=1e-8)


def test_angular_velocities_add_up_along_the_arm(random_arm):
    """ECE470 section 1.8: the sum over the joints is the tip's angular velocity."""
    arm = random_arm("RRRR", seed=3)
    q, qd = np.random.default_rng(4).normal(size=(2, 6, arm.n))
    R = armdyn.link_poses(arm, q)[..., :3, :3]
    relative = np.concatenate([R[:, :1], np.swapaxes(R[:, :-1], -1, -2) @ R[:, 1:]], axis=1)
    # Each joint turns its link about an axis that is fixed in the parent: by differences of one joint.
    step = 1e-6 * np.eye(arm.n)
    between = []
    for i in range(arm.n):
        ahead, behind = (armdyn.link_poses(arm, q + s * step[i])[:, i, :3, :3] for s in (1, -1))
        W = (ahead - behind) @ np.swapaxes(R[:, i], -1, -2) / 2e-6
        w = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], -1) * qd[:, i, None]
        parent = np.eye(3) if i == 0 else np.swapaxes(R[:, i - 1], -1, -2)
        between.append((parent @ w[..., None])[..., 0])
    total = armdyn.add_angular_velocities(relative, np.stack(between, axis=1))
    np.testing.assert_allclose(total, armdyn.point_velocity(arm, q, qd)[:, 3:], atol=1e-8)


def test_angular_velocities_of_wrong_shapes_are_rejected():
    with raises(ShapeError, got="(2, 3, 3) and (3, 3)"):
        armdyn.add_angular_velocities(np.zeros((2, 3, 3)), np.zeros((3, 3)))
