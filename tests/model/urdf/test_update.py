"""A changed arm written back onto the file it came from: nothing is counted twice."""

from __future__ import annotations

import dataclasses
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Friction, Limits, inverse_dynamics
from armdyn.errors import ModelError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.write import write_urdf
from armdyn.spatial.transform import transform


@pytest.fixture
def gripper(urdfs):
    return urdfs / "gripper.urdf"


def heavier(arm):
    """The same arm with every body ten percent heavier, as an identification might find it."""
    return arm.with_theta(1.1 * arm.theta)


@pytest.mark.parametrize("tip", ["flange", "hand", "fore"])
def test_read_change_write_read(gripper, tmp_path, tip):
    arm = heavier(read_urdf(gripper, tip=tip))
    write_urdf(arm, tmp_path / "updated.urdf", onto=gripper)
    assert read_urdf(tmp_path / "updated.urdf", tip=tip).fingerprint == arm.fingerprint
    # And once more, onto its own result.
    write_urdf(arm, tmp_path / "updated.urdf", onto=tmp_path / "updated.urdf")
    assert read_urdf(tmp_path / "updated.urdf", tip=tip).fingerprint == arm.fingerprint


def test_pinocchio_finds_the_same_masses_and_torques(gripper, tmp_path, pinocchio_chain):
    arm = heavier(read_urdf(gripper, tip="flange"))
    path = tmp_path / "updated.urdf"
    write_urdf(arm, path, onto=gripper)
    chain = pinocchio_chain(path, arm.joint_names)
    masses = [chain.model.inertias[i].mass for i in range(1, 4)]
    np.testing.assert_allclose(masses, arm.theta[::10], rtol=1e-14)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 10, arm.n))
    tau = inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(chain.torques(q, qd, qdd), tau, rtol=1e-12, atol=1e-12 * np.abs(tau).max())


def test_the_rest_of_the_file_stays(gripper, tmp_path):
    write_urdf(heavier(read_urdf(gripper, tip="flange")), tmp_path / "updated.urdf", onto=gripper)
    text = (tmp_path / "updated.urdf").read_text()
    before, after = ElementTree.parse(gripper), ElementTree.fromstring(text)
    for tag in ("link", "joint"):
        assert [e.get("name") for e in after.findall(tag)] == [e.get("name") for e in before.findall(tag)]
    assert "package://nowhere/upper.stl" in text
    with_inertia = [link.get("name") for link in after.findall("link") if link.find("inertial") is not None]
    # Merged bodies have given theirs up; the pedestal is no part of the arm; fingers move by themselves.
    assert with_inertia == ["pedestal", "upper", "fore", "wrist", "left", "right"]
    finger = after.find("link[@name='left']/inertial/mass").get("value")
    assert float(finger) == 0.05


def test_limits_and_friction_are_written_back(gripper, tmp_path):
    arm = read_urdf(gripper, tip="flange")
    new = [Limits(-1, 1, 2, 3), Limits(velocity=1), Limits(-0.5, 0.5)]
    joints = [
        dataclasses.replace(joint, limits=limits, friction=Friction(0.25, 0.125))
        for joint, limits in zip(arm.joints, new, strict=True)
    ]
    write_urdf(arm.with_joints(joints), tmp_path / "updated.urdf", onto=gripper)
    back = read_urdf(tmp_path / "updated.urdf", tip="flange")
    assert [joint.limits for joint in back.joints] == new
    assert {joint.friction for joint in back.joints} == {Friction(0.25, 0.125)}


def test_other_arms_are_rejected(gripper, urdfs, tmp_path):
    arm = read_urdf(gripper, tip="flange")
    out = tmp_path / "never.urdf"
    with raises(ModelError, names=("world",)):
        write_urdf(arm, out, onto=urdfs / "slider.urdf")
    with raises(
        ModelError,
        cause=(
            "between 'world' and 'flange' it has the joints shoulder, elbow, roll, but arm "
            "'gripper_arm' has shoulder, elbow"
        ),
        names=("world", "flange"),
    ):
        write_urdf(dataclasses.replace(read_urdf(gripper, tip="fore"), tip_name="flange"), out, onto=gripper)
    with raises(ModelError, cause="the frame of the tip is not where arm 'gripper_arm' has it"):
        write_urdf(arm.with_tool(transform(None, [1, 0, 0])), out, onto=gripper)
    assert not out.exists()


def test_a_link_lighter_than_the_fingers_it_carries_is_rejected(gripper, tmp_path):
    arm = read_urdf(gripper, tip="flange")
    theta = np.array(arm.theta)
    theta[20:] *= 0.05
    with raises(
        ModelError,
        cause=re.compile("link 'wrist' is not physically consistent without the moving branches"),
        names=("wrist",),
    ):
        write_urdf(arm.with_theta(theta), tmp_path / "never.urdf", onto=gripper)
