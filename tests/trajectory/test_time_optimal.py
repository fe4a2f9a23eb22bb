"""Time-optimal motion: TOPP-RA as a judge, limits of the full model held between places of the grid, bad paths."""

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Friction
from armdyn.errors import LimitError, ShapeError
from armdyn.trajectory.time_optimal import JointPath, time_optimal

WAYPOINTS = np.array(
    [
        [0.0, -0.6, 0.9, 0.3, 0.7, -0.2],
        [0.6, -0.2, 0.5, 0.5, 0.2, 0.3],
        [1.0, -0.8, 1.2, -0.3, 0.6, 0.5],
        [0.3, -1.0, 0.6, 0.1, -0.4, 0.0],
    ]
)
EFFORT = np.array([60.0, 90.0, 50.0, 12.0, 12.0, 10.0])


def without(arm, **parts):
    return arm.with_joints([dataclasses.replace(joint, **parts) for joint in arm.joints])


@pytest.fixture(scope="module")
def puma():
    return armdyn.arms.puma560()


def judged(arm, motion, effort):
    """Largest torques over limits at 10 kHz, and the part of the time in which one is reached."""
    t = np.linspace(0.0, motion.duration, round(1e4 * motion.duration) + 1)
    part = np.abs(armdyn.joint_torque(arm, *motion(t), width=1e-3)) / effort
    return part.max(), (part.max(1) > 0.97).mean()


def test_a_double_integrator_is_bang_bang():
    """A joint without gravity along a straight line: 2 sqrt(distance / acceleration)."""
    arm = without(armdyn.arms.planar2().with_gravity([0, 0, 0]), friction=Friction())
    inertia = armdyn.mass_matrix(arm, [0.0, 0.0])[0, 0]
    motion = time_optimal(arm, [[0.0, 0.0], [1.0, 0.0]], effort=[10.0, 1e3])
    assert motion.duration == pytest.approx(2 * np.sqrt(inertia / 10.0), rel=1e-6)
    q, qd, _ = motion(np.array([0.0, motion.duration / 2, motion.duration]))
    assert np.allclose(q[:, 0], [0, 0.5, 1.0])
    assert np.allclose(qd[[0, -1]], 0, atol=1e-9)


def test_the_motion_ends_at_rest_exactly(puma):
    """Whatever the times of the grid round to: a controller that reads the last velocity stops."""
    motion = time_optimal(puma, WAYPOINTS, effort=EFFORT)
    qd = motion(np.array([0.0, motion.duration])).qd
    assert (qd == 0).all()


def test_toppra_agrees_without_friction(puma):
    """The peer's time within 1 % (it is within 1e-4) on the same spline, limits of torque alone."""
    ta = pytest.importorskip("toppra")
    from toppra import algorithm, constraint

    ta.setup_logging("ERROR")
    plain = without(puma, friction=Friction(), drive=Drive())
    joints = [dataclasses.replace(x, limits=dataclasses.replace(x.limits, velocity=np.inf)) for x in plain.joints]
    arm = plain.with_joints(joints)
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(WAYPOINTS, axis=0), axis=1))])
    path = ta.SplineInterpolator(knots, WAYPOINTS, bc_type="natural")
    limits = np.stack([-EFFORT, EFFORT], 1)
    torque = constraint.JointTorqueConstraint(
        lambda q, v, a: armdyn.inverse_dynamics(arm, q, v, a), limits, np.zeros(6),
        discretization_scheme=constraint.DiscretizationType.Interpolation,
    )  # fmt: skip
    grid = np.linspace(0.0, knots[-1], 501)
    peer = algorithm.TOPPRA([torque], path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    expected = peer.compute_trajectory(0, 0).duration
    ours = time_optimal(arm, WAYPOINTS, effort=EFFORT)
    assert ours.duration == pytest.approx(expected, rel=1e-4)


def test_limits_hold_at_10_khz_with_the_full_model(puma):
    """Friction, rotors and a load: torques within 1 %, and some drive nearly always at its limit."""
    loaded = puma.with_payload(1.5)
    motion = time_optimal(loaded, WAYPOINTS, effort=EFFORT)
    largest, used = judged(loaded, motion, EFFORT)
    assert largest < 1.01
    assert used > 0.15
    assert time_optimal(puma, WAYPOINTS, effort=EFFORT).duration < motion.duration
    speeds = np.abs(motion(np.linspace(0, motion.duration, 2000)).qd).max(0)
    assert (speeds <= 1.001 * np.array([joint.limits.velocity for joint in puma.joints])).all()


def test_optimal_means_that_no_quicker_timing_holds(puma):
    """The same motion played 2 % quicker breaks a limit."""
    motion = time_optimal(puma, WAYPOINTS, effort=EFFORT)
    quicker = armdyn.trajectory.Retimed(motion, 0.98)
    assert judged(puma, quicker, EFFORT)[0] > 1.01


def test_the_path_of_a_motion_is_kept(puma):
    """A line of the tip: its joint path, quicker."""
    slow = armdyn.point_to_point(WAYPOINTS[0], WAYPOINTS[1], duration=3.0)
    motion = time_optimal(puma, slow, effort=EFFORT)
    assert motion.duration < 3.0
    direction = WAYPOINTS[1] - WAYPOINTS[0]
    q = motion(np.linspace(0, motion.duration, 50)).q - WAYPOINTS[0]
    off = q - np.outer(q @ direction, direction) / (direction @ direction)
    assert np.abs(off).max() < 1e-9
    assert np.allclose(q[-1], direction)


def test_derivatives_are_exact(puma):
    motion = time_optimal(puma, WAYPOINTS, effort=EFFORT, points=100)
    middle = (motion.t[1:] + motion.t[:-1]) / 2
    h = 1e-6
    before, now, after = (motion(middle + d) for d in (-h, 0.0, h))
    assert np.allclose((after.q - before.q) / (2 * h), now.qd, atol=1e-6)
    assert np.allclose((after.qd - before.qd) / (2 * h), now.qdd, atol=1e-4)


def test_what_cannot_be_is_rejected(puma):
    cause = "joint 'joint2' cannot be held on the path: it takes 33.6 of 5 N m"
    with raises(LimitError, cause=cause, remedy="lighten the load or change the path", names=("joint2",)):
        time_optimal(puma, WAYPOINTS, effort=[60.0, 5.0, 50.0, 12.0, 12.0, 10.0])
    cause = "joint 'joint5' is at 1.75 on the path, outside of [-1.74533, 1.74533]"
    with raises(LimitError, cause=cause, remedy="change the path", names=("joint5",)):
        time_optimal(puma, [WAYPOINTS[0], WAYPOINTS[0] + 7.0], effort=EFFORT)
    with raises(ShapeError, expected="at least two finite waypoints (K, n)"):
        time_optimal(puma, [WAYPOINTS[0]])
    with raises(ShapeError, cause="all waypoints are the same", expected="at least two different ones"):
        JointPath.through([[0.0, 0.0], [0.0, 0.0]])
    free = without(armdyn.arms.planar2().with_gravity([0, 0, 0]), limits=armdyn.Limits())
    with raises(LimitError, cause="nothing limits the motion"):
        time_optimal(free, [[0.0, 0.0], [1.0, 0.5]])
