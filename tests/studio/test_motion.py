"""Motions that the page plays."""

import numpy as np
from tests.raising import raises

from armdyn import ArmdynError, arms, joint_torque, read_log
from armdyn.studio.motion import from_log, from_trajectory
from armdyn.studio.panels.log import relative_error
from armdyn.trajectory.point_to_point import point_to_point


def test_a_log_of_the_model_itself_is_predicted(arm, log):
    motion = from_log(log, arm)
    assert motion.t[0] == 0
    # The smoothing that identification applies bends the ends of a log; the middle shows the model.
    middle = slice(100, -100)
    np.testing.assert_allclose(motion.predicted[middle], motion.measured[middle], atol=0.02 * np.abs(log.tau).max())
    assert relative_error(motion) < 0.05


def test_an_arm_of_unknown_inertia_still_plays(arm, log):
    motion = from_log(log, arm.with_theta(np.full(20, np.nan)))
    assert motion.predicted is None
    assert np.isnan(relative_error(motion))


def test_moments_lie_between_samples_and_stop_at_the_ends(arm, log):
    motion = from_log(log, arm)
    middle = motion.at((motion.t[10] + motion.t[11]) / 2)
    np.testing.assert_allclose(middle.q, (motion.q[10] + motion.q[11]) / 2)
    np.testing.assert_allclose(motion.at(motion.t[7]).measured, log.tau[7])
    np.testing.assert_allclose(motion.at(99.0).q, motion.q[-1])
    np.testing.assert_allclose(motion.at(-1.0).q, motion.q[0])


def test_a_trajectory_has_the_torques_it_needs(arm):
    trajectory = point_to_point([0, 0], [1, -0.5], duration=2.0)
    motion = from_trajectory("move", trajectory, arm)
    assert motion.duration == 2.0
    np.testing.assert_allclose(motion.predicted, joint_torque(arm, *trajectory(motion.t)))


def test_the_csv_is_a_log_again(arm, log, tmp_path):
    motion = from_log(log, arm)
    (tmp_path / "again.csv").write_text(motion.csv())
    again = read_log(tmp_path / "again.csv", arm)
    np.testing.assert_array_equal(again.q, motion.q)
    np.testing.assert_array_equal(again.tau, motion.measured)


def test_a_log_of_another_arm_is_rejected(log):
    with raises(ArmdynError, cause="2 joints in the log, 6 in arm 'puma560'"):
        from_log(log, arms.puma560())


def test_two_models_stand_beside_each_other(arm, log):
    light = arm.with_theta(0.5 * arm.theta)
    motion = from_log(log, arm, light)
    np.testing.assert_array_equal(motion.described, from_log(log, light).predicted)
    assert from_log(log, arm).described is None
