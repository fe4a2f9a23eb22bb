"""The minimiser within linear bounds, against SciPy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from armdyn.trajectory.excitation.interior_point import Bounds, minimize_inside


def test_barrier_derivatives():
    rng = np.random.default_rng(0)
    bounds = Bounds(rng.normal(size=(2, 9, 3)))
    x = 0.05 * rng.normal(size=(2, 3))
    step, h = rng.normal(size=(2, 3)), 1e-5
    _, gradient, hessian = bounds.barrier(x)
    ahead, behind = bounds.barrier(x + h * step), bounds.barrier(x - h * step)
    # Central differences of functions of order one.
    np.testing.assert_allclose((ahead[0] - behind[0]) / (2 * h), (gradient * step).sum(), rtol=1e-6)
    curve = np.einsum("ijk,ik->ij", hessian, step)
    np.testing.assert_allclose((ahead[1] - behind[1]) / (2 * h), curve, rtol=1e-5)


def test_a_linear_function_ends_where_a_linear_program_ends():
    rng = np.random.default_rng(1)
    A, c = rng.normal(size=(3, 40, 4)), rng.normal(size=(3, 4))
    x = np.zeros((3, 4))
    for weight in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
        x = minimize_inside(
            lambda x: (float((c * x).sum()), c), x, Bounds(A), weight=weight, steps=200, tolerance=1e-12
        ).x
        assert (np.abs(np.einsum("irm,im->ir", A, x)) < 1).all()
    best = sum(linprog(c[i], np.vstack([A[i], -A[i]]), np.ones(80), bounds=(None, None)).fun for i in range(3))
    # The barrier's weight times the number of bounds that hold back, 12.
    assert abs((c * x).sum() - best) < 1e-3


def test_an_unbounded_quadratic_is_solved():
    rng = np.random.default_rng(2)
    root, goal = rng.normal(size=(6, 6)), rng.normal(size=(2, 3))
    H = root @ root.T + np.eye(6)

    def quadratic(x):
        step = (x - goal).ravel()
        return float(step @ H @ step) / 2, (H @ step).reshape(2, 3)

    found = minimize_inside(
        quadratic, np.zeros((2, 3)), Bounds(np.zeros((2, 1, 3))), weight=0, steps=200, tolerance=1e-16
    )
    np.testing.assert_allclose(found.x, goal, atol=1e-6)


def test_it_ends_at_a_minimum_from_which_no_step_leads():
    found = minimize_inside(
        lambda x: (0.0, 0 * x), np.zeros((1, 2)), Bounds(np.eye(2)[None]), weight=1.0, steps=99, tolerance=-1.0
    )
    assert np.isfinite(found.hessian).all()
    np.testing.assert_array_equal(found.x, 0)


def test_patience_goes_on_through_small_gains():
    # A long flat way down: every step gains 0.01 at most.
    def slope(x):
        return 0.01 * float(x.sum()), np.full_like(x, 0.01)

    start, bounds = np.full((1, 1), 0.9), Bounds(np.ones((1, 1, 1)))
    options = {"weight": 1e-9, "steps": 50, "tolerance": 0.012}
    hasty = minimize_inside(slope, start, bounds, **options)
    patient = minimize_inside(slope, start, bounds, patience=10, **options)
    assert hasty.steps == 1
    assert patient.steps >= 10
    assert patient.value < hasty.value


def test_it_stops_when_told():
    calls = []

    def objective(x):
        calls.append(x)
        return float((x**2).sum()), 2 * x

    found = minimize_inside(
        objective, np.full((1, 2), 0.5), Bounds(np.eye(2)[None]), weight=1e-3, steps=99, tolerance=0, stop=lambda: True
    )
    assert found.steps == 1
    assert len(calls) <= 3


def test_every_step_is_told():
    told = []
    found = minimize_inside(
        lambda x: (float(((x - 0.2) ** 2).sum()), 2 * (x - 0.2)), np.zeros((2, 3)), Bounds(np.full((2, 1, 3), 0.1)),
        weight=1e-6, steps=50, tolerance=1e-12, tell=lambda x: told.append(x.copy()),
    )  # fmt: skip
    assert 1 < len(told) <= found.steps
    np.testing.assert_array_equal(told[-1], found.x)
    values = [((x - 0.2) ** 2).sum() for x in told]
    assert values[-1] < values[0]
