"""Discretisation against scipy, known cases and what bad input deserves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import cont2discrete
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError


@pytest.mark.parametrize(("method", "name"), [("zoh", "zoh"), ("euler", "euler"), ("tustin", "bilinear")])
@pytest.mark.parametrize("dt", [1e-4, 1e-2, 0.5])
def test_equals_scipy(method, name, dt):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(6, 5, 5)) * 3, rng.normal(size=(6, 5, 2))
    got = armdyn.discretize(A, B, dt, method)
    for k in range(6):
        Ad, Bd, *_ = cont2discrete((A[k], B[k], np.eye(5), np.zeros((5, 2))), dt, name)
        # Ours and scipy's exponentials are both good to some 1e-14 of the norm.
        np.testing.assert_allclose(got.A[k], Ad, rtol=1e-12, atol=1e-13 * np.abs(Ad).max())
        np.testing.assert_allclose(got.B[k], Bd, rtol=1e-12, atol=1e-13 * np.abs(Bd).max())


@pytest.mark.parametrize("kinds", ["RRR", "RPR"])
def test_arms_along_a_motion(random_arm, kinds):
    """Steps of different length in one call; two half steps with a held input are one whole step."""
    arm, rng = random_arm(kinds, seed=1), np.random.default_rng(2)
    A, B = armdyn.linearize(arm, *rng.normal(size=(3, 7, arm.n)))[3:]
    dt = rng.uniform(1e-3, 0.1, 7)
    whole, half = armdyn.discretize(A, B, dt), armdyn.discretize(A, B, dt / 2)
    np.testing.assert_allclose(half.A @ half.A, whole.A, rtol=1e-11, atol=1e-12 * np.abs(whole.A).max())
    np.testing.assert_allclose(half.A @ half.B + half.B, whole.B, rtol=1e-11, atol=1e-12 * np.abs(whole.B).max())


def test_zero_and_nilpotent_matrices_are_exact():
    A, B = np.zeros((2, 2, 2)), np.array([[0.0], [3.0]])
    A[1, 0, 1] = 1e6
    got = armdyn.discretize(A, B, 0.5)
    np.testing.assert_array_equal(got.A, [[[1, 0], [0, 1]], [[1, 5e5], [0, 1]]])
    np.testing.assert_allclose(got.B[1], [[1e6 * 3 / 8], [1.5]], rtol=1e-15)


def test_one_wild_sample_does_not_spoil_the_others():
    """They share the number of doublings."""
    calm = np.array([[0.0, 1.0], [-4.0, -0.1]])
    wild = np.array([[0.0, 1.0], [0.0, -1e5]])
    together = armdyn.discretize(np.stack([calm, wild]), np.eye(2), 0.01)
    alone = armdyn.discretize(calm, np.eye(2), 0.01)
    np.testing.assert_allclose(together.A[0], alone.A, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(together.B[0], alone.B, rtol=1e-14, atol=1e-17)


def test_bad_input_is_named():
    A, B = np.zeros((3, 2, 2)), np.zeros((3, 2, 1))
    with raises(ShapeError, names=("foh",), expected="one of zoh, euler, tustin"):
        armdyn.discretize(A, B, 0.1, "foh")
    with raises(ShapeError, expected="A of shape (..., m, m)", got="(2, 3)"):
        armdyn.discretize(np.zeros((2, 3)), B, 0.1)
    with raises(ShapeError, expected="B of shape (..., 2, k)", got="(3, 1)"):
        armdyn.discretize(A, np.zeros((3, 1)), 0.1)
    with raises(ShapeError, cause="leading axes do not broadcast: A (3,), B (3,), dt (2,)"):
        armdyn.discretize(A, B, [0.1, 0.2])
    with raises(ShapeError, expected="dt > 0", got="0"):
        armdyn.discretize(A, B, 0)
    A[1, 0, 0] = np.inf
    with raises(ShapeError, expected="finite numbers for A, but sample 1 is NaN or infinite"):
        armdyn.discretize(A, B, 0.1)
