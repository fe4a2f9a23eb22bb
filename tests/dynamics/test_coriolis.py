"""The Coriolis matrix against Christoffel symbols, and the textbook forms of all terms."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


@pytest.mark.parametrize("kinds", ["RR", "PR", "RPRP", "RRRR"])
def test_equals_the_christoffel_symbols(random_arm, kinds):
    """By differentiation of a mass matrix made from link Jacobians: no step is shared."""
    arm, rng = random_arm(kinds, seed=11), np.random.default_rng(0)
    q, qd = rng.normal(size=(2, 3, arm.n))
    Gamma = armdyn.christoffel_symbols(arm, q)
    assert Gamma.shape == (3, arm.n, arm.n, arm.n)
    np.testing.assert_allclose(Gamma, np.swapaxes(Gamma, -1, -2), **CLOSE)
    np.testing.assert_allclose(armdyn.coriolis_matrix(arm, q, qd), np.einsum("kijl,kl->kij", Gamma, qd), **CLOSE)


def test_coefficients_of_eindhoven_give_the_torque_but_no_skew_matrix(random_arm):
    """Its erratum 11: C_ik = sum of h_ijk qd_j does not make dM/dt - 2 C skew."""
    arm, rng = random_arm("RRR", seed=12), np.random.default_rng(0)
    q, qd = rng.normal(size=(2, arm.n))
    h = armdyn.coriolis_coefficients(arm, q)
    bias = armdyn.coriolis_matrix(arm, q, qd) @ qd
    np.testing.assert_allclose(np.einsum("ijk,j,k->i", h, qd, qd), bias, **CLOSE)
    S = armdyn.mass_matrix_rate(arm, q, qd) - 2 * np.einsum("ijk,j->ik", h, qd)
    assert np.abs(S + S.T).max() > 0.1


@pytest.mark.parametrize("kinds", ["RPR", "PRRP"])
def test_textbook_forms(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=13), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 3, arm.n))
    np.testing.assert_allclose(armdyn.mass_matrix_jacobians(arm, q), armdyn.mass_matrix(arm, q), **CLOSE)
    np.testing.assert_allclose(armdyn.gravity_torque_jacobians(arm, q), armdyn.gravity_torque(arm, q), **CLOSE)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(armdyn.inverse_dynamics_base(arm, q, qd, qdd), tau, **CLOSE)


def test_rate_of_the_mass_matrix(random_arm):
    arm, rng = random_arm("RPRR", seed=14), np.random.default_rng(0)
    q, qd = rng.normal(size=(2, arm.n))
    h = 1e-6
    rate = (armdyn.mass_matrix(arm, q + h * qd) - armdyn.mass_matrix(arm, q - h * qd)) / (2 * h)
    # central difference: h² and 1e-16 / h
    np.testing.assert_allclose(armdyn.mass_matrix_rate(arm, q, qd), rate, rtol=1e-7, atol=1e-7)
