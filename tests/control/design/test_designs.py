"""Designs of every law: sensible on arms whose poses and wrists are not."""

import numpy as np
from tests.raising import raises

import armdyn
from armdyn.control.design.designs import designs, mean_inertia, named_design, plain_name
from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.errors import ArmdynError
from armdyn.simulation.compare import Sway, compare, with_mismatch
from armdyn.trajectory.protocol import JointMotion

LOAD, RATE, BANDWIDTH = 2.5, 1000.0, 3.0


def designed(arm, rate=RATE):
    motion = Sway.within(arm, 12.0)(np.linspace(0.0, 12.0, 60))
    return designs(arm, motion, BANDWIDTH, rate), motion


def test_gains_are_those_of_the_motion_not_of_one_pose():
    """The LWR in the middle of its range stands upright: about its first axis it has next to no inertia there."""
    arm = armdyn.arms.lwr4()
    laws, motion = designed(arm, 10 * RATE)  # which bears the gains even where there is least inertia
    one = armdyn.mass_matrix(arm, np.zeros(arm.n))[0, 0]
    mean = mean_inertia(arm, motion)
    assert mean[0, 0] > 5 * one
    assert np.allclose(laws["PD"].kp, np.diagonal(mean) * (2 * np.pi * BANDWIDTH) ** 2)


def test_a_load_at_a_light_wrist_does_not_unsettle_the_regulator():
    """The slowest error of a loaded UR10 still dies away; weighing all angles alike leaves a third of that."""
    arm = armdyn.arms.ur10()
    laws, motion = designed(arm)
    own = laws["LQR(t)"]
    kp = np.asarray(laws["PD"].kp)
    alike = np.concatenate([np.ones(arm.n), np.full(arm.n, 2 * np.pi * BANDWIDTH)])
    decay = []
    for Q, R in ((own.Q, own.R), (alike, kp)):
        law = TrajectoryLQR(arm, Q, R, RATE, "discrete")
        few = JointMotion(*(x[::4] for x in motion))
        decay.append(-np.log(armdyn.robustness(law, few, [LOAD]).radius[0]) * RATE)
    assert decay[0] > 2.0
    assert decay[0] > 2 * decay[1]


def test_laws_of_the_tip_keep_the_elbows_side(planar):
    """The motion passes through the stretched arm; with the load unknown the joints still follow it."""
    laws, _ = designed(planar)
    some = {name: laws[name] for name in ("operational space", "impedance")}
    found = compare(with_mismatch(planar, LOAD, 1.0), some, Sway.within(planar, 6.0), RATE, every=5)
    for row in found.rows:
        assert row.largest < 0.5, row
        assert row.torque < 60.0, row


def test_names_in_any_spelling(planar):
    laws, _ = designed(planar)
    assert named_design(laws, "lqr-t") == "LQR(t)"
    assert plain_name("PD + gravity") == "pd-gravity"
    with raises(ArmdynError, names=("LQG",)):
        named_design(laws, "LQG")
