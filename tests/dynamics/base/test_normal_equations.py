"""Normal equations of a log, block by block."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.arrays import CACHE_BYTES
from armdyn.dynamics.base.normal_equations import normal_equations
from armdyn.errors import ShapeError


@pytest.fixture
def log(random_arm):
    arm = random_arm("RPR", seed=2)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, CACHE_BYTES // (20 * arm.n**2) + 37, arm.n))  # some blocks
    return arm, (q, qd, qdd, armdyn.inverse_dynamics(arm, q, qd, qdd))


def test_equal_to_the_stacked_regressor(log):
    arm, samples = log
    weights = np.array([1.0, 2.0, 0.5])
    Y = armdyn.regressor(arm, *samples[:3])
    found = normal_equations(arm, samples, weights)
    # Sums of 1,000 products, in another order.
    np.testing.assert_allclose(found.A, np.einsum("sik,i,sil->kl", Y, weights, Y), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(found.b, np.einsum("sik,i,si->k", Y, weights, samples[3]), rtol=1e-11, atol=1e-8)
    assert found.c == pytest.approx(np.einsum("si,i,si->", samples[3], weights, samples[3]), rel=1e-12)
    assert found.samples == len(samples[0])


def test_parts_of_a_log_from_a_generator(log):
    arm, samples = log
    whole = normal_equations(arm, samples)
    parts = normal_equations(arm, (tuple(x[k : k + 100] for x in samples) for k in range(0, len(samples[0]), 100)))
    np.testing.assert_allclose(parts.A, whole.A, rtol=1e-12, atol=1e-9)
    first, rest = (normal_equations(arm, tuple(x[k] for x in samples)) for k in (slice(500), slice(500, None)))
    np.testing.assert_allclose((first + rest).b, whole.b, rtol=1e-11, atol=1e-8)


def test_base_parameters_are_found_from_them(log):
    arm, samples = log
    base = armdyn.base_parameters(arm)
    A, b, *_ = normal_equations(base, samples)
    # The condition number of A is the square of the regressor's (about 1e2).
    np.testing.assert_allclose(np.linalg.solve(A, b), base.theta, rtol=1e-9, atol=1e-9)


def test_mistakes_are_named(log):
    arm, (q, qd, qdd, tau) = log
    with raises(ShapeError, expected="q, qd, qdd, tau of one shape (N, 3)"):
        normal_equations(arm, (q, qd, qdd, tau[:5]))
    with raises(ShapeError, expected="3 weights >= 0", got="[1, -1, 1]"):
        normal_equations(arm, (q, qd, qdd, tau), weights=[1, -1, 1])
