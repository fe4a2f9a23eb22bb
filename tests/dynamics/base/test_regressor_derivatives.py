"""Derivatives of regressor columns against finite differences and each other."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

STATE = ("dq", "dqd", "dqdd")


@pytest.mark.parametrize("kinds", ["RPR", "RRR"])
def test_against_finite_differences(random_arm, kinds):
    arm = random_arm(kinds, seed=2)
    state = np.random.default_rng(0).normal(size=(3, arm.n))
    exact = armdyn.regressor_derivatives(arm, *state)
    assert exact.dq.shape == (arm.n, 10 * arm.n, arm.n)
    h = 1e-6
    for part in range(3):
        for j in range(arm.n):
            step = np.zeros_like(state)
            step[part, j] = h
            slope = (armdyn.regressor(arm, *(state + step)) - armdyn.regressor(arm, *(state - step))) / (2 * h)
            # Central differences of entries of order 10: h² and 1e-15 / h.
            np.testing.assert_allclose(exact[part][..., j], slope, rtol=0, atol=1e-7)


def test_gradient_contracts_the_derivatives(random_arm):
    arm = random_arm("RPR", seed=3)
    rng = np.random.default_rng(1)
    state, weights = rng.normal(size=(3, 4, arm.n)), rng.normal(size=(4, arm.n, 10 * arm.n))
    gradient = armdyn.regressor_gradient(arm, *state, weights)
    every = armdyn.regressor_derivatives(arm, *state)
    for name in STATE:
        expected = np.einsum("...ik,...ikj->...j", weights, getattr(every, name))
        np.testing.assert_allclose(getattr(gradient, name), expected, rtol=1e-11, atol=1e-11)


def test_gradient_in_base_form(random_arm):
    arm = random_arm("RRR", seed=4)
    base = armdyn.base_parameters(arm, method="rules")
    rng = np.random.default_rng(2)
    state, weights = rng.normal(size=(3, arm.n)), rng.normal(size=(arm.n, base.count))
    spread = np.zeros((arm.n, 10 * arm.n))
    spread[:, list(base.columns)] = weights
    expected = armdyn.regressor_gradient(arm, *state, spread)
    found = armdyn.base_regressor_gradient(base, *state, weights)
    for name in STATE:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11, atol=1e-11)
