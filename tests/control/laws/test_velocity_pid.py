"""PID in velocity form."""

from __future__ import annotations

import numpy as np
from tests.raising import raises

import armdyn
from armdyn.control import VelocityPID, pid
from armdyn.errors import ShapeError


def test_below_its_limits_it_is_pid():
    arm = armdyn.arms.planar2()
    gains = (200.0, 100.0, 30.0)
    motion = armdyn.point_to_point([0.0, 0.0], [0.6, -0.4], duration=0.5)
    runs = [
        armdyn.simulate(arm, law, motion, 0.8, 1000, hold=True)
        for law in (pid(arm, *gains, limit=np.inf), VelocityPID(arm, *gains, limit=np.inf))
    ]
    np.testing.assert_allclose(runs[1].tau, runs[0].tau, atol=1e-9)
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-11)


def test_limits_wind_nothing_up():
    """Held against a limit for a second, the torque falls in the very sample in which the error turns."""
    arm = armdyn.arms.planar2()
    law = VelocityPID(arm, 100.0, 50.0, 0.0, limit=5.0)
    state, zero = law.init(), np.zeros(2)
    from armdyn.control.protocol import Reference

    for _ in range(1000):
        tau, state = law.step(arm, law.params, state, zero, zero, Reference(np.ones(2), zero, zero, {}), 1e-3)
    np.testing.assert_allclose(tau, 5.0)
    tau, state = law.step(arm, law.params, state, zero, zero, Reference(0.9 * np.ones(2), zero, zero, {}), 1e-3)
    np.testing.assert_allclose(tau, 5.0 - 100.0 * 0.1 + 50.0 * 1e-3, atol=1e-12)


def test_gains_are_checked():
    with raises(ShapeError, where="VelocityPID: kp", expected="gains >= 0", got="-1 for joint 'joint1'"):
        VelocityPID(armdyn.arms.planar2(), -1.0, 0.0, 0.0)
