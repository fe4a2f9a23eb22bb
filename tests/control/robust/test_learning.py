"""Iterative learning: the update is the minimum, exact loops contract, real ones halve errors per trial."""

import dataclasses
import shutil

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import ComputedTorque, FeedforwardPD, Friction, law_code
from armdyn.control.compiled import self_test
from armdyn.control.robust.learning import IterativeLearning, feedback
from armdyn.errors import ArmdynError, ShapeError
from armdyn.simulation.learn import learn
from armdyn.trajectory.protocol import JointMotion


@pytest.fixture(scope="module")
def move():
    return armdyn.point_to_point([-0.5, 0.3], [0.6, -0.4], duration=1.0)


@pytest.fixture(scope="module")
def method(planar, move):
    return IterativeLearning(ComputedTorque.from_bandwidth(planar, 3.0), move, 100.0)


def lifted(method):
    """G (N n, N n) from torques to the positions after them, by stepping units through the loops."""
    A, B = method.loops
    N, n = len(A), B.shape[-1]
    G = np.zeros((N, n, N, n))
    for k in range(N):
        x = B[k].copy()
        for j in range(k, N):
            G[j, :, k] = x[:n]
            if j + 1 < N:
                x = A[j + 1] @ x
    return G.reshape(N * n, N * n)


def test_the_change_is_the_minimum(method):
    """Against the dense least-squares problem with all torques at once, 1e-10."""
    N, n = len(method.loops[0]), 2
    e = np.random.default_rng(0).normal(size=(N + 1, n))
    e[0] = 0.0  # nothing changes where a trial begins
    G, R = lifted(method), np.kron(np.eye(N), method.weight)
    expected = np.linalg.solve(G.T @ G + R, G.T @ e[1:].ravel())
    assert np.allclose(method.change(e).ravel(), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_trials_of_the_exact_loop_contract(method):
    """The map from errors to errors has norm below one, and slow errors fall by more than nine tenths."""
    G, N = lifted(method), len(method.loops[0])
    left = np.eye(2 * N) - G @ np.linalg.solve(G.T @ G + np.kron(np.eye(N), method.weight), G.T)
    assert np.linalg.norm(left, 2) < 1
    slow = np.repeat(np.sin(np.pi * np.arange(1, N + 1) / N), 2)
    assert np.linalg.norm(left @ slow) < 0.1 * np.linalg.norm(slow)


def test_feedback_is_found_by_differences(planar, move):
    """Computed torque: K = [M kp + what Coriolis and gravity add, M kd + ...]; at rest M kp - dg/dq, M kd."""
    law = ComputedTorque.from_bandwidth(planar, 3.0)
    motion = JointMotion(*(x[None] for x in move(0.0)))
    K = feedback(law, np.zeros(1), motion)[0]
    M = armdyn.mass_matrix(planar, motion.q[0])
    linear = armdyn.linearize(planar, *(x[0] for x in motion))
    dg = -M @ linear.A[2:, :2]
    assert np.allclose(K[:, 2:], M * law.kd, rtol=1e-6, atol=1e-6)
    assert np.allclose(K[:, :2], M * law.kp - dg, rtol=1e-5, atol=1e-4)


def test_errors_halve_per_trial_under_a_wrong_load_and_friction(planar, move):
    """2 kg and friction that the model lacks: every trial at most half the error of the last, down to 1 in 400."""
    friction = (Friction(viscous=2.0, coulomb=3.0), Friction(viscous=0.5, coulomb=1.0))
    joints = [dataclasses.replace(j, friction=f) for j, f in zip(planar.joints, friction, strict=True)]
    true = planar.with_joints(joints).with_payload(2.0)
    law = FeedforwardPD(planar, [300.0, 80.0], [60.0, 12.0])
    found = learn(true, law, move, 1000.0, 5)
    ratios = found.errors[1:] / found.errors[:-1]
    assert (ratios < 0.5).all()
    assert found.errors[-1] < found.errors[0] / 400
    assert "trial 5: RMS error" in str(found)


def test_bad_input(planar, move):
    with raises(ShapeError, expected="a control law without state"):
        IterativeLearning(armdyn.pid(planar, 10.0, 1.0, 1.0), move)
    with raises(ArmdynError, where="learn: trials", expected="an integer > 0", got="0"):
        learn(planar, ComputedTorque.from_bandwidth(planar, 3.0), move, trials=0)


def test_wrong_records_are_rejected(method):
    with raises(ShapeError, expected="torques and finite errors of shape (101, 2)", got="(3, 2)"):
        method.improved(np.zeros((3, 2)), np.zeros((3, 2)))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_learnt_torque_is_an_argument_in_c(method, tmp_path):
    code = law_code(method.trial(), tmp_path, 100.0, prefix="learnt")
    assert "learnt[2]" in code.header.read_text()
    self_test(code)
