"""Arms written as URDF and read again: nothing lost here, nothing misunderstood by Pinocchio."""

from __future__ import annotations

import dataclasses
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Friction, Joint, Limits, Link, inverse_dynamics
from armdyn.errors import ModelError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.write import write_urdf
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle, from_rpy
from armdyn.spatial.transform import transform


def again(arm: Arm, tmp_path) -> Arm:
    write_urdf(arm, tmp_path / "written.urdf")
    return read_urdf(tmp_path / "written.urdf")


def without_extension(path):
    """Remove what other programs ignore."""
    tree = ElementTree.parse(path)
    tree.getroot().remove(tree.getroot().find("armdyn"))
    tree.write(path)
    return path


def random_arm(seed: int) -> Arm:
    """An arm with frames on both sides of its joints, all kinds of data, and nothing round."""
    rng = np.random.default_rng(seed)

    def pose():
        return transform(from_axis_angle(rng.normal(size=3), rng.uniform(-3, 3)), rng.uniform(-1, 1, 3))

    joints, links = [], []
    for i, kind in enumerate(("revolute", "prismatic", "revolute")):
        spread = rng.normal(size=(3, 3))
        tensor = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        links.append(Link(f"link{i}", Inertia.from_com(rng.uniform(0.5, 9), rng.normal(size=3), tensor)))
        friction = Friction(viscous=rng.uniform(0, 2), coulomb=rng.uniform(0, 1), static=1.7, offset=-0.2)
        drive = Drive(rotor_inertia=1e-4, gear_ratio=-62.61, torque_constant=0.1)
        limits = Limits() if i == 0 else Limits(-1.2, np.inf if i == 1 else 0.7, 3.3, np.inf)
        joints.append(Joint(f"joint{i}", kind, rng.normal(size=3), pose(), pose(), limits, friction, drive))
    return Arm(
        tuple(joints),
        tuple(links),
        name="all kinds",
        gravity=rng.normal(size=3),
        base_pose=pose(),
        tool_pose=pose(),
        base_name="floor <&>",
        tip_name="pen",
        notes=('made up & "quoted" <text>', "second"),
    )


@pytest.mark.parametrize("seed", range(5))
def test_round_trip_is_exact(tmp_path, seed):
    arm = random_arm(seed)
    back = again(arm, tmp_path)
    assert back.fingerprint == arm.fingerprint
    assert back.notes == arm.notes
    np.testing.assert_array_equal(back.theta, arm.theta)


@pytest.mark.parametrize("name", ["planar2", "puma560", "stanford", "scara", "panda", "vukobratovic3"])
def test_round_trip_of_library_arms_is_exact(tmp_path, name):
    arm = getattr(armdyn.arms, name)()
    assert again(arm, tmp_path).fingerprint == arm.fingerprint


@pytest.mark.parametrize("name", ["two_arms", "torso_arm", "palletizer", "gripper"])
def test_round_trip_of_mechanisms_is_exact(tmp_path, name):
    """Also where a branch that is listed early ends late, as the palletizer's crank has its rod after the forearm."""
    arm = getattr(armdyn.arms, name)()
    back = again(arm, tmp_path)
    assert back.fingerprint == arm.fingerprint
    assert (back.springs, back.coordinate_names, back.tip_link) == (arm.springs, arm.coordinate_names, arm.tip_link)
    np.testing.assert_array_equal(back.theta, arm.theta)


def test_a_chain_of_a_parallelogram_notes_the_joint_that_it_frees(tmp_path):
    write_urdf(armdyn.arms.palletizer(), tmp_path / "written.urdf")
    chain = read_urdf(tmp_path / "written.urdf", tip="forearm")
    assert chain.coordinate_names == ("waist", "shoulder", "elbow")
    assert "joint 'elbow' follows others in the whole arm, and moves by itself in this chain" in chain.notes


@pytest.mark.parametrize("name", ["slider", "gripper"])
def test_round_trip_of_files_is_exact(urdfs, tmp_path, name):
    arm = read_urdf(urdfs / f"{name}.urdf", tip={"slider": "tool", "gripper": "flange"}[name])
    back = again(arm, tmp_path)
    assert back.fingerprint == arm.fingerprint
    assert again(back, tmp_path).fingerprint == arm.fingerprint


