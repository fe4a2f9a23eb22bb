"""Models handed to and from Pinocchio in memory compute the same torques."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Friction, Joint, Limits, Link, from_pinocchio, inverse_dynamics, to_pinocchio
from armdyn.errors import MissingExtraError, ModelError
from armdyn.model.mechanism import Frame
from armdyn.model.urdf.read import read_urdf
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform

pin = pytest.importorskip("pinocchio")

SAMPLES = 20


def motion(n: int):
    return np.random.default_rng(0).uniform(-2, 2, (3, SAMPLES, n))


def torques(model, q, qd, qdd):
    data = model.createData()
    return np.array([pin.rnea(model, data, *row) for row in zip(q, qd, qdd, strict=True)])


def assert_same_torques(tau, reference):
    # Both are recursions of some hundred roundings.
    np.testing.assert_allclose(tau, reference, rtol=1e-12, atol=1e-12 * np.abs(reference).max())


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "panda", "planar2", "vukobratovic3"])
def test_library_arms_keep_their_torques_and_poses(name):
    arm = getattr(armdyn.arms, name)()
    model = to_pinocchio(arm)
    q, qd, qdd = motion(arm.n)
    assert_same_torques(inverse_dynamics(arm, q, qd, qdd), torques(model, q, qd, qdd))
    data = model.createData()
    for row, poses in zip(q, armdyn.link_poses(arm, q), strict=True):
        pin.framesForwardKinematics(model, data, row)
        found = [data.oMf[model.getFrameId(name)].homogeneous for name in arm.link_names]
        np.testing.assert_allclose(poses, found, atol=1e-13)


def test_there_and_back():
    arm = armdyn.arms.puma560().with_gravity([1, 2, -9])
    back = from_pinocchio(to_pinocchio(arm), tip=arm.tip_name)
    q, qd, qdd = motion(arm.n)
    assert_same_torques(inverse_dynamics(back, q, qd, qdd), inverse_dynamics(arm, q, qd, qdd))
    np.testing.assert_allclose(back.theta, arm.theta, rtol=0, atol=1e-14 * np.abs(arm.theta).max())
    np.testing.assert_allclose(
        armdyn.forward_kinematics(back, q), armdyn.forward_kinematics(arm, q), rtol=0, atol=1e-14
    )
    assert back.joint_names == arm.joint_names
    assert back.link_names == arm.link_names
    assert [joint.limits for joint in back.joints] == [joint.limits for joint in arm.joints]
    np.testing.assert_array_equal(back.gravity, arm.gravity)


def test_friction_drives_and_limits_cross_the_bridge():
    friction = Friction(viscous=0.5, coulomb=1.5, asymmetry=0.25)
    joint = Joint(
        "j", "prismatic", [3, 4, 0], limits=Limits(-1, np.inf, 2, 7), friction=friction, drive=Drive(1e-3, 80.0)
    )
    model = to_pinocchio(Arm((joint,), (Link("l", Inertia.from_com(2, [0.1, 0, 0], np.eye(3))),)))
    (back,) = from_pinocchio(model).joints
    assert (back.kind, back.limits, back.friction, back.drive) == ("prismatic", joint.limits, friction, joint.drive)
    np.testing.assert_allclose(back.axis, [0.6, 0.8, 0], rtol=1e-15)
    assert not model.armature.any()


def test_armature_becomes_a_rotor():
    model = to_pinocchio(armdyn.arms.planar2())
    model.armature[:] = [0.25, 0.5]
    assert [joint.drive.rotor_inertia for joint in from_pinocchio(model).joints] == [0.25, 0.5]


def test_frames_before_and_behind_the_joint():
    rng = np.random.default_rng(1)

    def pose():
        return transform(from_axis_angle(rng.normal(size=3), rng.uniform(-3, 3)), rng.uniform(-1, 1, 3))

    inertia = Inertia.from_com(2, [0.1, 0.2, 0.3], np.diag([1, 1.5, 1.2]))
    joints = [Joint(f"j{i}", "revolute", rng.normal(size=3), pose(), pose()) for i in range(3)]
    links = [Link(f"l{i}", inertia) for i in range(3)]
    arm = Arm(joints, links, base_pose=pose(), tool_pose=pose(), tip_name="pen")
    model = to_pinocchio(arm)
    back = from_pinocchio(model, tip="pen")
    q, qd, qdd = motion(3)
    assert_same_torques(torques(model, q, qd, qdd), inverse_dynamics(arm, q, qd, qdd))
    np.testing.assert_allclose(armdyn.link_poses(back, q), armdyn.link_poses(arm, q), atol=1e-14)
    np.testing.assert_allclose(back.theta, arm.theta, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["slider", "gripper"])
def test_models_read_by_pinocchio(urdfs, pinocchio_chain, name):
    path = urdfs / f"{name}.urdf"
    arm = read_urdf(path, tip={"slider": "tool", "gripper": "flange"}[name])
    chain = pinocchio_chain(path, arm.joint_names)
    other = from_pinocchio(chain.model)
    q, qd, qdd = motion(arm.n)
    assert_same_torques(inverse_dynamics(other, q, qd, qdd), chain.torques(q, qd, qdd))
    assert_same_torques(inverse_dynamics(other, q, qd, qdd), inverse_dynamics(arm, q, qd, qdd))
    np.testing.assert_allclose(other.theta, arm.theta, rtol=0, atol=1e-14 * np.abs(arm.theta).max())
    assert [joint.limits for joint in other.joints] == [joint.limits for joint in arm.joints]
    assert [joint.friction for joint in other.joints] == [joint.friction for joint in arm.joints]


def test_massless_and_non_physical_links():
    arm = armdyn.arms.planar2()
    theta = np.array(arm.theta)
    theta[:10] = 0
    theta[14] = -3  # a negative moment, as least squares may find it
    q, qd, qdd = motion(2)
    odd = arm.with_theta(theta)
    assert_same_torques(torques(to_pinocchio(odd), q, qd, qdd), inverse_dynamics(odd, q, qd, qdd))
    theta[1] = 1
    with raises(
        ModelError, cause="link 'link1' has first moments without mass, which Pinocchio cannot hold", names=("link1",)
    ):
        to_pinocchio(arm.with_theta(theta))
    with raises(ModelError, cause="the inertia of link 'link1' is not known", names=("link1",)):
        to_pinocchio(arm.with_theta(np.full(20, np.nan)))


def free_motion(arm: Arm, model) -> tuple[list[int], np.ndarray]:
    """The places of the arm's joints in the model, and a motion of all of them that the coordinates allow."""
    order = [model.joints[model.getJointId(name)].idx_v for name in arm.joint_names]
    G = np.eye(arm.n) if arm.G is None else arm.G
    b = np.zeros(arm.n_joints) if arm.b is None else arm.b
    q, qd, qdd = motion(arm.n)
    joints = np.zeros((3, SAMPLES, arm.n_joints))
    joints[:, :, order] = q @ G.T + b, qd @ G.T, qdd @ G.T
    return order, joints


