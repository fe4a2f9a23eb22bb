"""PID gains that minimise a quadratic cost: optimal among decoupled ones, and worth it in a run."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.design.pid_design import _augment, _Cost, optimal_pid
from armdyn.control.laws.integral import pid
from armdyn.control.theory.gains import pd_gains
from armdyn.control.theory.riccati import continuous_lqr
from armdyn.errors import ArmdynError, ShapeError
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion

ERROR, TORQUE = [0.05, 0.05], [30.0, 10.0]


@pytest.fixture(scope="module")
def poses(swing):
    return JointMotion(*(np.asarray(x) for x in swing([0.5, -0.9], [0.3, 0.4], 3.0)(np.linspace(0, 3, 6))))


@pytest.fixture(scope="module")
def design(planar, poses):
    return optimal_pid(planar, poses, ERROR, TORQUE, time=0.2)


def cost_of(arm, poses):
    error, torque = np.array(ERROR), np.array(TORQUE)
    Q = np.diag(1 / np.concatenate([error * 0.2, error, error / 0.2]) ** 2)
    spread = np.diag(np.concatenate([[0, 0], error**2, [0, 0]]))
    return _Cost(*_augment(arm, poses, "full"), Q, np.diag(1 / torque**2), spread)


def test_the_gradient_is_that_of_the_cost(planar, poses):
    cost, x = cost_of(planar, poses), np.log([60.0, 20.0, 200.0, 60.0, 40.0, 10.0])
    J, gradient = cost(x)
    for k, step in enumerate(np.eye(6) * 1e-5):
        assert np.isclose((cost(x + step)[0] - cost(x - step)[0]) / 2e-5, gradient[k], rtol=1e-5, atol=1e-7 * J)


def test_gains_are_optimal_and_near_the_coupled_regulator(planar, poses, design):
    cost, x = cost_of(planar, poses), np.log(np.concatenate([design.ki, design.kp, design.kd]))
    assert np.isclose(cost(x)[0], design.cost)
    rng = np.random.default_rng(0)
    for change in rng.normal(size=(10, 6)):
        assert cost(x + 0.05 * change)[0] > design.cost
    assert design.bound < design.cost < 1.3 * design.bound


def test_one_joint_gets_the_optimal_regulator():
    """A single joint has nothing to couple: PID then is the regulator, from Riccati's equation."""
    body = {"mass": 2.0, "com": (-0.2, 0, 0), "inertia": 0.02 * np.eye(3)}
    arm = armdyn.Arm.from_dh([{"kind": "R", "a": 0.5, "alpha": 0, "d": 0, "theta": 0, **body}])
    one = JointMotion(*np.zeros((3, 1, 1)))
    found = optimal_pid(arm, one, 0.1, 5.0, time=1.0)
    A, B = _augment(arm, one, "full")
    Q, R = np.diag(1 / np.array([0.1, 0.1, 0.1]) ** 2), np.eye(1) / 25
    K = continuous_lqr(A, B, Q, R).K[0, 0]
    assert np.allclose([found.ki[0], found.kp[0], found.kd[0]], K, rtol=1e-3)
    assert np.isclose(found.cost, found.bound, rtol=1e-6)


def test_it_pays_in_a_run(planar, design, swing):
    """Against PID from a bandwidth with the same position stiffness of joint 1, by the cost in a run from an error."""
    reference = swing([0.5, -0.9], [0.3, 0.4], 3.0)
    bandwidth = float(np.sqrt(design.kp[0] / armdyn.mass_matrix(planar, [0.5, -0.9])[0, 0]) / (2 * np.pi))
    kp, kd, _ = pd_gains(planar, [0.5, -0.9], bandwidth)
    rms = []
    for law in (pid(planar, *design[:3]), pid(planar, kp, kp * np.pi * bandwidth / 4, kd)):
        run = simulate(planar, law, reference, rate=1000, q0=[0.05, 0.05], check=False)
        rms.append(np.sqrt((run.error**2).mean()))
    assert rms[0] < rms[1]


def test_nonsense_is_rejected(planar, poses):
    with raises(ShapeError, expected="a time > 0 in seconds", got="0.0"):
        optimal_pid(planar, poses, ERROR, TORQUE, time=0.0)
    with raises(ArmdynError, where="optimal_pid: largest_error", expected="errors > 0, one number or 2", got="0.0"):
        optimal_pid(planar, poses, 0.0, TORQUE)
