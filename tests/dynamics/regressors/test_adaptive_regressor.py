"""The Slotine-Li regressor: M a + C v + g with the Christoffel C."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

# Round-off of a few hundred operations on torques of order 100.
CLOSE = {"rtol": 1e-12, "atol": 1e-11}
KINDS = ["R", "P", "RPR", "PRP", "RRPRRR"]


def draw(arm, count=6, seed=0):
    return np.random.default_rng(seed).normal(size=(4, count, arm.n))


@pytest.mark.parametrize("kinds", KINDS)
def test_it_is_mass_coriolis_and_gravity(random_arm, kinds):
    arm = random_arm(kinds, seed=4)
    q, qd, v, a = draw(arm)
    M, C = armdyn.mass_matrix(arm, q), armdyn.coriolis_matrix(arm, q, qd)
    expected = (M @ a[..., None] + C @ v[..., None])[..., 0] + armdyn.gravity_torque(arm, q)
    np.testing.assert_allclose(armdyn.adaptive_regressor(arm, q, qd, v, a) @ arm.theta, expected, **CLOSE)


def test_with_the_measured_velocity_it_is_the_torque_regressor(random_arm):
    arm = random_arm("RPRR", seed=2)
    q, qd, _, a = draw(arm)
    np.testing.assert_allclose(armdyn.adaptive_regressor(arm, q, qd, qd, a), armdyn.regressor(arm, q, qd, a), **CLOSE)


@pytest.mark.parametrize("kinds", ["RPR", "RRRR"])
def test_skew_symmetry_column_by_column(random_arm, kinds):
    """s'(dM/dt - 2 C) s = 0 for every parameter by itself, with dM/dt from differences of M."""
    arm = random_arm(kinds, seed=7)
    q, qd, s, _ = draw(arm, count=3)
    zero = np.zeros_like(q)
    weightless = np.zeros(3)
    Cs = armdyn.adaptive_regressor(arm, q, qd, s, zero, gravity=weightless)
    h = 1e-5
    ahead, behind = (armdyn.adaptive_regressor(arm, q + k * h * qd, zero, zero, s, gravity=weightless) for k in (1, -1))
    skew = np.einsum("...i,...ik->...k", s, (ahead - behind) / (2 * h) - 2 * Cs)
    # Central differences: truncation h² times third derivatives, and round-off 1e-16 / h.
    np.testing.assert_allclose(skew, 0, atol=1e-8)


def test_symmetric_in_the_two_velocities(random_arm):
    """C(q, qd) v = C(q, v) qd, as Christoffel symbols are symmetric."""
    arm = random_arm("RRPR", seed=9)
    q, qd, v, a = draw(arm)
    np.testing.assert_allclose(
        armdyn.adaptive_regressor(arm, q, qd, v, a), armdyn.adaptive_regressor(arm, q, v, qd, a), **CLOSE
    )
