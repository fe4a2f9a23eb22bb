"""Settings of designs and tuning helpers: what is rejected, and that one sentence says why."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError
from armdyn.trajectory.protocol import JointMotion

STILL = JointMotion(*np.zeros((3, 4, 2)))
BAD = ("x", [1.0, 2.0, 3.0], -1.0, np.nan, {}, 1j)


def settings(arm):
    """By name: a call with one setting, whose value is bad."""
    mass = armdyn.adapt(armdyn.unknown_mass(arm, (0, 0, 0)))
    law = armdyn.ComputedTorque.from_bandwidth(arm, 2.0)
    lqr = armdyn.TrajectoryLQR(arm, [1.0] * 4, [1.0] * 2, 100.0, "discrete")
    base = armdyn.base_parameters(arm)
    return {
        "PD gain": lambda x: armdyn.PD(arm, x, 1.0),
        "bandwidth": lambda x: armdyn.ComputedTorque.from_bandwidth(arm, x),
        "bandwidth of PD gains": lambda x: armdyn.pd_gains(arm, np.zeros(2), x),
        "limit": lambda x: armdyn.pid(arm, 1.0, 1.0, 1.0, limit=x),
        "width of friction": lambda x: armdyn.FrictionFeedforward(law, x),
        "width of LQR": lambda x: armdyn.TrajectoryLQR(arm, [1.0] * 4, [1.0] * 2, 100.0, width=x),
        "pose": lambda x: armdyn.TrajectoryLQR(arm, [1.0] * 4, [1.0] * 2, 100.0, hold=x),
        "K": lambda x: armdyn.adaptation_gains(mass, *STILL, x),
        "time": lambda x: armdyn.adaptation_gains(mass, *STILL, 1.0, x),
        "inverse gain": lambda x: armdyn.SlotineLi.from_inverse_gain(mass, 1.0, 1.0, x),
        "width of unknown friction": lambda x: armdyn.adapt(arm, "viscous", x),
        "largest error": lambda x: armdyn.optimal_pid(arm, STILL, x, 1.0),
        "time of PID": lambda x: armdyn.optimal_pid(arm, STILL, 0.1, 1.0, time=x),
        "uncertainty": lambda x: armdyn.pole_regions(law, base, x, STILL),
        "friction": lambda x: armdyn.robustness(lqr, STILL, [1.0], x),
        "regulator": lambda x: armdyn.robustness(x, STILL, [1.0]),
        "rate": lambda x: armdyn.failed_assumptions(law, x),
        "bandwidth of designs": lambda x: armdyn.designs(arm, STILL, x, 100.0),
        "payload": lambda x: armdyn.mismatch_study(arm, payload=x, duration=0.1),
        "duration": lambda x: armdyn.mismatch_study(arm, duration=x),
        "run": lambda x: armdyn.retuned(armdyn.SlotineLi(mass, 1.0, 1.0, 1.0), x),
    }


@pytest.mark.parametrize("name", settings(armdyn.arms.planar2()))
def test_a_bad_setting_is_rejected_in_a_sentence(planar, name):
    for value in BAD:
        with raises(ShapeError, cause="") as caught:
            settings(planar)[name](value)
        assert "\n" not in str(caught.value)
