"""The mass matrix by composite bodies."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn


def test_planar_arm_by_hand():
    """Eindhoven's planar arm: two rods, m = 10, 5 kg, l = 0.5, 0.25 m; M as any textbook has it."""
    arm = armdyn.arms.planar2()
    q2 = np.array([0.0, 0.7, -2.1])
    m1, m2, l1, l2 = 10, 5, 0.5, 0.25
    M22 = m2 * l2**2 / 3
    M12 = M22 + m2 * l1 * l2 / 2 * np.cos(q2)
    M11 = m1 * l1**2 / 3 + m2 * l1**2 + 2 * M12 - M22
    M = armdyn.mass_matrix(arm, np.stack([0 * q2 + 0.3, q2], axis=-1))
    np.testing.assert_allclose(M, np.moveaxis(np.array([[M11, M12], [M12, M22 + 0 * q2]]), -1, 0), rtol=1e-13)


@pytest.mark.parametrize("kinds", ["RRR", "PRP"])
def test_is_the_acceleration_part_of_the_torques(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=1), np.random.default_rng(0)
    q, qd = rng.normal(size=(2, arm.n))
    bias = armdyn.inverse_dynamics(arm, q, qd, np.zeros(arm.n))
    columns = armdyn.inverse_dynamics(arm, q, qd, np.eye(arm.n)) - bias
    np.testing.assert_allclose(armdyn.mass_matrix(arm, q), columns.T, rtol=1e-11, atol=1e-11)


def test_takes_batches_of_parameters(random_arm):
    arm, rng = random_arm("RP", seed=2), np.random.default_rng(0)
    q, theta = rng.normal(size=(3, 1, 2)), rng.normal(size=(4, 20))
    M = armdyn.mass_matrix(arm, q, theta=theta)
    assert M.shape == (3, 4, 2, 2)
    np.testing.assert_allclose(M[2, 1], armdyn.mass_matrix(arm.with_theta(theta[1]), q[2, 0]), rtol=1e-12, atol=1e-12)
