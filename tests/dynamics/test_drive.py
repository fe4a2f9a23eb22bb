"""Drives, and the whole arm: links, friction and drives together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Friction
from armdyn.errors import ModelError
from armdyn.trace import backend
from armdyn.trace.symbols import ca

CLOSE = {"rtol": 1e-10, "atol": 1e-10}  # rotors make M well conditioned


@pytest.fixture
def dressed(random_arm):
    """`dressed("RPR", coupled=True)`: a random arm with friction, rotors, springs and, if so, coupled drives."""

    def build(kinds, seed=0, coupled=False):
        rng = np.random.default_rng(seed)
        joints = []
        for i, joint in enumerate(random_arm(kinds, seed).joints):
            friction = Friction(*rng.uniform(0.1, 1, 2), static=1.5, asymmetry=0.05, load=0.1, temperature=0.01)
            row = tuple(np.eye(len(kinds))[i] + 0.1 * rng.normal(size=len(kinds))) if coupled else ()
            drive = Drive(1e-4, rng.choice([-60, 80]), 1e-4, stiffness=2.0, rest=0.3, coupling=row)
            joints.append(dataclasses.replace(joint, friction=friction, drive=drive))
        return random_arm(kinds, seed).with_joints(joints)

    return build


def test_drive_torque_by_hand():
    body = armdyn.Link("link", armdyn.Inertia.from_com(1.0, [0.1, 0, 0]))
    drive = Drive(rotor_inertia=2e-4, gear_ratio=-50, damping=1e-4, stiffness=3, rest=0.2)
    arm = armdyn.Arm((armdyn.Joint("joint", drive=drive),), (body,))
    tau = armdyn.drive_torque(arm, [0.7], [2.0], [-1.5])
    np.testing.assert_allclose(tau, 2e-4 * 2500 * -1.5 + 1e-4 * 2500 * 2.0 + 3 * 0.5)
    np.testing.assert_allclose(armdyn.augmented_mass_matrix(arm, [0.7]), [[0.01 + 0.5]])


def test_a_balancer_by_hand():
    body = armdyn.Link("link", armdyn.Inertia.from_com(1.0, [0.1, 0, 0]))
    drive = Drive(balance=((1, 3.0, -2.0), (2, 0.5, 0.7)))
    arm = armdyn.Arm((armdyn.Joint("joint", drive=drive),), (body,))
    expected = 3.0 * np.cos(0.4) - 2.0 * np.sin(0.4) + 0.5 * np.cos(0.8) + 0.7 * np.sin(0.8)
    np.testing.assert_allclose(armdyn.drive_torque(arm, [0.4], [2.0], [-1.5]), [expected], rtol=1e-12)


def test_coupled_drives_conserve_power(dressed):
    """Motors and joints: G from joints to motors moves velocities, its transpose moves torques back."""
    arm, rng = dressed("RRR", coupled=True), np.random.default_rng(1)
    G = armdyn.transmission_matrix(arm)
    qd, qdd = rng.normal(size=(2, 3))
    motors = np.array([joint.drive.rotor_inertia for joint in arm.joints]) * (G @ qdd)
    motors += np.array([joint.drive.damping for joint in arm.joints]) * (G @ qd)
    rest = [joint.drive.rest for joint in arm.joints]
    np.testing.assert_allclose(armdyn.drive_torque(arm, rest, qd, qdd), G.T @ motors, **CLOSE)
    M = armdyn.augmented_mass_matrix(arm, rest) - armdyn.mass_matrix(arm, rest)
    np.testing.assert_allclose(M, G.T @ np.diag([1e-4] * 3) @ G, **CLOSE)


def test_rotor_inertia_is_pinocchios_armature(dressed):
    import pinocchio as pin

    arm, rng = dressed("RPR"), np.random.default_rng(2)
    model = armdyn.to_pinocchio(arm)
    model.armature[:] = [joint.drive.reflected_inertia for joint in arm.joints]
    M = np.triu(pin.crba(model, model.createData(), q := rng.normal(size=3)))
    np.testing.assert_allclose(armdyn.augmented_mass_matrix(arm, q), M + np.triu(M, 1).T, **CLOSE)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("kinds", ["R", "RPR"])
@pytest.mark.parametrize("width", [0.0, 0.1])
def test_acceleration_inverts_torque(dressed, kinds, coupled, width):
    """Even though friction grows with the very torque that is sought."""
    arm, rng = dressed(kinds, seed=4, coupled=coupled), np.random.default_rng(3)
    q, qd, qdd, warm = rng.normal(size=(4, 6, arm.n))
    wrench = rng.normal(size=(6, 6))
    options = {"wrench": wrench, "temperature": warm, "width": width}
    tau = armdyn.joint_torque(arm, q, qd, qdd, **options)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, qd, tau, **options), qdd, **CLOSE)


def test_torque_is_the_sum_of_its_parts(dressed):
    arm, rng = dressed("RP", seed=5), np.random.default_rng(4)
    q, qd, qdd = rng.normal(size=(3, arm.n))
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    parts = armdyn.inverse_dynamics(arm, q, qd, qdd) + armdyn.drive_torque(arm, q, qd, qdd)
    np.testing.assert_allclose(tau, parts + armdyn.friction_torque(arm, q, qd, load=tau), **CLOSE)


def test_long_chains_with_rotors(random_arm):
    """Beyond 20 joints rotors go into the articulated bodies."""
    arm = random_arm("R" * 21, seed=6)
    arm = arm.with_joints(dataclasses.replace(j, drive=Drive(1e-3, 10.0)) for j in arm.joints)
    q, qd, qdd = 0.3 * np.random.default_rng(5).normal(size=(3, arm.n))
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, qd, tau), qdd, rtol=1e-7, atol=1e-7)


def test_a_counterbalance_takes_gravity_off_the_motors_of_kernels():
    """A user's function, here one that balances the arm perfectly; on kernels, two functions of one name."""
    arm = armdyn.arms.planar2()
    arm = arm.with_joints(dataclasses.replace(j, friction=Friction(), drive=Drive()) for j in arm.joints)
    q = np.array([0.4, -0.9])

    def full(arm, q):
        return armdyn.gravity_torque(arm, q)

    balanced = armdyn.joint_torque(arm, q, 0 * q, 0 * q, counterbalance=full)
    np.testing.assert_allclose(balanced, 0, atol=1e-12)

    def full(arm, q):
        return [0.5 * ca.cos(q[0]), 0]

    half = armdyn.joint_torque(arm, q, 0 * q, 0 * q, counterbalance=full)
    np.testing.assert_allclose(half, armdyn.gravity_torque(arm, q) - [0.5 * np.cos(0.4), 0], **CLOSE)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, 0 * q, half, counterbalance=full), 0, atol=1e-12)


