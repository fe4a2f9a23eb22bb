"""Riccati equations against SciPy, and against what optimal means."""

import numpy as np
import pytest
from tests.raising import raises

from armdyn.control.theory.riccati import continuous_lqr, discrete_lqr, finite_horizon_lqr
from armdyn.errors import ArmdynError, ShapeError


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(6, 5, 5)), rng.normal(size=(6, 5, 2))
    L = rng.normal(size=(5, 5))
    return A, B, L @ L.T, np.diag([1.0, 3.0])


def test_discrete_gains_are_scipys(systems):
    from scipy.linalg import solve_discrete_are

    A, B, Q, R = systems
    _, P = discrete_lqr(A, B, Q, R)
    for k in range(len(A)):
        assert np.allclose(P[k], solve_discrete_are(A[k], B[k], Q, R), rtol=1e-8, atol=1e-9)


def test_continuous_gains_are_scipys(systems):
    from scipy.linalg import solve_continuous_are

    A, B, Q, R = systems
    K, P = continuous_lqr(A, B, Q, R)
    for k in range(len(A)):
        expected = solve_continuous_are(A[k], B[k], Q, R)
        assert np.allclose(P[k], expected, rtol=1e-8, atol=1e-9)
        assert np.allclose(K[k], np.linalg.solve(R, B[k].T @ expected), rtol=1e-8, atol=1e-9)


def test_gains_are_python_controls(systems):
    control = pytest.importorskip("control")
    A, B, Q, R = systems
    for mine, theirs in ((continuous_lqr, control.lqr), (discrete_lqr, control.dlqr)):
        K = mine(A, B, Q, R).K
        for k in range(len(A)):
            assert np.allclose(K[k], theirs(A[k], B[k], Q, R)[0], rtol=1e-7, atol=1e-8)


def test_finite_horizon_is_optimal(systems):
    """The cost-to-go is the cost of the run, and any other first input costs more."""
    A, B, Q, R = systems
    K, P = finite_horizon_lqr(A, B, Q, R, terminal=Q)

    def cost(x, first=None):
        total = 0.0
        for k in range(len(A)):
            u = first if k == 0 and first is not None else -K[k] @ x
            total += x @ Q @ x + u @ R @ u
            x = A[k] @ x + B[k] @ u
        return total + x @ Q @ x

    rng = np.random.default_rng(5)
    x = rng.normal(size=5)
    assert np.isclose(cost(x), x @ P[0] @ x)
    for change in rng.normal(size=(5, 2)):
        assert cost(x, -K[0] @ x + 0.1 * change) > cost(x)


def test_a_long_horizon_is_an_endless_one(systems):
    A, B, Q, R = systems
    long = finite_horizon_lqr(np.repeat(A[:1], 200, 0), np.repeat(B[:1], 200, 0), Q, R, terminal=0 * Q)
    assert np.allclose(long.K[0], discrete_lqr(A[0], B[0], Q, R).K, rtol=1e-9, atol=1e-10)


def test_what_cannot_be_stabilised_is_rejected():
    A, B, one = np.diag([2.0, 0.5]), np.array([[0.0], [1.0]]), np.eye(2)
    with (
        np.errstate(all="raise"),
        raises(ArmdynError, cause="a system of the batch cannot be stabilised with these weights"),
    ):
        discrete_lqr(np.diag([1e3, 0.5]), B, one, np.eye(1))  # numbers stay far from overflow
    with raises(ArmdynError, cause="a system of the batch cannot be stabilised with these weights"):
        discrete_lqr(A, B, one, np.eye(1))
    with raises(ArmdynError, cause="a system of the batch cannot be stabilised with these weights"):
        continuous_lqr(A, B, one, np.eye(1))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"R": -np.eye(1)}, {"expected": "Q positive semidefinite and R positive definite"}),
        ({"Q": np.eye(3)}, {"expected": "Q of shape (..., 2, 2)", "got": "(3, 3)"}),
        ({"A": np.full((2, 2), np.nan)}, {"expected": "finite numbers"}),
        ({"B": np.ones(2)}, {"expected": "matrices", "got": "shapes (2, 2), (2,), (2, 2), (1, 1)"}),
    ],
)
def test_nonsense_is_rejected(change, parts):
    good = {"A": np.eye(2), "B": np.ones((2, 1)), "Q": np.eye(2), "R": np.eye(1)}
    with raises(ShapeError, **parts):
        discrete_lqr(**{**good, **change})
