"""M, C, K in one pass against derivatives of the Newton-Euler graph, laws and golden numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import armdyn

# Round-off of some thousand operations on entries of order 100.
CLOSE = {"rtol": 1e-11, "atol": 1e-10}


def differentiated_newton_euler(arm, samples, wrench, base_motion):
    """tau, d/dqdd, d/dqd, d/dq of `inverse_dynamics` by automatic differentiation."""
    symbols = [ca.SX.sym(name, arm.n) for name in ("q", "qd", "qdd")]
    tau = armdyn.inverse_dynamics(arm, *symbols, wrench=ca.SX(wrench), base_motion=ca.SX(base_motion))
    function = ca.Function("f", symbols, [tau, *(ca.jacobian(tau, x) for x in reversed(symbols))])
    return [np.stack(x) for x in zip(*([np.array(y) for y in function(*s)] for s in samples), strict=True)]


@pytest.mark.parametrize("kinds", ["R", "P", "RR", "RP", "PR", "PPP", "RPRPR", "PRRPRR", "RRRRRRR"])
@pytest.mark.by_day(4)
def test_equals_differentiated_newton_euler(random_arm, kinds):
    """All joint types, with a moving base and a wrench on the tip."""
    arm, rng = random_arm(kinds, seed=len(kinds)), np.random.default_rng(2)
    samples = rng.normal(size=(3, 3, arm.n))
    wrench, base_motion = rng.normal(size=6) * 10, rng.normal(size=(3, 3))
    expected = differentiated_newton_euler(arm, samples, wrench, base_motion)
    got = armdyn.torque_derivatives(arm, *samples.swapaxes(0, 1), wrench, base_motion)
    np.testing.assert_allclose(got.tau, expected[0][..., 0], **CLOSE)
    for matrix, want in zip(got[1:], expected[1:], strict=True):
        np.testing.assert_allclose(matrix, want, **CLOSE)


@pytest.mark.parametrize("kinds", ["RRR", "PRP"])
def test_laws(random_arm, kinds):
    """M is the mass matrix, C twice the Christoffel matrix, K at rest symmetric."""
    arm, rng = random_arm(kinds, seed=4), np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 5, arm.n))
    _, M, C, _ = armdyn.torque_derivatives(arm, q, qd, qdd)
    np.testing.assert_allclose(M, armdyn.mass_matrix(arm, q), **CLOSE)
    np.testing.assert_array_equal(M, np.swapaxes(M, -1, -2))
    np.testing.assert_allclose(C, 2 * armdyn.coriolis_matrix(arm, q, qd), **CLOSE)
    # At rest K is the Hessian of the potential energy, hence symmetric.
    K0 = armdyn.torque_derivatives(arm, q, 0 * qd, 0 * qdd).K
    np.testing.assert_allclose(K0, np.swapaxes(K0, -1, -2), **CLOSE)


def test_derivatives_are_linear_in_theta(random_arm):
    arm, rng = random_arm("RPR", seed=7), np.random.default_rng(5)
    state, (a, b) = rng.normal(size=(3, arm.n)), rng.normal(size=(2, 10 * arm.n))
    parts = [armdyn.torque_derivatives(arm, *state, theta=x) for x in (a, b, 2 * a - 3 * b)]
    for x, y, both in zip(*parts, strict=True):
        np.testing.assert_allclose(2 * x - 3 * y, both, **CLOSE)


@pytest.mark.parametrize(
    "name", ["planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb"]
)
def test_golden_linearisations(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        got = armdyn.torque_derivatives(arm, case["q"], case["qd"], case["qdd"])
        np.testing.assert_allclose(got.tau, case["tau"], rtol=1e-11, atol=1e-11)
        for key in "MCK":
            np.testing.assert_allclose(getattr(got, key), case["lin"][key], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["planar2R", "planar_RP", "general_RPR_sdh"])
def test_golden_moving_base_with_wrench(golden, golden_arm, name):
    data = golden(f"moving_base_wrench_{name}")
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        base_motion = case["base_omega"], case["base_omegadot"], case["base_acc"]
        # The golden wrench is exerted by the arm on its environment: the opposite of armdyn's.
        wrench = -np.array([*case["tip_force"], *case["tip_moment"]])
        got = armdyn.torque_derivatives(arm, case["q"], case["qd"], case["qdd"], wrench, base_motion)
        np.testing.assert_allclose(got.tau, case["tau_total"], rtol=1e-11, atol=1e-11)
        for key in "MCK":
            np.testing.assert_allclose(getattr(got, key), case["lin_total"][key], rtol=1e-11, atol=1e-11)
