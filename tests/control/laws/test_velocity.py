"""Velocities from positions: each estimator against an independent formula, and in a loop whose velocities lie."""

import shutil

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import ComputedTorque, Guarded, Reference, Sensors, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.laws.velocity import FilteredDerivative, KalmanVelocity, ObservedVelocity
from armdyn.errors import ShapeError

DT = 1e-3
MAKE = {
    "derivative": lambda law: FilteredDerivative(law, 60.0),
    "kalman": lambda law: KalmanVelocity(law, 1000.0, 1e-5, 300.0),
    "observer": lambda law: ObservedVelocity(law, 30.0),
}


@pytest.fixture
def inner(planar):
    return ComputedTorque.from_bandwidth(planar, 3.0)


def steps(law, q, qd=None):
    """States after each of some samples q (T, n)."""
    state, found = law.init(), []
    for row in q:
        ref = Reference(row, 0 * row, 0 * row)
        _, state = law.step(law.arm, law.params, state, row, 1e6 * np.ones(2) if qd is None else qd, ref, DT)
        found.append(state)
    return found


def test_the_filtered_derivative_is_its_recursion(inner):
    q = np.cumsum(np.random.default_rng(0).normal(size=(20, 2)), 0) * 1e-3
    expected, kept = np.zeros(2), np.exp(-2 * np.pi * 60.0 * DT)
    for k, state in enumerate(steps(MAKE["derivative"](inner), q)):
        if k:
            slope = (q[k] - q[k - 1]) / DT
            expected = slope + kept * (expected - slope)
        assert np.allclose(state["qd_hat"], expected, rtol=1e-10, atol=1e-12)


def test_kalman_gains_are_where_the_filters_recursion_ends(inner):
    """The textbook's covariances step by step, in more digits than a double has, 1e-10; then the filter itself."""
    law, h, r = MAKE["kalman"](inner), np.longdouble(DT), np.longdouble(1e-5) ** 2
    A = np.array([[1, h, h * h / 2], [0, 1, h], [0, 0, 1]])
    Q = 300**2 * np.array([[h**5 / 20, h**4 / 8, h**3 / 6], [h**4 / 8, h**3 / 3, h**2 / 2], [h**3 / 6, h**2 / 2, h]])
    P = Q
    for _ in range(2000):
        gain = P[:, 0] / (P[0, 0] + r)
        P = A @ (P - np.outer(gain, P[0])) @ A.T + Q
    assert np.allclose(law.kalman_gain, gain.astype(float), rtol=1e-10)
    errors = (np.eye(3) - np.outer(gain, [1, 0, 0])).astype(float) @ A.astype(float)
    assert np.abs(np.linalg.eigvals(errors)).max() < 1  # estimates contract
    x = np.array([[0.3, -0.2], [0, 0], [0, 0]])
    q = x[0] + np.cumsum(np.random.default_rng(1).normal(size=(20, 2)), 0) * 1e-4
    x[0] = q[0]
    for k, state in enumerate(steps(law, q)):
        if k:
            x = A @ x
            x = x + np.outer(law.kalman_gain, q[k] - x[0])
        assert np.allclose(state["qd_hat"], x[1], rtol=1e-9, atol=1e-10)


def test_the_observer_predicts_with_the_model(planar, inner):
    law = MAKE["observer"](inner)
    q = np.array([[0.3, -0.2], [0.301, -0.199]])
    first, second = steps(law, q)
    tau, pole = first["tau_given"], np.exp(-2 * np.pi * 30.0 * DT)
    v = DT * np.linalg.solve(armdyn.mass_matrix(planar, q[1]), tau - armdyn.gravity_torque(planar, q[1]))
    x = q[0] + DT * v / 2
    assert np.allclose(second["qd_hat"], v + (1 - pole) ** 2 / DT * (q[1] - x), rtol=1e-10)
    assert np.allclose(second["q_hat"], x + (1 - pole**2) * (q[1] - x), rtol=1e-10)


@pytest.mark.parametrize("name", MAKE)
def test_loops_close_on_positions_alone(planar, swing, inner, name):
    """Encoders of 1e-5 rad and velocities that are noise: with estimates the arm follows within some milliradians."""
    reference, sensors = swing([0.4, -0.3], [0.5, 0.4], 1.0), Sensors(resolution=1e-5, qd_noise=5.0)
    run = simulate(planar, MAKE[name](inner), reference, 1.0, 1000, sensors=sensors, seed=0, check=False)
    late = run.t > 0.3
    assert np.abs(run.error[late]).max() < 5e-3
    assert np.sqrt(((run.states["qd_hat"][1:] - run.qd[:-1])[late[1:]] ** 2).mean()) < 0.05


def test_the_observer_is_less_late_than_a_filter(planar, swing, inner):
    """Of the same bandwidth, with a right model: the error of the velocity is far below the filter's lag."""
    reference, errors = swing([0.4, -0.3], [1.5, 1.2], 1.0), []
    for law in (ObservedVelocity(inner, 20.0), FilteredDerivative(inner, 20.0)):
        run = simulate(planar, law, reference, 1.0, 1000, check=False)
        errors.append(np.sqrt(((run.states["qd_hat"][1:] - run.qd[:-1])[200:] ** 2).mean()))
    assert errors[0] < 0.1 * errors[1]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_they_export_behind_a_guard(inner, tmp_path):
    for name, make in MAKE.items():
        self_test(law_code(Guarded(make(inner), limit=500.0), tmp_path, 1000.0, prefix=name))


def test_bad_settings(inner):
    with raises(ShapeError, expected="frequencies > 0, one number or 2", got="-1.0"):
        FilteredDerivative(inner, -1.0)
    with raises(ShapeError, where="KalmanVelocity: noise", expected="a number > 0", got="0.0"):
        KalmanVelocity(inner, 1000.0, noise=0.0)
