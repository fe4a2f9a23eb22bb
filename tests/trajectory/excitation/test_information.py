"""Criteria of information matrices: values and derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.trajectory.excitation.information import CRITERIA, condition_numbers, evaluate, least_seen


@pytest.fixture
def matrices() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(40, 5)) * [1, 2, 5, 0.3, 1]
    return W, np.stack([np.eye(5), np.eye(5) + 0.3 * rng.normal(size=(5, 5))])


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_derivatives(matrices, criterion, unit):
    W, forms = matrices
    dW = np.random.default_rng(1).normal(size=W.shape)
    found = evaluate(W.T @ W, forms, criterion, 4.0, unit)
    h = 1e-6

    def at(step):
        return evaluate((W + step * dW).T @ (W + step * dW), forms, criterion, 4.0, unit).value

    # Central differences of a function of order one.
    assert (at(h) - at(-h)) / (2 * h) == pytest.approx(2 * (found.slope * (W.T @ dW)).sum(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("unit", [False, True])
def test_the_sharp_limit_is_the_plain_condition_number(matrices, unit):
    W, forms = matrices
    scaled = [W @ F / (np.linalg.norm(W @ F, axis=0) if unit else 1) for F in forms]
    plain = [np.linalg.cond(A) for A in scaled]
    np.testing.assert_allclose(condition_numbers(W.T @ W, forms, unit), plain, rtol=1e-9)
    soft = np.exp(evaluate(W.T @ W, forms, "condition", 1e4, unit).value)
    # A p-norm of k terms exceeds the maximum by a factor k^(1/p) at most.
    assert max(plain) * (1 - 1e-9) <= soft <= max(plain) * 1.001


@pytest.mark.parametrize("q", [1e-4, 0.3])
def test_kalman_is_the_slowest_time_constant_of_the_steady_filter(matrices, q):
    scipy_linalg = pytest.importorskip("scipy.linalg")
    S = matrices[0].T @ matrices[0]
    # Parameters drift (dx = w), y = W x + v: the filter's Riccati equation Q - P S P = 0, de/dt = -P S e.
    P = scipy_linalg.solve_continuous_are(np.zeros((5, 5)), np.linalg.cholesky(S), q * np.eye(5), np.eye(5))
    slowest = 1 / np.linalg.eigvals(P @ S).real.min()
    found = evaluate(S, np.eye(5)[None], "kalman", 1e4, False)
    # The p-norm of 5 terms is within 5^(1 / 2p) of the maximum.
    assert np.exp(found.value) / np.sqrt(q) == pytest.approx(slowest, rel=1e-3)


def test_equal_eigenvalues_have_a_derivative():
    found = evaluate(np.eye(4), np.eye(4)[None], "condition", 20.0, False)
    assert np.isfinite(found.slope).all()
    np.testing.assert_allclose(found.slope, 0, atol=1e-12)


def test_columns_that_are_not_told_apart_are_named():
    W = np.random.default_rng(0).normal(size=(40, 5))
    W[:, 3] = 2 * W[:, 1] + 1e-6 * W[:, 4]
    assert sorted(least_seen(W.T @ W)) == [1, 3]
    W[:, 2] = 0
    assert least_seen(W.T @ W) == [2]


def test_singular_matrices_are_infinitely_bad():
    S = np.diag([1.0, 0.0])
    assert evaluate(S, np.eye(2)[None], "condition", 6.0, False) is None
    assert evaluate(S, np.eye(2)[None], "condition", 6.0, True) is None
    assert np.isinf(condition_numbers(S, np.eye(2)[None])).all()
    assert np.isinf(condition_numbers(S, np.eye(2)[None], True)).all()