@pytest.mark.parametrize("name", ["two_arms", "torso_arm", "palletizer", "gripper"])
def test_mechanisms_keep_their_torques_mass_and_frames(name):
    """Joints that follow others are free in the model; the torques of the coordinates are G' times its torques."""
    arm = getattr(armdyn.arms, name)()
    arm = dataclasses.replace(arm, springs=(), frames=(*arm.frames, Frame("eye", arm.link_names[0], np.eye(4))))
    model = to_pinocchio(arm)
    order, joints = free_motion(arm, model)
    G = np.eye(arm.n) if arm.G is None else arm.G
    q, qd, qdd = motion(arm.n)
    tau = torques(model, *joints)[:, order] @ G
    assert_same_torques(tau, inverse_dynamics(arm, q, qd, qdd))
    data = model.createData()
    for row, M, poses in zip(joints[0], armdyn.mass_matrix(arm, q), armdyn.link_poses(arm, q), strict=True):
        free = pin.crba(model, data, row)
        free = np.triu(free) + np.triu(free, 1).T
        assert_same_torques(G.T @ free[np.ix_(order, order)] @ G, M)
        pin.framesForwardKinematics(model, data, row)
        found = [data.oMf[model.getFrameId(link)].homogeneous for link in arm.link_names]
        np.testing.assert_allclose(poses, found, atol=1e-13)
        eye = data.oMf[model.getFrameId("eye")].homogeneous
        np.testing.assert_allclose(eye, poses[0], atol=1e-13)


@pytest.mark.parametrize("name", ["two_arms", "torso_arm"])
def test_trees_there_and_back(name):
    arm = getattr(armdyn.arms, name)()
    arm = arm.with_joints(dataclasses.replace(joint, follows=(), offset=0.0) for joint in arm.joints)
    back = from_pinocchio(to_pinocchio(arm), tip=arm.tip_name)
    assert set(back.joint_names) == set(arm.joint_names)
    order = [back.joint_names.index(joint) for joint in arm.joint_names]
    q, qd, qdd = motion(arm.n)
    states = np.zeros((3, SAMPLES, arm.n))
    states[..., order] = q, qd, qdd
    assert_same_torques(inverse_dynamics(back, *states)[:, order], inverse_dynamics(arm, q, qd, qdd))
    np.testing.assert_allclose(
        armdyn.forward_kinematics(back, states[0]), armdyn.forward_kinematics(arm, q), rtol=0, atol=1e-13
    )


def test_models_that_mimic(urdfs):
    """As armdyn reads the same file."""
    model = pin.buildModelFromUrdf(str(urdfs / "gripper.urdf"), mimic=True)
    arm = from_pinocchio(model)
    assert arm.joints[arm.joint_names.index("finger_mirror")].follows
    want = armdyn.load(urdfs / "gripper.urdf", branches="keep")
    order = [arm.coordinate_names.index(name) for name in want.coordinate_names]
    q, qd, qdd = motion(want.n)
    states = np.zeros((3, SAMPLES, want.n))
    states[..., order] = q, qd, qdd
    assert_same_torques(inverse_dynamics(arm, *states)[:, order], inverse_dynamics(want, q, qd, qdd))


def test_other_models_are_rejected(urdfs):
    floating = pin.buildModelFromUrdf(str(urdfs / "slider.urdf"), pin.JointModelFreeFlyer())
    with raises(
        ModelError,
        cause="joint 'root_joint' is a JointModelFreeFlyer",
        expected="revolute or prismatic joints",
        names=("root_joint",),
    ):
        from_pinocchio(floating)
    with raises(
        ModelError,
        cause="there is no frame 'nose' on a moving joint",
        remedy="frames there: slide, carriage, swing, arm, spin, tool",
        names=("nose",),
    ):
        from_pinocchio(pin.buildModelFromUrdf(str(urdfs / "slider.urdf")), tip="nose")


def test_a_tip_on_the_links_own_frame_adds_no_frame():
    arm = dataclasses.replace(armdyn.arms.planar2(), tip_name="link2", tool_pose=np.eye(4))
    assert [f.name for f in to_pinocchio(arm).frames].count("link2") == 1


def test_without_pinocchio_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(MissingExtraError) as raised:
        to_pinocchio(armdyn.arms.planar2())
    assert raised.value.extra == "pinocchio"
