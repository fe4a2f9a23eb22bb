"""Logs of arms that touch something."""

from __future__ import annotations

import numpy as np
from tests.raising import raises

import armdyn
from armdyn.errors import DataError, ModelError


def touched_log(arm, wrench):
    t = np.arange(400) * 0.01
    phase = 2 * np.pi * 0.5 * t[:, None] + np.arange(arm.n)
    q, qd, qdd = np.sin(phase), np.pi * np.cos(phase), -(np.pi**2) * np.sin(phase)
    return armdyn.Log(t, q, armdyn.inverse_dynamics(arm, q, qd, qdd, wrench=wrench)), (q, qd, qdd)


def test_a_log_with_a_wrist_sensor_becomes_one_of_free_motion():
    arm = armdyn.arms.puma560()
    wrench = np.random.default_rng(0).normal(size=(400, 6)) * 20
    log, motion = touched_log(arm, wrench)
    free = armdyn.subtract_wrench(log, arm, wrench)
    np.testing.assert_allclose(free.tau, armdyn.inverse_dynamics(arm, *motion), atol=1e-10)
    assert "subtracted" in free.notes[-1]
    # The parameters that determine torques come out of it, and not out of the touched log.
    base = armdyn.base_parameters(arm)
    Y = base.regressor(*motion).reshape(-1, base.count)
    exact = base.project(arm.theta)
    estimate, touched = (np.linalg.lstsq(Y, x.tau.ravel(), rcond=None)[0] for x in (free, log))
    np.testing.assert_allclose(Y @ estimate, Y @ exact, atol=1e-8)
    assert np.abs(Y @ touched - Y @ exact).max() > 0.1


def test_a_wrench_acts_on_a_frame():
    arm = armdyn.arms.puma560()
    wrench = np.array([5.0, -3.0, 8.0, 0.4, 0.2, -0.3])
    log, motion = touched_log(arm.with_tip("link6"), wrench)
    free = armdyn.subtract_wrench(log, arm.with_tool(np.diag([1.0, -1.0, -1.0, 1.0])), wrench, frame="link6")
    np.testing.assert_allclose(free.tau, armdyn.inverse_dynamics(arm, *motion), atol=1e-10)
    with raises(ModelError, names=("sensor",), remedy="frames: tip, link1, link2, link3, link4, link5, link6"):
        armdyn.subtract_wrench(log, arm, wrench, frame="sensor")
    with raises(DataError, expected="a Log", got="None", remedy="read_log reads one from a file"):
        armdyn.subtract_wrench(None, arm, wrench)


def test_wrenches_of_another_length_are_rejected():
    arm = armdyn.arms.puma560()
    log, _ = touched_log(arm, np.zeros(6))
    with raises(DataError, remedy="give one row for each sample of the log"):
        armdyn.subtract_wrench(log, arm, np.zeros((399, 6)))
    with raises(DataError, cause="the log has 6 joints, arm 'planar2' has 2"):
        armdyn.subtract_wrench(log, armdyn.arms.planar2(), np.zeros(6))
