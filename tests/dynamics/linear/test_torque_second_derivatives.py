"""Second derivatives of the torques against automatic differentiation of Newton-Euler."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import armdyn


@pytest.mark.parametrize("kinds", ["RRR", "RPR", "PRP"])
def test_equal_hessians_of_newton_euler(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=6), np.random.default_rng(0)
    n, state = arm.n, rng.normal(size=(3, arm.n))
    wrench, base_motion = rng.normal(size=6), rng.normal(size=(3, 3))
    symbols = [ca.SX.sym(name, n) for name in ("q", "qd", "qdd")]
    tau = armdyn.inverse_dynamics(arm, *symbols, wrench=ca.SX(wrench), base_motion=ca.SX(base_motion))
    x = ca.vertcat(*symbols)
    hessians = ca.Function("h", symbols, [ca.hessian(tau[i], x)[0] for i in range(n)])
    H = np.array([np.array(h) for h in hessians(*state)])
    got = armdyn.torque_second_derivatives(arm, *state, wrench, base_motion)
    q, qd, qdd = (slice(k * n, (k + 1) * n) for k in range(3))
    blocks = {"qq": (q, q), "qqd": (q, qd), "qdqd": (qd, qd), "qqdd": (q, qdd)}
    for name, (rows, columns) in blocks.items():
        # Round-off of some ten thousand operations on entries of order 100.
        np.testing.assert_allclose(getattr(got, name), H[:, rows, columns], rtol=1e-11, atol=1e-10)
    assert not H[:, qd, qdd].any()


def test_batches_follow_single_samples(random_arm):
    arm = random_arm("RP", seed=1)
    state = np.random.default_rng(1).normal(size=(3, 6, 2))
    whole = armdyn.torque_second_derivatives(arm, *state)
    one = armdyn.torque_second_derivatives(arm, *state[:, 4])
    for many, single in zip(whole, one, strict=True):
        assert many.shape == (6, 2, 2, 2)
        np.testing.assert_allclose(many[4], single, rtol=1e-12, atol=1e-12)
