"""Joint motions along paths of the tip: they follow, and where they cannot they say where and why."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Circle, Line, Quintic, TipMotion, Trapezoid, joint_trajectory, lift
from armdyn.errors import PathError
from armdyn.spatial.transform import transform

Q_PUMA = np.array([0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
Q_PANDA = np.array([0.1, 0.0, 0.2, -2.0, 0.3, 1.8, 0.7])


def follow(arm, motion, q0=None, task="pose", tolerance=1e-8):
    """The trajectory, after checking that the tip moves as asked at all times."""
    trajectory = joint_trajectory(arm, motion, q0, task=task, tolerance=tolerance)
    rows = 6 if task == "pose" else 3
    # Between the breaks, where accelerations do not jump
    t = np.concatenate([np.linspace(a + 1e-6, b - 1e-6, 200) for a, b in pairwise(motion.breaks)])
    q, qd, qdd = trajectory(t)
    pose, velocity, acceleration = motion(t)
    T = armdyn.forward_kinematics(arm, q)
    np.testing.assert_allclose(T[:, :3, 3], pose[:, :3, 3], atol=tolerance)
    if task == "pose":
        np.testing.assert_allclose(T, pose, atol=tolerance)
    # Derivatives of an interpolation are less exact than its values by 1/h and 1/h² of the knots.
    h = np.diff(trajectory.knots).max()
    v = armdyn.point_velocity(arm, q, qd)[:, :rows]
    np.testing.assert_allclose(v, velocity[:, :rows], atol=30 * tolerance / h)
    a = armdyn.point_acceleration(arm, q, qd, qdd)[:, :rows]
    np.testing.assert_allclose(a, acceleration[:, :rows], atol=300 * tolerance / h**2)
    assert trajectory.duration == pytest.approx(motion.duration)
    return trajectory


def puma_line(timing):
    arm = armdyn.arms.puma560()
    path = Line(*armdyn.forward_kinematics(arm, np.array([Q_PUMA, Q_PUMA + np.array([0.3, 0.1, -0.1, 0.2, 0.1, 0.3])])))
    return arm, TipMotion(path, timing(path.length))


def test_a_line_with_quintic_and_with_trapezoid_timing():
    for timing in (lambda s: Quintic(s, 1.5), lambda s: Trapezoid(s, 0.1, 1.0), lambda s: Trapezoid(s, 9.0, 1.0)):
        arm, motion = puma_line(timing)
        trajectory = follow(arm, motion, Q_PUMA)
        np.testing.assert_allclose(trajectory(0.0).q, Q_PUMA, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-3, 100.0])
def test_tiny_and_huge_arms_follow_the_same_line(scaled, factor):
    arm, motion = puma_line(lambda s: Quintic(s, 1.5))
    ends = [motion(t).pose for t in (0.0, motion.duration)]
    for pose in ends:
        pose[:3, 3] *= factor
    path = Line(*ends)
    found = joint_trajectory(
        scaled(arm, factor), TipMotion(path, Quintic(path.length, 1.5)), Q_PUMA, tolerance=1e-8 * max(1, factor)
    )
    t = np.linspace(0.0, 1.5, 50)
    expected = joint_trajectory(arm, motion, Q_PUMA)
    np.testing.assert_allclose(found(t).q, expected(t).q, atol=1e-4)  # 1e-8 m of a millimetre's arm


def test_a_motion_of_eleven_days_is_followed_like_one_of_a_second():
    arm, quick = puma_line(lambda s: Quintic(s, 1.0))
    _, slow = puma_line(lambda s: Quintic(s, 1e6))
    found, expected = joint_trajectory(arm, slow, Q_PUMA), joint_trajectory(arm, quick, Q_PUMA)
    x = np.linspace(0.0, 1.0, 50)
    np.testing.assert_allclose(found(1e6 * x).q, expected(x).q, atol=1e-7)
    np.testing.assert_allclose(found(1e6 * x).qd * 1e6, expected(x).qd, atol=1e-4)
    assert len(found.knots) < 5000


def test_a_circle_of_a_redundant_arm_moves_with_least_velocity():
    arm = armdyn.arms.panda()
    start = armdyn.forward_kinematics(arm, Q_PANDA)
    path = Circle(start, start[:3, 3] + (0.0, 0.08, 0.0), (0, 0, 1), 2.0, turning=True)
    motion = TipMotion(path, Quintic(path.length, 2.0))
    trajectory = follow(arm, motion, Q_PANDA)
    q, qd, _ = trajectory(np.linspace(0.2, 1.8, 9))
    for x, xd in zip(q, qd, strict=True):
        self_motion = np.linalg.svd(armdyn.jacobian(arm, x))[2][6]
        assert abs(self_motion @ xd) < 1e-4 * np.abs(xd).max()


def test_arms_with_few_joints_follow_what_they_can():
    arm = armdyn.arms.scara()
    q = np.array([0.3, 0.8, 0.5 * sum(arm.position_limits)[2], 0.2])
    path = Line(*armdyn.forward_kinematics(arm, np.array([q, q + np.array([0.3, 0.3, 0.02, 0.5])])))
    follow(arm, TipMotion(path, Quintic(path.length, 1.0)), q)


def test_the_functional_movement_of_vukobratovic():
    """The tip of a three-joint arm straight up with constant acceleration; its orientation is free."""
    arm = armdyn.arms.vukobratovic3()
    start = armdyn.forward_kinematics(arm, [0.4, 1.2, 1.0])
    trajectory = follow(arm, lift(start, acceleration=0.5, duration=0.6), [0.4, 1.2, 1.0], task="position")
    assert trajectory.duration == pytest.approx(0.6)


def test_without_a_start_one_is_chosen_from_which_the_path_can_be_followed():
    arm, motion = puma_line(lambda s: Quintic(s, 1.5))
    follow(arm, motion)


def test_a_path_out_of_the_workspace_tells_where():
    arm = armdyn.arms.panda()
    start = armdyn.forward_kinematics(arm, Q_PANDA)
    path = Line(start, transform(start[:3, :3], start[:3, 3] + (1.5, 0.0, 0.0)))
    motion = TipMotion(path, Quintic(path.length, 2.0))
    with raises(
        PathError, cause=re.compile(r"leaves the workspace \(by up to .* m.*\) at t = .* s, tip at \(")
    ) as caught:
        joint_trajectory(arm, motion, Q_PANDA)
    error = caught.value
    assert error.reason == "reach"
    np.testing.assert_allclose(error.pose, motion(error.t).pose)
    assert not armdyn.inverse_kinematics(arm, error.pose).success
    # Not much earlier the pose could be reached still.
    assert armdyn.inverse_kinematics(arm, motion(error.t - 0.1).pose).success


def test_a_path_through_a_singular_wrist_tells_where():
    arm = armdyn.arms.puma560()
    ends = np.array([Q_PUMA, Q_PUMA])
    ends[:, 4] = 0.4, -0.4
    path = Line(*armdyn.forward_kinematics(arm, ends))
    motion = TipMotion(path, Quintic(path.length, 1.0))
    with raises(PathError, cause=re.compile(r"meets a singular configuration at t = 0\.5")) as caught:
        joint_trajectory(arm, motion, ends[0])
    assert caught.value.reason == "singular"


def test_a_path_beyond_a_joint_limit_names_the_joint():
    arm = armdyn.arms.puma560()
    upper = arm.position_limits[1]
    ends = np.array([Q_PUMA, Q_PUMA])
    ends[:, 5] = upper[5] - 0.2, upper[5] + 0.2
    path = Line(*armdyn.forward_kinematics(arm, ends))
    with raises(PathError, cause=re.compile(r"joint 6 'joint6' to .* outside")) as caught:
        joint_trajectory(arm, TipMotion(path, Quintic(path.length, 1.0)), ends[0])
    assert caught.value.reason == "limit"


def test_a_start_out_of_reach_is_told():
    arm = armdyn.arms.puma560()
    path = Line(transform(None, (5.0, 0, 0)), transform(None, (6.0, 0, 0)))
    with raises(PathError, cause=re.compile("start cannot be reached: not solved, out of reach by")) as caught:
        joint_trajectory(arm, TipMotion(path, Quintic(1.0, 1.0)))
    assert caught.value.t == 0


def test_a_cup_is_carried_upright_and_may_turn_about_its_axis():
    arm = armdyn.arms.puma560()
    q0 = np.array([0.3, -0.6, 0.4, 0.2, 0.7, 0.1])
    start = armdyn.forward_kinematics(arm, q0)
    end = start.copy()
    end[:3, 3] += [0.1, 0.1, -0.1]
    line = armdyn.Line(start, end)
    motion = armdyn.TipMotion(line, armdyn.Quintic(line.length, 1.0))
    trajectory = armdyn.joint_trajectory(arm, motion, q0, task="position+z")
    t = np.linspace(0, 1, 41)
    tips, poses = armdyn.forward_kinematics(arm, trajectory(t).q), motion(t).pose
    # Wrong accelerations at the knots would leave errors of a step squared between them, 1e-4 and more.
    np.testing.assert_allclose(tips[:, :3, 3], poses[:, :3, 3], atol=1e-8)
    np.testing.assert_allclose(tips[:, :3, 2], poses[:, :3, 2], atol=1e-8)
    assert np.abs(tips[:, :3, 0] - poses[:, :3, 0]).max() > 0.01
    whole = armdyn.joint_trajectory(arm, motion, q0)
    assert (trajectory(t).qd ** 2).sum() < (whole(t).qd ** 2).sum()  # the freedom lets joints move less
