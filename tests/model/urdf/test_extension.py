"""The extension is believed as far as the standard elements, which others may edit, agree with it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Arm, Drive, Friction, Link, forward_kinematics, inverse_dynamics
from armdyn.errors import ArmdynError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.write import write_urdf
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform


@pytest.fixture
def arm() -> Arm:
    """A standard DH arm, whose link frames stand behind the joints."""
    rows = [{"kind": "R", "a": 0.5, "alpha": 0.3, "mass": 2, "com": [0.1, 0, 0], "inertia": np.diag([1, 1.5, 1.2])}] * 2
    arm = Arm.from_dh([row | {"limits": (-1, 1)} for row in rows], gravity=(0, -9.81, 0), notes=("a source",))
    joint = dataclasses.replace(
        arm.joints[0], drive=Drive(2e-4, 50.0, coupling=(1, 0.1)), friction=Friction(1.0, 0.5, static=0.9)
    )
    return arm.with_joints([joint, arm.joints[1]])


@pytest.fixture
def changed(arm, tmp_path):
    """`changed((old, new), ...)`: the arm read back after another program has edited the file."""

    def change(*edits: tuple[str, str]) -> Arm:
        path = tmp_path / "edited.urdf"
        write_urdf(arm, path)
        standard, extension = path.read_text().split("<armdyn>")
        for old, new in edits:
            assert old in standard
            standard = standard.replace(old, new)
        path.write_text(f"{standard}<armdyn>{extension}")
        return read_urdf(path)

    return change


def test_untouched_files_give_the_same_arm(arm, changed):
    assert changed().fingerprint == arm.fingerprint


def test_edited_inertia_wins_in_the_arms_own_frame(arm, changed):
    back = changed(('<mass value="2" />', '<mass value="3" />'))
    assert back.geometry_fingerprint == arm.geometry_fingerprint
    np.testing.assert_allclose([link.inertia.mass for link in back.links], 3, rtol=1e-15)
    np.testing.assert_allclose(back.links[0].inertia.com, [0.1, 0, 0], atol=1e-15)
    assert "inertia of link 'link1' was edited outside armdyn" in back.notes


def test_edited_frames_win(arm, changed):
    back = changed(('xyz="0.5 0 0"', 'xyz="0.6 0 0"'))
    assert any("frames were edited" in note for note in back.notes)
    longer = Arm.from_dh([{"kind": "R", "a": 0.6, "alpha": 0.3}] * 2)
    q = np.array([[0.3, -0.4], [1.0, 2.0]])
    np.testing.assert_allclose(forward_kinematics(back, q), forward_kinematics(longer, q), atol=1e-15)
    assert back.joints[0].drive == arm.joints[0].drive


def test_edited_friction_and_limits_win_and_drives_stay(arm, changed):
    back = changed(('friction="0.5"', 'friction="0.75"'), ('upper="1"', 'upper="1.25"'))
    assert back.joints[0].friction == Friction(1.0, 0.75)
    assert back.joints[0].limits.upper == 1.25
    assert back.joints[0].drive == arm.joints[0].drive
    assert back.geometry_fingerprint == arm.geometry_fingerprint


def test_a_mount_added_below_the_base_turns_gravity(arm, changed):
    back = changed(
        (
            '<link name="base" />',
            '<link name="base" /><link name="ceiling" /><joint name="mount" type="fixed">'
            '<parent link="ceiling" /><child link="base" /><origin rpy="3.141592653589793 0 0" /></joint>',
        )
    )
    assert (back.base_name, back.gravity.tolist()) == ("ceiling", [0, 0, -9.81])
    assert back.joints[0].drive == arm.joints[0].drive
    assert "a source" in back.notes


def test_a_payload_added_by_another_program_counts(arm, changed):
    load = (
        '<link name="load"><inertial><mass value="5" /><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0" />'
        '</inertial></link><joint name="grip" type="fixed"><parent link="tip" /><child link="load" /></joint>'
    )
    back = changed(('<link name="base" />', '<link name="base" />' + load))
    expected = arm.with_payload(5)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4, 2))
    tau = inverse_dynamics(expected, q, qd, qdd)
    np.testing.assert_allclose(inverse_dynamics(back, q, qd, qdd), tau, rtol=1e-12, atol=1e-12)


def test_another_tip_of_the_same_file(arm, tmp_path):
    path = tmp_path / "tool.urdf"
    tooled = arm.with_tool(transform(None, [0, 0, 0.2]))
    write_urdf(tooled, path)
    back = read_urdf(path, tip="link2")
    q = np.array([0.3, -0.4])
    np.testing.assert_allclose(forward_kinematics(back, q), forward_kinematics(arm, q), atol=1e-15)
    np.testing.assert_array_equal(back.theta, arm.theta)
    assert back.tip_name == "link2"


def test_a_part_of_the_chain_keeps_what_belongs_to_its_joints(arm, tmp_path):
    write_urdf(arm, tmp_path / "whole.urdf")
    part = read_urdf(tmp_path / "whole.urdf", tip="link1")
    assert part.n == 1
    # A coupling row speaks of all joints of the whole arm.
    assert part.joints[0].drive == dataclasses.replace(arm.joints[0].drive, coupling=())
    assert part.joints[0].friction == arm.joints[0].friction
    # What lies beyond the tip still rides on it.
    assert part.links[0].inertia.mass == pytest.approx(4)


def test_a_link_that_became_unknown_elsewhere(arm, tmp_path):
    path = tmp_path / "unknown.urdf"
    write_urdf(dataclasses.replace(arm, links=(arm.links[0], Link("link2", Inertia.unknown()))), path)
    assert np.isnan(read_urdf(path).links[1].inertia.theta).all()


@pytest.mark.parametrize("content", ["", "not toml at all [", "name = 'x'", "<b/>"])
def test_a_broken_extension_is_an_error_that_says_how_to_go_on(arm, tmp_path, content):
    path = tmp_path / "broken.urdf"
    write_urdf(arm, path)
    path.write_text(path.read_text().split("<armdyn>")[0] + f"<armdyn>{content}</armdyn></robot>")
    with raises(ArmdynError, where="broken.urdf: <armdyn>", remedy="remove the element to use the rest of the file"):
        read_urdf(path)


def test_two_extensions_are_rejected(arm, tmp_path):
    path = tmp_path / "two.urdf"
    write_urdf(arm, path)
    path.write_text(path.read_text().replace("</robot>", "<armdyn/></robot>"))
    with raises(ArmdynError, cause="has 2 <armdyn> elements"):
        read_urdf(path)
