"""Derivatives of the forward dynamics: two ways that share no recursion, and `linearize`."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import armdyn


@pytest.mark.parametrize("kinds", ["RR", "RPR", "PRRP"])
def test_with_and_without_the_mass_matrix(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=3), np.random.default_rng(0)
    q, qd, tau = rng.normal(size=(3, 4, arm.n))
    wrench = rng.normal(size=6)
    composite = armdyn.acceleration_derivatives(arm, q, qd, tau, wrench, method="composite")
    articulated = armdyn.acceleration_derivatives(arm, q, qd, tau, wrench, method="articulated")
    for x, y in zip(composite, articulated, strict=True):
        # Both divide by inertias: round-off times the condition of M, some 1e3 here.
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * np.abs(y).max())


def test_equal_the_state_matrices(random_arm):
    arm, rng = random_arm("RPRR", seed=8), np.random.default_rng(4)
    n = arm.n
    q, qd, tau = rng.normal(size=(3, n))
    qdd, dq, dqd, dtau = armdyn.acceleration_derivatives(arm, q, qd, tau)
    np.testing.assert_allclose(qdd, armdyn.forward_dynamics(arm, q, qd, tau), rtol=1e-10, atol=1e-10)
    A, B = armdyn.linearize(arm, q, qd, qdd)[3:]
    np.testing.assert_allclose(np.hstack([dq, dqd]), A[n:], rtol=1e-10, atol=1e-10 * np.abs(A).max())
    np.testing.assert_allclose(dtau, B[n:], rtol=1e-10, atol=1e-10 * np.abs(B).max())


@pytest.mark.parametrize("method", ["composite", "articulated"])
def test_arguments_may_be_expressions(random_arm, method):
    arm = random_arm("RP", seed=2)
    x, (q, qd, tau) = ca.SX.sym("x", 2), np.random.default_rng(5).normal(size=(3, 2))
    symbolic = armdyn.acceleration_derivatives(arm, 2 * x, qd, tau, method=method)
    numbers = armdyn.acceleration_derivatives(arm, q, qd, tau, method=method)
    for y, expected in zip(ca.Function("f", [x], list(symbolic))(q / 2), numbers, strict=True):
        np.testing.assert_allclose(np.array(y).reshape(expected.shape), expected, rtol=1e-10, atol=1e-10)
