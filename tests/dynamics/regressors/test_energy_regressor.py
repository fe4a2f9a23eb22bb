"""Energy, power, momentum and Lagrangian gradient as linear forms of theta."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

CLOSE = {"rtol": 1e-12, "atol": 1e-11}  # round-off of a few hundred operations
KINDS = ["R", "P", "RPR", "RRPRR"]


@pytest.fixture(params=KINDS)
def case(request, random_arm):
    arm = random_arm(request.param, seed=6)
    return arm, *np.random.default_rng(2).normal(size=(3, 5, arm.n))


def test_energies(case):
    arm, q, qd, _ = case
    kinetic, potential = armdyn.energy_regressor(arm, q, qd)
    np.testing.assert_allclose(kinetic @ arm.theta, armdyn.kinetic_energy(arm, q, qd), **CLOSE)
    np.testing.assert_allclose(potential @ arm.theta, armdyn.potential_energy(arm, q), **CLOSE)


def test_power_is_velocity_times_torque_regressor(case):
    arm, q, qd, qdd = case
    expected = np.einsum("...i,...ik->...k", qd, armdyn.regressor(arm, q, qd, qdd))
    np.testing.assert_allclose(armdyn.power_regressor(arm, q, qd, qdd), expected, **CLOSE)


def test_momentum(case):
    arm, q, qd, _ = case
    momentum = (armdyn.mass_matrix(arm, q) @ qd[..., None])[..., 0]
    np.testing.assert_allclose(armdyn.momentum_regressor(arm, q, qd) @ arm.theta, momentum, **CLOSE)


def test_torque_is_rate_of_momentum_less_gradient_of_lagrangian(case):
    """Every column: Y = dP/dt - D, with dP/dt from central differences along the motion."""
    arm, q, qd, qdd = case
    h = 1e-5

    def momentum(k):
        t = k * h
        return armdyn.momentum_regressor(arm, q + qd * t + qdd * t**2 / 2, qd + qdd * t)

    rate = (momentum(1) - momentum(-1)) / (2 * h)
    Y = rate - armdyn.lagrangian_regressor(arm, q, qd)
    # Truncation h² and round-off 1e-16 / h on entries of order 10.
    np.testing.assert_allclose(Y, armdyn.regressor(arm, q, qd, qdd), rtol=0, atol=2e-8)
