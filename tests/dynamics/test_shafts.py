"""Coupled drives: friction and rotors at shafts that turn with several joints."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Drive, Friction
from armdyn.dynamics.shafts import at_shafts, from_shafts, joint_torques, shaft_torques

CLOSE = {"rtol": 1e-11, "atol": 1e-11}  # round-off on torques of order 100
C = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, -1.0, 1.0]])
ALONE = Friction(2.0, 1.5, 0.2, static=2.5, asymmetry=0.1, viscous_asymmetry=0.2, load=0.1, harmonics=((2, 0.3, 0.1),))


@pytest.fixture
def wrist(random_arm):
    """`wrist(friction)`: an arm whose third drive turns with all joints, every drive with this friction."""

    def build(friction=ALONE, rows=C, rotor=2e-4):
        arm = random_arm("RRR", seed=7)
        pairs = zip(arm.joints, rows, strict=True)
        return arm.with_joints(
            dataclasses.replace(joint, friction=friction, drive=Drive(rotor, 40.0, 1e-4, coupling=tuple(row)))
            for joint, row in pairs
        )

    return build


def alone(arm):
    """The same arm, each drive moving its joint alone."""
    return arm.with_joints(dataclasses.replace(j, drive=dataclasses.replace(j.drive, coupling=())) for j in arm.joints)


def test_shafts_and_joints_have_the_same_power(wrist):
    arm, rng = wrist(), np.random.default_rng(0)
    qd, tau = rng.normal(size=(2, 5, 3))
    power = np.sum(at_shafts(arm, qd) * shaft_torques(arm, tau), axis=-1)
    np.testing.assert_allclose(power, np.sum(qd * tau, axis=-1), **CLOSE)
    np.testing.assert_allclose(from_shafts(arm, at_shafts(arm, qd)), qd, **CLOSE)
    np.testing.assert_allclose(joint_torques(arm, shaft_torques(arm, tau)), tau, **CLOSE)


@pytest.mark.parametrize("width", [0.0, 0.1])
def test_friction_is_that_of_single_drives_at_the_shafts(wrist, width):
    """C' f(C q, C qd, C'^-1 tau): the formula of uncoupled drives, seen through the coupling."""
    arm, rng = wrist(), np.random.default_rng(1)
    q, qd, tau, warm = rng.normal(size=(4, 6, 3))
    expected = armdyn.friction_torque(
        alone(arm), q @ C.T, qd @ C.T, load=tau @ np.linalg.inv(C), temperature=warm, width=width
    )
    found = armdyn.friction_torque(arm, q, qd, load=tau, temperature=warm, width=width)
    np.testing.assert_allclose(found, expected @ C, **CLOSE)


def test_shaft_friction_never_drives(wrist):
    """Dissipation qd . tau >= 0 for whatever motion, and zero where no shaft turns."""
    arm, rng = wrist(Friction(2.0, 1.5, static=2.5)), np.random.default_rng(2)
    q, qd = rng.normal(size=(2, 200, 3))
    power = np.sum(qd * armdyn.friction_torque(arm, q, qd), axis=-1)
    assert power.min() > 0
    # The third shaft stands still where 0.3 qd1 - qd2 + qd3 = 0: its friction is gone, the others' is not.
    still = np.stack([qd[:, 0], qd[:, 1], -(C[2, 0] * qd[:, 0] + C[2, 1] * qd[:, 1])], axis=1)
    np.testing.assert_array_equal(armdyn.friction_torque(arm, q, still)[:, 2], 0.0)


def test_energy_goes_into_the_shafts(wrist):
    """Rate of kinetic energy of links and rotors = power of drives and gravity - power that friction takes."""
    arm, rng = wrist(Friction(2.0, 1.5)), np.random.default_rng(3)
    q, qd, tau = rng.normal(size=(3, 3))
    qdd, h = armdyn.joint_acceleration(arm, q, qd, tau), 1e-6

    def kinetic(s):
        v = qd + s * qdd
        return 0.5 * v @ armdyn.augmented_mass_matrix(arm, q + s * qd + s * s / 2 * qdd) @ v

    damping = armdyn.drive_torque(arm, q, qd, 0 * q)
    lost = armdyn.friction_torque(arm, q, qd, load=tau) + damping
    gained = qd @ (tau - lost - armdyn.gravity_torque(arm, q))
    np.testing.assert_allclose((kinetic(h) - kinetic(-h)) / (2 * h), gained, rtol=1e-6)
    assert qd @ lost > 0


@pytest.mark.parametrize("width", [0.0, 0.05])
def test_acceleration_inverts_torque_under_load(wrist, width):
    arm, rng = wrist(), np.random.default_rng(4)
    q, qd, qdd = rng.normal(size=(3, 8, 3))
    tau = armdyn.joint_torque(arm, q, qd, qdd, width=width)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, qd, tau, width=width), qdd, **CLOSE)


def test_the_linearised_arm_has_the_slopes_of_the_torque(wrist):
    arm, rng = wrist(), np.random.default_rng(5)
    q, qd, qdd, dq, dqd, dqdd = rng.normal(size=(6, 3))
    lin, h = armdyn.linearize(arm, q, qd, qdd, model="full", width=0.2), 1e-6

    def torque(s):
        return armdyn.joint_torque(arm, q + s * dq, qd + s * dqd, qdd + s * dqdd, width=0.2)

    slope = (torque(h) - torque(-h)) / (2 * h)
    np.testing.assert_allclose(lin.M @ dqdd + lin.C @ dqd + lin.K @ dq, slope, rtol=1e-6, atol=1e-6)
    tau = torque(0.0)

    def acceleration(s):
        return armdyn.joint_acceleration(arm, q, qd, tau + s * dq, width=0.2)

    np.testing.assert_allclose(lin.B[3:] @ dq, (acceleration(h) - acceleration(-h)) / (2 * h), rtol=1e-6, atol=1e-6)


def test_breakaway_is_that_of_the_shafts(wrist):
    arm = wrist(Friction(0.0, 1.0, static=1.5, load=0.1))
    tau = np.array([4.0, -2.0, 5.0])
    shafts = np.linalg.solve(C.T, tau)
    np.testing.assert_allclose(armdyn.breakaway_torque(arm, np.zeros(3), load=tau).forward, 1.5 + 0.1 * abs(shafts))


def test_bristles_bend_at_the_shafts(wrist):
    arm = wrist(Friction(2.0, 1.5, bristle_stiffness=100.0, bristle_damping=1.0))
    q, qd, z = np.random.default_rng(6).normal(size=(3, 3)) * [[1.0], [1.0], [0.01]]
    coupled, single = armdyn.lugre_torque(arm, q, qd, z), armdyn.lugre_torque(alone(arm), C @ q, C @ qd, z)
    np.testing.assert_allclose(coupled.tau, C.T @ single.tau, **CLOSE)
    np.testing.assert_allclose(coupled.zd, single.zd, **CLOSE)
    np.testing.assert_allclose(
        armdyn.lugre_step(arm, q, qd, z, 1e-3), armdyn.lugre_step(alone(arm), C @ q, C @ qd, z, 1e-3), **CLOSE
    )


def test_a_row_of_its_own_joint_is_no_coupling(wrist):
    """Rows of the unit matrix give the torques of arms without rows."""
    arm, rng = wrist(rows=np.eye(3)), np.random.default_rng(8)
    state = rng.normal(size=(3, 4, 3))
    np.testing.assert_allclose(armdyn.joint_torque(arm, *state), armdyn.joint_torque(alone(arm), *state), **CLOSE)
