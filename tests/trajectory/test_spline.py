"""Splines, samples, sequences and changes of time."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import (
    concatenate,
    point_to_point,
    read_trajectory,
    repeat,
    sampled,
    save_trajectory,
    scale_to_limits,
    spline,
)
from armdyn.errors import ArmdynError, LimitError, ReadError, ShapeError
from armdyn.trajectory.protocol import Trajectory

POINTS = np.random.default_rng(0).uniform(-1, 1, (6, 3))


def check_derivatives(motion, atol=1e-5):
    t, h = np.linspace(0.03, 0.97, 60) * motion.duration, 1e-5 * motion.duration
    ahead, behind = motion(t + h), motion(t - h)
    # Central differences: h² times third derivatives of up to a hundred.
    np.testing.assert_allclose((ahead.q - behind.q) / (2 * h), motion(t).qd, atol=atol)
    np.testing.assert_allclose((ahead.qd - behind.qd) / (2 * h), motion(t).qdd, atol=100 * atol)


@pytest.mark.parametrize("kind", ["cubic", "quintic"])
def test_splines_pass_the_waypoints_from_rest_to_rest(kind):
    times = np.array([0.0, 1.0, 1.5, 3.0, 3.5, 5.0])
    motion = spline(POINTS, times, kind=kind)
    assert isinstance(motion, Trajectory)
    np.testing.assert_allclose(motion(times).q, POINTS, atol=1e-12)
    ends = motion(times[[0, -1]])
    np.testing.assert_allclose(ends.qd, 0, atol=1e-11)
    if kind == "quintic":
        np.testing.assert_allclose(ends.qdd, 0, atol=1e-9)
    check_derivatives(motion)


def test_scaled_splines_use_their_limits_and_keep_their_path():
    raw = spline(POINTS)
    motion = scale_to_limits(raw, velocity=[1.0, 2.0, 1.5], acceleration=6.0, jerk=60.0)
    t = np.linspace(0, motion.duration, 50_001)
    q, qd, qdd = motion(t)
    np.testing.assert_allclose(q, raw(np.linspace(0, raw.duration, 50_001)).q, atol=1e-9)
    shares = [
        (np.abs(qd) / [1.0, 2.0, 1.5]).max(), np.abs(qdd).max() / 6, np.abs(np.diff(qdd, axis=0) / t[1]).max() / 60
    ]  # fmt: skip
    assert 0.999 < max(shares) <= 1 + 1e-4
    check_derivatives(motion)


def test_torque_limits_by_scaling():
    arm = armdyn.arms.puma3()  # with friction, viscous and dry
    q, qd, _ = spline(POINTS)(np.linspace(0, 5, 4001))
    limit = 1.1 * np.abs(armdyn.gravity_torque(arm, q) + armdyn.friction_torque(arm, q, 1e-9 * qd)).max(0) + 5
    motion = scale_to_limits(spline(POINTS), arm=arm, torque=limit)
    share = np.abs(armdyn.joint_torque(arm, *motion(np.linspace(0, motion.duration, 30_001)))) / limit
    # The largest torque is at its limit.
    assert 0.999 < share.max() <= 1 + 1e-5
    # Another limit may be the tighter one.
    assert scale_to_limits(spline(POINTS), velocity=0.1, arm=arm, torque=limit).duration == pytest.approx(
        scale_to_limits(spline(POINTS), velocity=0.1).duration
    )
    with raises(LimitError, cause=re.compile("against weight and dry friction alone"), names=("joint1",)):
        scale_to_limits(spline(POINTS), arm=arm, torque=1.0)


def test_no_speed_limits_the_jerk_of_an_acceleration_that_jumps():
    trapezoid = point_to_point([0.0, 0.0], [1.0, 2.0], kind="trapezoid", velocity=1.0, acceleration=4.0)
    with raises(LimitError, cause="the acceleration of joint 2 jumps at t = 0.25 s, so that no speed limits its jerk"):
        scale_to_limits(trapezoid, jerk=10.0)
    assert scale_to_limits(trapezoid, velocity=0.5).duration > trapezoid.duration
    for kind in ("cubic", "quintic"):
        motion = scale_to_limits(spline(POINTS, kind=kind), jerk=10.0)
        t = np.linspace(0, motion.duration, 40_001)
        assert 9.9 < np.abs(np.diff(motion(t).qdd, axis=0) / t[1]).max() <= 10 * (1 + 1e-6)


def test_scaling_needs_a_limit():
    with raises(LimitError, cause="nothing limits the motion"):
        scale_to_limits(spline(POINTS))
    with raises(LimitError, where="scale_to_limits: velocity", expected="numbers > 0", got="-1.0"):
        scale_to_limits(spline(POINTS), velocity=-1.0)


def test_a_saved_motion_is_read_back(tmp_path):
    motion = spline(POINTS)
    t = np.linspace(0, motion.duration, 777)
    for name, units in (("m.csv", False), ("units.csv", True), ("m.npz", False)):
        again = read_trajectory(save_trajectory(motion, tmp_path / name, rate=200, units=units))
        for new, old, tolerance in zip(again(t), motion(t), (1e-9, 1e-6, 1e-3), strict=True):
            # Twelve digits are written; derivatives of the interpolation lose some of them.
            np.testing.assert_allclose(new, old, atol=tolerance)
        check_derivatives(again, atol=1e-4)


def test_positions_alone_are_enough(tmp_path):
    (tmp_path / "m.csv").write_text("t,q1\n" + "".join(f"{t},{np.sin(t)}\n" for t in np.linspace(0, 3, 61)))
    motion = read_trajectory(tmp_path / "m.csv")
    assert motion(1.525).q[0] == pytest.approx(np.sin(1.525), abs=1e-6)
    assert motion(1.525).qd[0] == pytest.approx(np.cos(1.525), abs=1e-5)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", {"file": "m.csv", "expected": "a first line with columns t, q1, q2, ..."}),
        ("a,b\n1,2\n", {"file": "m.csv", "expected": "a first line with columns t, q1, q2, ..."}),
        ("t,q1\n0,zero\n1,1\n", {"file": "m.csv", "expected": re.compile("rows of numbers")}),
        ("t,q1\n0,0\n", {"file": "m.csv", "expected": "at least two rows of 2 numbers"}),
        ("t,q1,q3\n0,0,0\n1,1,1\n", {"file": "m.csv", "expected": "columns q1 to q2 without gaps"}),
        ("t,q1\n0,0\n0,1\n", {"file": "m.csv", "cause": "sampled: expected finite ascending times"}),
        ("t,q1\n0,nan\n1,1\n", {"file": "m.csv", "cause": "sampled: expected finite q, got NaN or infinity"}),
    ],
)
def test_files_that_are_no_motion(tmp_path, text, parts):
    (tmp_path / "m.csv").write_text(text)
    with raises(ReadError, **parts):
        read_trajectory(tmp_path / "m.csv")


def test_archives_that_are_no_motion(tmp_path):
    np.savez(tmp_path / "m.npz", t=np.arange(3.0), tau=np.zeros((3, 2)))
    with raises(ReadError, expected="arrays t and q", got="'t, tau'"):
        read_trajectory(tmp_path / "m.npz")
    (tmp_path / "m.npz").write_text("t,q1\n0,0\n1,1\n")
    with raises(ReadError, file="m.npz"):
        read_trajectory(tmp_path / "m.npz")


def test_motions_one_after_the_other():
    there = point_to_point([0.0, 0.0], [1.0, -1.0], duration=1.0)
    back = point_to_point([1.0, -1.0], [0.0, 0.0], duration=2.0)
    whole = repeat(concatenate(there, back), 3)
    assert whole.duration == 9.0
    assert whole.n == 2
    np.testing.assert_allclose(whole(np.array([1.0, 4.0, 7.0])).q, [[1.0, -1.0]] * 3, atol=1e-12)
    np.testing.assert_allclose(whole(5.0).q, back(1.0).q, atol=1e-12)
    assert whole(np.zeros((2, 3))).q.shape == (2, 3, 2)
    assert not whole(9.5).qd.any()
    check_derivatives(whole)


def test_parts_that_do_not_fit_are_rejected():
    there = point_to_point([0.0, 0.0], [1.0, -1.0], duration=1.0)
    with raises(ArmdynError, cause="positions jump by -1 at joint 1 from part 1 to part 2"):
        repeat(there, 2)
    with raises(ShapeError, cause="part 1 has 2 joints, part 2 has 1"):
        concatenate(there, point_to_point([1.0], [0.0], duration=1.0))
    with raises(ShapeError, expected="a count >= 1", got="0"):
        repeat(there, 0)


def test_bad_waypoints():
    with raises(ShapeError, expected="at least two finite waypoints (K, n)", got="shape (1, 1)"):
        spline([[0.0]])
    with raises(ShapeError, expected="2 ascending times from 0", got="[0. 0.]"):
        spline([[0.0], [1.0]], [0.0, 0.0])
    with raises(ArmdynError, cause="waypoints 1 and 2 are the same"):
        spline([[0.0], [0.0], [1.0]])
    with raises(ArmdynError, names=("septic",), expected="one of cubic, quintic"):
        spline([[0.0], [1.0]], kind="septic")
    with raises(ShapeError, expected="velocities and accelerations, or neither"):
        sampled([0.0, 1.0], [[0.0], [1.0]], qd=[[0.0], [0.0]])
