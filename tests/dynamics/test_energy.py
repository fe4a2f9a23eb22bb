"""Energies, their rates, momentum and the centre of mass."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


@pytest.mark.parametrize("kinds", ["RR", "RPR"])
def test_rates_add_up_to_the_power_of_the_joints(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=21), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 5, arm.n))
    kinetic, potential = armdyn.energy_rates(arm, q, qd, qdd)
    power = np.einsum("ki,ki->k", qd, armdyn.inverse_dynamics(arm, q, qd, qdd))
    np.testing.assert_allclose(kinetic + potential, power, **CLOSE)
    h = 1e-6  # along the motion to second order; central differences err by h² and 1e-16 / h
    ahead, behind = (q + s * qd + s**2 / 2 * qdd for s in (h, -h))
    dU = (armdyn.potential_energy(arm, ahead) - armdyn.potential_energy(arm, behind)) / (2 * h)
    dT = armdyn.kinetic_energy(arm, ahead, qd + h * qdd) - armdyn.kinetic_energy(arm, behind, qd - h * qdd)
    np.testing.assert_allclose(potential, dU, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(kinetic, dT / (2 * h), rtol=1e-6, atol=1e-6)


def test_potential_energy_is_that_of_the_centre_of_mass(random_arm):
    arm = random_arm("RPRR", seed=22)
    q = np.random.default_rng(0).normal(size=(4, arm.n))
    mass = arm.theta[::10].sum()
    com = armdyn.center_of_mass(arm, q)
    np.testing.assert_allclose(armdyn.potential_energy(arm, q), -mass * com @ arm.gravity, **CLOSE)


def test_centre_of_mass_is_the_mean_of_the_links(random_arm):
    arm = random_arm("RPR", seed=23)
    q = np.array([0.3, -0.4, 1.1])
    centres = [
        T[:3, :3] @ link.inertia.com + T[:3, 3] for T, link in zip(armdyn.link_poses(arm, q), arm.links, strict=True)
    ]
    masses = [link.inertia.mass for link in arm.links]
    np.testing.assert_allclose(armdyn.center_of_mass(arm, q), np.average(centres, axis=0, weights=masses), **CLOSE)


@pytest.mark.parametrize("kinds", ["RRR", "PRP"])
def test_rate_of_the_momentum(random_arm, kinds):
    """p = M qd, dp/dt = tau + C' qd - g: the observer's equation."""
    arm, rng = random_arm(kinds, seed=24), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, arm.n))
    p = armdyn.generalized_momentum(arm, q, qd)
    np.testing.assert_allclose(p, armdyn.mass_matrix(arm, q) @ qd, **CLOSE)
    h = 1e-6
    ahead = armdyn.generalized_momentum(arm, q + h * qd + h**2 / 2 * qdd, qd + h * qdd)
    behind = armdyn.generalized_momentum(arm, q - h * qd + h**2 / 2 * qdd, qd - h * qdd)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    rate = tau + armdyn.coriolis_matrix(arm, q, qd).T @ qd - armdyn.gravity_torque(arm, q)
    np.testing.assert_allclose(rate, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-6)
