"""MuJoCo against armdyn's own plant."""

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import PD, ComputedTorque, Drive, Drop, Elasticity, Friction, PickUp, Plant, simulate
from armdyn.errors import ModelError
from armdyn.simulation.loop.mujoco import to_mjcf

pytest.importorskip("mujoco", reason="needs the extra 'mujoco'")


def push(t, q, qd, ref):
    return 2 * np.sin(7 * t + np.arange(len(q)))


@pytest.mark.parametrize("kinds", ["RPR", "RRRP"])
def test_open_loop_motion_agrees(random_arm, kinds):
    """Both integrate by the same steps of Runge-Kutta: round-off that the motion amplifies."""
    arm = random_arm(kinds, seed=3)
    starts = {"q0": np.full(arm.n, 0.3), "qd0": np.full(arm.n, -0.5)}
    ours, theirs = (simulate(Plant(arm, engine=e), push, np.zeros(arm.n), 0.5, **starts) for e in ("armdyn", "mujoco"))
    assert np.ptp(ours.q, axis=0).min() > 0.05
    assert np.abs(ours.q - theirs.q).max() < 1e-9
    assert np.abs(ours.qd - theirs.qd).max() < 1e-8


def test_puma560_swings_alike():
    """Whose first link has no mass in its description: it gets 1e-9 kg, which nothing moves."""
    arm = armdyn.arms.puma560()
    q0 = [0.3, -0.8, 0.5, 0.2, 0.6, 0.1]
    ours, theirs = (
        simulate(Plant(arm, friction=False, engine=e), push, np.zeros(6), 0.3, q0=q0) for e in ("armdyn", "mujoco")
    )
    assert np.ptp(ours.q, axis=0).min() > 0.01
    assert np.abs(ours.q - theirs.q).max() < 1e-9


def test_rotors_damping_and_springs_agree(planar):
    drive = Drive(rotor_inertia=1e-3, gear_ratio=30.0, damping=1e-3, stiffness=5.0, rest=0.2)
    joints = [dataclasses.replace(j, drive=drive, friction=Friction(viscous=0.4)) for j in planar.joints]
    arm = planar.with_joints(joints)
    ours, theirs = (
        simulate(Plant(arm, engine=e, saturation=1.5), push, np.zeros(2), 0.5, q0=[0.4, 0.2])
        for e in ("armdyn", "mujoco")
    )
    # Rods without thickness get 1e-9 of their inertia more.
    assert np.abs(ours.q - theirs.q).max() < 1e-7
    assert np.array_equal(ours.tau, theirs.tau)


@pytest.mark.parametrize("elasticity", [None, Elasticity(500.0, 1.0)])
def test_offset_and_asymmetry_agree(planar, elasticity):
    """Together they are a constant torque, whichever way joints move."""
    friction, drive = Friction(viscous=0.4, offset=0.3, asymmetry=-1.1), Drive(rotor_inertia=0.1)
    arm = planar.with_joints(dataclasses.replace(j, friction=friction, drive=drive) for j in planar.joints)
    ours, theirs = (
        simulate(Plant(arm, engine=e, elasticity=elasticity), push, np.zeros(2), 0.5, qd0=[1.0, -1.0], substeps=2)
        for e in ("armdyn", "mujoco")
    )
    assert (np.sign(ours.qd).min(0) == -1).all()
    assert (np.sign(ours.qd).max(0) == 1).all()
    assert np.abs(ours.q - theirs.q).max() < 1e-7  # rods without thickness, as above


def test_closed_loop_agrees(planar, swing):
    """One controller, one reference, two plants, and a law either way: kernel or MuJoCo."""
    law = ComputedTorque.from_bandwidth(planar, 3.0)
    ours, theirs = (simulate(Plant(planar, engine=e), law, swing, q0=[0.1, 0.0]) for e in ("armdyn", "mujoco"))
    assert np.abs(ours.q - theirs.q).max() < 1e-7


SPRINGS = (
    Elasticity([500.0, 300.0], 1.0),
    Elasticity([np.inf, 300.0], 1.0, friction="link", encoders="link"),
    Elasticity([500.0, 300.0], 0.0, [0.0, 0.01]),
)


@pytest.mark.parametrize("elasticity", [None, *SPRINGS])
def test_springs_play_and_payloads_agree(planar, swing, elasticity):
    """A tendon between rotor and link is Spong's spring, its slack the play: two programs, the same steps."""
    drive = Drive(rotor_inertia=0.2, damping=0.1, stiffness=2.0, rest=0.1)
    arm = planar.with_joints(dataclasses.replace(j, drive=drive, friction=Friction(viscous=0.1)) for j in planar.joints)
    law, changes = PD(arm, [400.0, 100.0], [40.0, 10.0]), [PickUp(0.1, 0.5), Drop(0.2)]
    ours, theirs = (
        simulate(
            Plant(arm, elasticity=elasticity, changes=changes, engine=e), law, swing, 0.3, q0=[0.05, 0.0],
            substeps=4, check=False,
        )
        for e in ("armdyn", "mujoco")
    )  # fmt: skip
    assert np.abs(ours.q - theirs.q).max() < 1e-9
    assert np.abs(ours.qd - theirs.qd).max() < 1e-7
    for name, rows in theirs.states.items():
        assert np.abs(ours.states[name] - rows).max() < 1e-7
    assert len(theirs.states) == (2 if elasticity else 0)


def test_what_mujoco_does_not_do_is_rejected(planar):
    unlike = planar.with_joints(
        dataclasses.replace(j, friction=Friction(static=2.0, viscous_asymmetry=0.1)) for j in planar.joints
    )
    with raises(
        ModelError, cause="MuJoCo has no such friction: joint 'joint1' has viscous_asymmetry, static", names=("joint1",)
    ):
        to_mjcf(unlike)
    geared = planar.with_joints(dataclasses.replace(j, drive=Drive(rotor_inertia=0.1)) for j in planar.joints)
    with raises(
        ModelError,
        cause="MuJoCo's dampers act within the play, too, and teeth of joint 'joint1' would pull",
        names=("joint1",),
    ):
        to_mjcf(geared, elasticity=Elasticity(100.0, 1.0, 0.01))
    with raises(ModelError, names=("motor_lag", "wrench")):
        simulate(Plant(planar, engine="mujoco", motor_lag=0.1, wrench=np.zeros(6)), push, np.zeros(2), 0.1)
    with raises(ModelError, names=("bullet",), expected="one of armdyn, mujoco"):
        Plant(planar, engine="bullet")
    with raises(ModelError, where="simulate: tolerance", cause="MuJoCo integrates in fixed steps"):
        simulate(Plant(planar, engine="mujoco"), push, np.zeros(2), 0.1, tolerance=1e-6)
    impossible = planar.with_theta(-planar.theta)
    with raises(
        ModelError,
        cause=(
            "MuJoCo simulates physically consistent bodies only, but link 'link1': mass is negative "
            "(-10 kg); link 'link2': mass is negative (-5 kg)"
        ),
    ):
        to_mjcf(impossible)
