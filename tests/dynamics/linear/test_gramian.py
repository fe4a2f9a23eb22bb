"""Gramians against the exponential of the block matrix, Lyapunov's equation, and known lost directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov
from tests.raising import raises

from armdyn.dynamics.linear.gramian import controllability, observability
from armdyn.errors import ShapeError


def van_loan(A, B, T):
    """The Gramian from one exponential of a matrix twice the size (Van Loan 1978)."""
    m = len(A)
    E = expm(np.block([[-A, B @ B.T], [np.zeros((m, m)), A.T]]) * T)
    return E[m:, m:].T @ E[:m, m:]


@pytest.mark.parametrize("T", [1e-3, 0.1, 1.5])
def test_equals_van_loan(T):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 4, 4)), rng.normal(size=(5, 4, 2))
    W = controllability(A, B, T).W
    for k in range(5):
        expected = van_loan(A[k], B[k], T)
        np.testing.assert_allclose(W[k], expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


def test_a_stable_system_approaches_lyapunov():
    rng = np.random.default_rng(1)
    A, C = rng.normal(size=(4, 4)) - 4 * np.eye(4), rng.normal(size=(2, 4))
    # After 30 s the slowest mode, near 1/s, has decayed to 1e-13.
    W = observability(A, C, 30.0).W
    np.testing.assert_allclose(W, solve_continuous_lyapunov(A.T, -C.T @ C), rtol=1e-9, atol=1e-12)


def test_double_integrator_by_hand():
    T = 0.7
    W, smallest, largest = controllability([[0, 1], [0, 0]], [[0], [1]], T)
    np.testing.assert_allclose(W, [[T**3 / 3, T**2 / 2], [T**2 / 2, T]], rtol=1e-13)
    np.testing.assert_allclose([smallest, largest], np.linalg.eigvalsh(W), rtol=1e-12)


def test_a_direction_that_no_input_reaches_has_measure_zero():
    A, B = np.diag([-1.0, -2.0]), np.array([[1.0], [0.0]])
    assert controllability(A, B, 1.0).smallest == 0.0
    assert observability(A, B.T, 1.0).smallest == 0.0
    assert observability(A, [[1.0, 1.0]], 1.0).smallest > 1e-4


def test_bad_input_is_named():
    with raises(ShapeError, where="observability", expected="C of shape (..., k, 2)", got="(2, 3)"):
        observability(np.eye(2), np.ones((2, 3)), 1.0)
    with raises(ShapeError, where="controllability", expected="horizon > 0", got="-1"):
        controllability(np.eye(2), np.ones((2, 1)), -1.0)
    A = np.zeros((4, 2, 2))
    A[3, 0, 1] = np.nan
    with raises(ShapeError, expected="finite numbers for A, but sample 3 is NaN or infinite"):
        controllability(A, np.ones((2, 1)), 1.0)
