"""Columns of rotors, friction, springs, offsets and drive gains."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Friction
from armdyn.dynamics.regressors.joint_columns import TERMS, joint_parameter_names
from armdyn.errors import ArmdynError

CLOSE = {"rtol": 1e-12, "atol": 1e-11}  # round-off on torques of order 100
EVERY = tuple(TERMS)


@pytest.fixture(params=["alone", "coupled"])
def driven_arm(request, random_arm):
    """An arm with friction, rotors, springs and offsets; its drives may act on several joints."""
    arm = random_arm("RPR", seed=3)
    rows = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, -0.5, 1.0)] if request.param == "coupled" else [()] * 3
    rng = np.random.default_rng(0)
    joints = []
    for joint, row in zip(arm.joints, rows, strict=True):
        f, d = rng.uniform(0.1, 1, (2, 5))
        friction = Friction(viscous=f[0], coulomb=f[1], offset=f[2], asymmetry=0.1 * f[3], viscous_asymmetry=0.1 * f[4])
        drive = Drive(0.01 * d[0], 10.0, 0.01 * d[1], stiffness=d[2], rest=d[3], coupling=row)
        joints.append(dataclasses.replace(joint, friction=friction, drive=drive))
    return arm.with_joints(joints)


def test_columns_times_parameters_is_the_whole_joint_torque(driven_arm):
    state = np.random.default_rng(1).normal(size=(3, 6, 3))
    Y = armdyn.full_regressor(driven_arm, *state, terms=EVERY)
    theta = np.concatenate([driven_arm.theta, armdyn.joint_parameters(driven_arm, EVERY)])
    np.testing.assert_allclose(Y @ theta, armdyn.joint_torque(driven_arm, *state), **CLOSE)


def test_joint_columns_stand_behind_those_of_the_links(driven_arm):
    state = np.random.default_rng(2).normal(size=(3, 4, 3))
    Y = armdyn.full_regressor(driven_arm, *state, terms=["viscous", "offset"])
    np.testing.assert_array_equal(Y[..., :30], armdyn.regressor(driven_arm, *state))
    C = np.eye(3) if driven_arm.coupling is None else driven_arm.coupling
    # Friction of a drive acts at the speed of its shaft, and C' takes it to all joints that move the shaft.
    np.testing.assert_allclose(Y[..., 30:33], C.T @ ((state[1] @ C.T)[..., None] * np.eye(3)), rtol=1e-15)
    np.testing.assert_array_equal(Y[..., 33:], np.broadcast_to(np.eye(3), (4, 3, 3)))
    assert joint_parameter_names(3, ("viscous", "offset")) == ["Fv1", "Fv2", "Fv3", "F01", "F02", "F03"]


def test_adaptive_friction_follows_the_measured_velocity(driven_arm):
    q, qd, v, a = np.random.default_rng(3).normal(size=(4, 5, 3))
    Y = armdyn.full_adaptive_regressor(driven_arm, q, qd, v, a, terms=EVERY)
    theta = np.concatenate([driven_arm.theta, armdyn.joint_parameters(driven_arm, EVERY)])
    rigid = armdyn.adaptive_regressor(driven_arm, q, qd, v, a) @ driven_arm.theta
    # Rotors take the reference acceleration, everything else the measured state.
    joints = armdyn.friction_torque(driven_arm, q, qd) + armdyn.drive_torque(driven_arm, q, qd, a)
    np.testing.assert_allclose(Y @ theta, rigid + joints, **CLOSE)


def test_gain_columns(driven_arm):
    current = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(armdyn.gain_columns(driven_arm, current) @ [2.0, 3.0, 4.0], [[2.0, 6.0, 12.0]])


def test_mistakes_are_named(driven_arm):
    with raises(
        ArmdynError,
        expected="some of rotor, damping, viscous, coulomb, asymmetry, viscous_asymmetry, spring, offset",
        names=("stiction",),
    ):
        armdyn.joint_columns(driven_arm, *np.zeros((3, 3)), terms=("stiction",))
    with raises(ArmdynError, cause="joint terms must differ, got viscous, viscous", names=("viscous", "viscous")):
        armdyn.joint_parameters(driven_arm, ("viscous", "viscous"))
    with raises(
        ArmdynError,
        expected=("at least one of rotor, damping, viscous, coulomb, asymmetry, viscous_asymmetry, spring, offset"),
    ):
        armdyn.joint_columns(driven_arm, *np.zeros((3, 3)), terms=())
