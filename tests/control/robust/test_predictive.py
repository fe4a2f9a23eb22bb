"""Predictive control: optimal without limits and with them, limits held, no solution said."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from tests.raising import raises

import armdyn
from armdyn import Plant, simulate
from armdyn.control.robust.predictive import PredictiveControl
from armdyn.errors import ArmdynWarning, ShapeError

pytest.importorskip("daqp")
ERROR, TORQUE, RATE = [0.02, 0.02, 0.5, 0.5], [20.0, 10.0], 200.0


@pytest.fixture(scope="module")
def move():
    return armdyn.point_to_point([-0.5, 0.3], [0.7, -0.4], duration=0.6)


def predictive(arm, move, **options):
    return PredictiveControl(arm, move, RATE, ERROR, TORQUE, 15, **{"effort": [1e4, 1e4], **options})


def test_without_limits_it_is_the_finite_horizon_regulator(planar, move):
    """Torques of the motion and -K x, K by Riccati's equation over the whole motion."""
    controller, rng = (
        predictive(planar, move, position=(-np.full(2, np.inf), np.full(2, np.inf))),
        np.random.default_rng(0),
    )
    for k in (0, 30, 90):
        x = 0.05 * rng.normal(size=4)
        q, qd = controller.motion.q[k] + x[:2], controller.motion.qd[k] + x[2:]
        expected = controller.nominal[k] - controller.regulator.K[k] @ x
        assert np.allclose(controller(k / RATE, q, qd, None), expected, rtol=1e-10, atol=1e-10)


def test_with_limits_it_is_the_minimum(planar, move):
    """The same QP with bounds on torques alone, as least squares by SciPy."""
    controller = predictive(planar, move, effort=[70.0, 12.0], position=(-np.full(2, np.inf), np.full(2, np.inf)))
    x = np.array([-0.2, 0.1, 0.3, -0.5])
    H, f, _, lower, upper, _ = controller.problem(20, x)
    root = np.linalg.cholesky(H).T
    expected = lsq_linear(root, -np.linalg.solve(root.T, f), (lower[: len(f)], upper[: len(f)]), tol=1e-13).x
    tau = controller(20 / RATE, controller.motion.q[20] + x[:2], controller.motion.qd[20] + x[2:], None)
    assert (np.abs(expected - lower[: len(f)]) < 1e-6).any() or (np.abs(expected - upper[: len(f)]) < 1e-6).any()
    assert np.allclose(tau, controller.nominal[20] + expected[:2], rtol=1e-8)


def test_torques_and_positions_keep_their_limits(planar, move):
    """Weak drives and a stop before the motion's end: both limits hold, the regulator's clipped torques break one."""
    effort, stop = np.array([80.0, 16.0]), np.array([0.5, np.inf])
    limits = (np.full(2, -np.inf), stop)
    controller = predictive(planar, move, effort=effort, position=limits)
    run = simulate(Plant(planar), controller, move, 0.9, RATE, hold=True, q0=[-0.6, 0.3], check=False)
    assert (np.abs(run.tau) <= effort + 1e-9).all()
    assert run.q[:, 0].max() < 0.5 + 2e-3  # what the linear model does not see
    assert run.q[-1, 0] == pytest.approx(0.5, abs=5e-3)
    assert not controller.notes
    free = predictive(planar, move, effort=effort, position=(limits[0], np.full(2, np.inf)))
    assert simulate(planar, free, move, 0.9, RATE, hold=True, check=False).q[:, 0].max() > 0.65


def test_limits_that_no_torques_keep_are_exceeded_least_and_it_is_said(planar, move):
    """Beyond a limit by more than the drives can undo in the horizon: full torque back, for those joints alone."""
    controller = predictive(planar, move, effort=[80.0, 16.0], position=([-1.0, -1.0], [1.0, 1.0]))
    controller(0.0, controller.motion.q[0], controller.motion.qd[0], None)
    assert not controller.notes
    with pytest.warns(ArmdynWarning, match="no torques keep the limits of position at t = 0.05 s; those that exceed"):
        tau = controller(0.05, np.array([1.6, 0.3]), np.zeros(2), None)
    assert tau[0] == pytest.approx(-80.0)
    assert len(controller.notes) == 1


def wrist_steps(size, horizon, effort, stop):
    """Runs of a PUMA whose wrist starts off its resting place by a step, with stops of the wrist behind that place."""
    arm = armdyn.arms.puma560()
    rest = armdyn.point_to_point(np.zeros(6), np.full(6, 1e-9), duration=0.8)
    upper = np.r_[np.full(3, np.inf), np.full(3, stop)]
    controller = PredictiveControl(
        arm, rest, 500.0, np.r_[np.full(6, 0.01), np.full(6, 0.5)], arm.effort_limits / 4, horizon,
        effort=effort * arm.effort_limits, position=(np.full(6, -np.inf), upper),
    )  # fmt: skip
    return controller, simulate(
        Plant(arm), controller, rest, 0.8, 500.0, q0=np.r_[0, 0, 0, -size, -size, -size], check=False
    )


@pytest.mark.parametrize(("size", "horizon", "effort"), [(0.05, 20, 1.0), (0.5, 5, 1.0), (0.5, 20, 0.3), (1.5, 5, 0.3)])
def test_rotors_count(size, horizon, effort):
    """Most of the inertia of a PUMA's wrist is that of its rotors: without them it would swing through and past stops.

    Braking from the larger steps takes longer than the horizon.
    """
    controller, run = wrist_steps(size, horizon, effort, 0.002)
    assert run.q[:, 3:].max() < 0.002 + 1e-4  # what the linear model does not see
    assert np.abs(run.q[-1, 3:]).max() < 0.003  # dry friction holds it there
    assert not controller.notes


def test_bad_input(planar, move):
    with raises(ShapeError, where="PredictiveControl: horizon", expected="an integer > 0", got="0"):
        PredictiveControl(planar, move, RATE, ERROR, TORQUE, 0)
    with raises(ShapeError, expected="torques > 0, one number or 2", got="[1.0, -1.0]"):
        PredictiveControl(planar, move, RATE, ERROR, [1.0, -1.0], effort=[1.0, 1.0])
