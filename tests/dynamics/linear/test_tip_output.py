"""Output matrices of the tip against differences of the kinematics."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn


@pytest.mark.parametrize("kinds", ["RR", "RPR", "PRRR"])
def test_tip_output_against_differences(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=2), np.random.default_rng(1)
    n, h = arm.n, 1e-6
    q, qd = rng.normal(size=(2, n))
    C = armdyn.tip_output(arm, q, qd)
    R = armdyn.forward_kinematics(arm, q)[:3, :3]
    for k, d in enumerate(h * np.eye(n)):
        there, back = armdyn.forward_kinematics(arm, q + d), armdyn.forward_kinematics(arm, q - d)
        turn = (there - back)[:3, :3] / (2 * h) @ R.T
        small = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        np.testing.assert_allclose(C[:6, k], [*(there - back)[:3, 3] / (2 * h), *small], atol=1e-8)
        twist = (armdyn.jacobian(arm, q + d) - armdyn.jacobian(arm, q - d)) @ qd / (2 * h)
        np.testing.assert_allclose(C[6:, k], twist, atol=1e-8)
    np.testing.assert_array_equal(C[:6, n:], 0)
    np.testing.assert_array_equal(C[6:, n:], armdyn.jacobian(arm, q))