@pytest.mark.parametrize("seed", range(3))
def test_pinocchio_computes_the_same_torques(tmp_path, pinocchio_chain, seed):
    arm = random_arm(seed)
    write_urdf(arm, tmp_path / "written.urdf")
    chain = pinocchio_chain(tmp_path / "written.urdf", arm.joint_names)
    chain.model.gravity.linear = arm.gravity
    q, qd, qdd = np.random.default_rng(9).uniform(-2, 2, (3, 10, arm.n))
    tau = inverse_dynamics(arm, q, qd, qdd)
    # The standard elements carry the same numbers but for roundings of angles and of centres of mass.
    np.testing.assert_allclose(chain.torques(q, qd, qdd), tau, rtol=1e-12, atol=1e-12 * np.abs(tau).max())
    poses = chain.poses(q, (*arm.link_names, "pen"), "floor <&>")
    np.testing.assert_allclose(poses[:, :-1], armdyn.link_poses(arm, q), atol=1e-13)
    np.testing.assert_allclose(poses[:, -1], armdyn.forward_kinematics(arm, q), atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_standard_elements_alone_describe_the_same_arm(tmp_path, seed):
    arm = random_arm(seed).with_gravity([0, 0, -9.81])
    write_urdf(arm, tmp_path / "written.urdf")
    plain = read_urdf(without_extension(tmp_path / "written.urdf"))
    q, qd, qdd = np.random.default_rng(9).uniform(-2, 2, (3, 10, arm.n))
    tau = inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(inverse_dynamics(plain, q, qd, qdd), tau, rtol=1e-12, atol=1e-12 * np.abs(tau).max())
    np.testing.assert_allclose(armdyn.forward_kinematics(plain, q), armdyn.forward_kinematics(arm, q), atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_without_extension_theta_and_frames_hold_to_fourteen_digits(urdfs, tmp_path, seed):
    # Frames only before the joints, as URDF has them, here next to the singularity of the angles.
    pitch = np.pi / 2 - [0, 1e-13, 1e-7][seed]
    joint = Joint("j", before=transform(from_rpy([0.3, pitch, -1.1]), [0.1, 0.2, 0.3]), limits=Limits(-1, 1, 1, 1))
    arm = Arm((joint,), (random_arm(seed).links[0],), tip_name="link0")
    write_urdf(arm, tmp_path / "written.urdf")
    plain = read_urdf(without_extension(tmp_path / "written.urdf"))
    np.testing.assert_allclose(plain.joints[0].before, joint.before, rtol=0, atol=1e-15)
    np.testing.assert_allclose(plain.theta, arm.theta, rtol=0, atol=1e-15 * np.abs(arm.theta).max())


def test_non_physical_arms_are_rejected_by_link(tmp_path):
    arm = random_arm(0)
    theta = np.array(arm.theta)
    theta[10] = -1.0
    theta[24] *= -1
    with raises(ModelError, cause=re.compile(r"cannot be written as URDF: link 'link1' .*; link 'link2'")):
        write_urdf(arm.with_theta(theta), tmp_path / "bad.urdf")
    assert not (tmp_path / "bad.urdf").exists()


def test_a_flaw_of_the_source_is_written_again_but_no_new_one(edited, tmp_path):
    path = edited("gripper", ('ixx="0.03"', 'ixx="0.3"'))
    with pytest.warns(armdyn.ArmdynWarning):
        arm = read_urdf(path, tip="flange")
    write_urdf(arm, tmp_path / "same.urdf")
    with pytest.warns(armdyn.ArmdynWarning, match="link 'upper'"):
        assert read_urdf(tmp_path / "same.urdf").fingerprint == arm.fingerprint
    worse = np.array(arm.theta)
    worse[4] *= 2
    with raises(ModelError, cause=re.compile("link 'upper'")):
        write_urdf(arm.with_theta(worse), tmp_path / "worse.urdf")


def test_unknown_inertia_is_absent_and_comes_back_unknown(tmp_path):
    arm = random_arm(0)
    theta = np.array(arm.theta)
    theta[:10], theta[14] = np.nan, np.nan
    arm = arm.with_theta(theta)
    back = again(arm, tmp_path)
    np.testing.assert_array_equal(back.theta, theta)
    links = ElementTree.parse(tmp_path / "written.urdf").findall("link")
    assert [link.get("name") for link in links if link.find("inertial") is not None] == ["link2"]


def test_a_massless_link_is_known_to_be_so(tmp_path):
    arm = random_arm(0)
    theta = np.array(arm.theta)
    theta[10:20] = 0
    back = again(arm.with_theta(theta), tmp_path)
    np.testing.assert_array_equal(back.theta, theta)


@pytest.mark.parametrize(
    ("base", "tip", "link"), [("a", "a", "a"), ("a", "b", "a"), ("b", "a", "a"), ("a_joint", "a", "a"), ("x", "x", "a")]
)
def test_equal_names_are_kept_apart(tmp_path, base, tip, link):
    arm = random_arm(0)
    links = (Link(link, arm.links[0].inertia), *arm.links[1:])
    arm = dataclasses.replace(arm, links=links, base_name=base, tip_name=tip)
    back = again(arm, tmp_path)
    assert back.fingerprint == arm.fingerprint
    names = [element.get("name") for element in ElementTree.parse(tmp_path / "written.urdf").findall("link")]
    assert len(set(names)) == len(names)


def test_names_that_xml_cannot_hold_are_rejected(tmp_path):
    arm = dataclasses.replace(random_arm(0), name="bell \x07")
    with raises(ModelError, cause="a name or note holds the character '\\x07', which XML cannot hold"):
        write_urdf(arm, tmp_path / "bad.urdf")


def test_numbers_that_could_not_be_read_back_are_rejected(tmp_path):
    arm = random_arm(0)
    with raises(ModelError, cause="a length, mass or moment of 1e+70 is too large to be read back"):
        write_urdf(arm.with_tool(transform(None, [1e70, 0, 0])), tmp_path / "bad.urdf")


def test_save_and_load_dispatch_to_urdf(tmp_path):
    arm = random_arm(0)
    arm.save(tmp_path / "arm.urdf")
    assert armdyn.load(tmp_path / "arm.urdf").fingerprint == arm.fingerprint
