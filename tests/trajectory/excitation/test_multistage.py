"""The multistage gradient method on the PUMA's first three joints."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, LimitError
from armdyn.trajectory.excitation.multistage import Multistage, Weights, heuristic_start, improve_motion
from armdyn.trajectory.motion_limits import MotionLimits

# P2, P3, P9, P10, P11, P13, P14, P15 of the thesis, and Coulomb friction.
EIGHT = ("mx2", "my2", "mx3", "my3", "Izz3", "Ixy3", "Ixz3", "Iyz3")
ELEVEN = (*EIGHT, "Fc1", "Fc2", "Fc3")
START = 27.8  # J before: the thesis's 0.0278 if R is a sum of 1000 samples, which (5.8) divides by their number
FACTOR = 11.6


def problem(columns=ELEVEN, step=0.005):
    arm = armdyn.arms.puma3()
    # Table 5.1 limits positions and torques alone.
    limits = dataclasses.replace(MotionLimits.of(arm), velocity=np.full(3, np.inf))
    return Multistage(armdyn.base_parameters(arm), columns, limits, step)


@pytest.mark.parametrize("columns", [EIGHT, ELEVEN])
@pytest.mark.parametrize("limits", [np.inf, 40.0])
def test_the_sweep_gives_the_exact_gradient(columns, limits):
    task = problem(columns, step=0.05)
    bounds = dataclasses.replace(task.limits, velocity=np.full(3, limits), acceleration=np.full(3, limits))
    task = dataclasses.replace(task, limits=bounds)
    rng = np.random.default_rng(0)
    u, q0, weights = 0.5 * rng.normal(size=(80, 3)), task.limits.center, Weights(6.0, 1e-3, 0.1)
    step, h = rng.normal(size=u.shape), 1e-6

    def total(u):
        return task.total(task.states(u, q0), weights)[0]

    slope = (total(u + h * step) - total(u - h * step)) / (2 * h)
    # Central differences; tanh(qd / 0.1) bends sharply.
    assert (task.total(task.states(u, q0), weights)[1] * step).sum() == pytest.approx(slope, rel=1e-3)


def test_sharp_norms_are_the_least_singular_value_and_walls_are_not_crossed():
    task = problem(step=0.05)
    u = 0.5 * np.random.default_rng(0).normal(size=(80, 3))
    motion = task.states(u, task.limits.center)
    # The 300-norm of eleven numbers is at most 11^(1/300) = 0.8 % above the largest.
    assert task.total(motion, Weights(300.0))[0] == pytest.approx(task.cost(motion), rel=8e-3)
    assert np.isinf(task.total(task.states(100 * u, task.limits.center), Weights(6.0))[0])
    heavy = dataclasses.replace(task, limits=dataclasses.replace(task.limits, effort=np.full(3, 1.0)))
    assert np.isinf(heavy.total(motion, Weights(6.0))[0])


def test_states_are_those_of_the_transition_matrices():
    task = problem()
    u, x = np.random.default_rng(1).normal(size=(5, 3)), np.array([0.1, 0.2, 0.3, 0, 0, 0])
    A, B = np.eye(6), np.vstack([np.zeros((3, 3)), task.step * np.eye(3)])
    A[:3, 3:] = task.step * np.eye(3)
    motion = task.states(u, x[:3])
    for k in range(5):
        np.testing.assert_allclose(np.concatenate([motion.q[k], motion.qd[k]]), x, atol=1e-15)
        x = A @ x + B @ u[k]


@pytest.mark.parametrize(("columns", "least"), [pytest.param(ELEVEN, 15.0, marks=pytest.mark.slow), (EIGHT, 25.0)])
@pytest.mark.slow
def test_the_cost_falls_by_more_than_in_the_thesis_from_every_start(columns, least):
    task = problem(columns)
    for seed in range(3):
        u, q0 = heuristic_start(task, 1000, rng=np.random.default_rng(seed), sigma=1 / START)
        found = improve_motion(task, u, q0, steps=120)
        assert START / 2 < found.costs[0] < START * 2
        assert task.within(found.motion)
        least_value = np.linalg.svd(task.correlation(found.motion))[1][-1]
        assert found.factor == pytest.approx(found.costs[0] * least_value)
        assert found.factor > least > FACTOR


@pytest.mark.parametrize("seed", range(3))
def test_coulomb_columns_keep_the_cost_above_one(seed):
    """R is a mean (5.8): the entry of a column of signs is at most 1, and no singular value is larger than that."""
    rng, task = np.random.default_rng(seed), problem()
    motion = task.states(20 * rng.normal(size=(200, 3)), task.limits.center)
    assert (np.diag(task.correlation(motion))[-3:] <= 1).all()
    assert task.cost(motion) >= 1


def test_the_motion_becomes_a_trajectory():
    task = problem()
    u, q0 = heuristic_start(task, 400, rng=np.random.default_rng(0), sigma=0.0125)
    found = improve_motion(task, u, q0, steps=3)
    trajectory = found.trajectory
    assert trajectory.duration == pytest.approx(399 * task.step)
    np.testing.assert_allclose(trajectory(task.step * np.arange(400)).q, found.motion.q, atol=1e-9)


def test_bad_requests():
    with raises(
        ArmdynError,
        cause="unknown parameters mass",
        expected=(
            "some of Izz1, mx2, my2, Ixx2, Ixy2, Ixz2, Iyz2, Izz2, mx3, my3, Ixx3, Ixy3, Ixz3, Iyz3, "
            "Izz3, Fv1, Fv2, Fv3, Fc1, Fc2, Fc3"
        ),
    ):
        problem(("mass",))
    with raises(ArmdynError, expected="step as a finite number > 0", got="0.0"):
        problem(step=0.0)
    task = problem()
    with raises(LimitError, cause="the motion to start from breaks a limit"):
        improve_motion(task, np.full((100, 3), 1e3), np.zeros(3))
    with raises(LimitError, cause="no motion within the limits reaches sigma = 1000"):
        heuristic_start(task, 200, rng=np.random.default_rng(0), sigma=1e3)