def test_kernels_agree_with_the_virtual_machine(dressed):
    arm, rng = dressed("RR", seed=7), np.random.default_rng(6)
    q, qd, x = rng.normal(size=(3, 9, 2))
    functions = (armdyn.joint_torque, armdyn.joint_acceleration)
    native = [f(arm, q, qd, x) for f in functions]
    with backend.using("virtual"):
        for got, f in zip(native, functions, strict=True):
            np.testing.assert_allclose(got, f(arm, q, qd, x), rtol=1e-12, atol=1e-12)


def test_friction_numbers_do_not_compile_again(dressed):
    """Friction and drives are data: an arm with other numbers shares the kernels."""
    arm = dressed("RR", seed=8)
    other = arm.with_joints(
        dataclasses.replace(j, friction=dataclasses.replace(j.friction, coulomb=9.0)) for j in arm.joints
    )
    assert other.trace_key == arm.trace_key
    assert dressed("RR", seed=8, coupled=True).trace_key != arm.trace_key


def test_bad_couplings_are_rejected():
    link = armdyn.Link("link", armdyn.Inertia.zero())
    with raises(
        ModelError,
        cause="arm 'arm', joint 'a': expected a coupling row of 1 numbers, one per joint, got 2",
        names=("a",),
    ):
        armdyn.Arm((armdyn.Joint("a", drive=Drive(coupling=(1.0, 2.0))),), (link,))
    with raises(ModelError, cause="the coupling matrix of the drives is singular"):
        armdyn.Arm((armdyn.Joint("a", drive=Drive(coupling=(0.0,))),), (link,))
    with raises(ModelError, expected="coupling as a row of numbers", got="1.0"):
        Drive(coupling=1.0)


def test_nothing_to_move_is_named_unless_a_rotor_turns(dressed):
    arm = dressed("RR", seed=9).with_theta(np.zeros(20))
    assert np.isfinite(armdyn.joint_acceleration(arm, [0, 0], [0, 0], [1, 1])).all()
    bare = arm.with_joints(dataclasses.replace(j, drive=Drive()) for j in arm.joints)
    with raises(ModelError, names=("joint1", "joint2")):
        armdyn.joint_acceleration(bare, [0, 0], [0, 0], [1, 1])
