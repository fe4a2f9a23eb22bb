"""What is read from a URDF: frames, limits, friction, merged bodies; against Pinocchio's own reader."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn import forward_kinematics, inverse_dynamics, link_poses, load
from armdyn.errors import ArmdynWarning, MissingInertiaError, ModelError
from armdyn.model.urdf.read import read_urdf
from armdyn.spatial.rotation import from_rpy

SHOULDER_LIMIT = '<limit lower="-2.8" upper="2.6" velocity="2" effort="80"/>'


@pytest.mark.parametrize(
    ("name", "base", "tip"),
    [
        ("slider", "rail", "tool"),
        ("gripper", "world", "flange"),
        ("gripper", "pedestal", "hand"),
        ("gripper", "upper", "hand"),
    ],
)
def test_poses_and_torques_equal_pinocchios(urdfs, pinocchio_chain, name, base, tip):
    path = urdfs / f"{name}.urdf"
    arm = read_urdf(path, base=base, tip=tip)
    chain = pinocchio_chain(path, arm.joint_names)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 20, arm.n))
    # Two recursions of a few dozen roundings on numbers of size 1 to 100.
    np.testing.assert_allclose(link_poses(arm, q), chain.poses(q, arm.link_names, base), atol=1e-13)
    np.testing.assert_allclose(forward_kinematics(arm, q), chain.poses(q, (tip,), base)[:, 0], atol=1e-13)
    if base != "upper":  # there Pinocchio's base is another, and moves
        np.testing.assert_allclose(inverse_dynamics(arm, q, qd, qdd), chain.torques(q, qd, qdd), rtol=1e-12, atol=1e-12)


def test_limits_and_friction(urdfs):
    arm = read_urdf(urdfs / "gripper.urdf", tip="flange")
    shoulder, elbow, roll = arm.joints
    assert (shoulder.limits.lower, shoulder.limits.upper) == (-2.8, 2.6)
    assert (shoulder.limits.velocity, shoulder.limits.effort) == (2, 80)
    assert (shoulder.friction.viscous, shoulder.friction.coulomb) == (1.5, 0.7)
    assert elbow.friction == type(elbow.friction)()
    assert np.isneginf(roll.limits.lower)
    assert np.isposinf(roll.limits.upper)
    assert (roll.limits.velocity, roll.limits.effort) == (4, 12)


def test_a_continuous_joint_has_no_position_limits_whatever_it_says(edited):
    path = edited(
        "gripper", ('<limit velocity="4" effort="12"/>', '<limit lower="-1" upper="1" velocity="4" effort="12"/>')
    )
    assert np.isinf(read_urdf(path, tip="flange").joints[2].limits.upper)


def test_huge_and_infinite_limits_mean_none_and_silence_too(edited):
    text = '<limit lower="-1e16" upper="1e300" velocity="inf"/>'.replace("1e300", "1e50")
    limits = read_urdf(edited("gripper", (SHOULDER_LIMIT, text)), tip="flange").joints[0].limits
    assert np.isinf([limits.lower, limits.upper, limits.velocity, limits.effort]).all()


def test_the_axis_defaults_to_x_and_is_normalised(urdfs):
    arm = read_urdf(urdfs / "slider.urdf")
    np.testing.assert_allclose(arm.joints[0].axis, np.array([2, 1, 2]) / 3, rtol=1e-15)
    np.testing.assert_array_equal(arm.joints[1].axis, [1, 0, 0])


def test_bodies_on_fixed_joints_belong_to_their_link(urdfs):
    arm = read_urdf(urdfs / "gripper.urdf", tip="flange")
    masses = [link.inertia.mass for link in arm.links]
    # upper + counterweight; fore; wrist + hand + both fingers, though hand and fingers lie beyond the tip
    np.testing.assert_allclose(masses, [3.5 + 1.25, 2.1, 0.8 + 0.73 + 0.1], rtol=1e-15)
    assert arm.is_physical


def test_inertial_origins_turn_and_shift(urdfs):
    arm = read_urdf(urdfs / "slider.urdf")
    R = from_rpy([0, 0, 1])
    tensor = R @ np.array([[0.2, 0.01, 0], [0.01, 0.25, 0], [0, 0, 0.3]]) @ R.T
    inertia = arm.links[0].inertia
    np.testing.assert_allclose(inertia.com, [0, 0, 0.05], rtol=1e-15, atol=1e-17)
    # The shift to the link's frame and back costs a few roundings of 0.3 kg m².
    np.testing.assert_allclose(inertia.tensor_com, tensor, rtol=0, atol=1e-15)


def test_moving_branches_are_lumped_or_rejected(urdfs):
    arm = read_urdf(urdfs / "gripper.urdf", tip="flange")
    assert "link 'wrist' carries left, right with their joints frozen at zero" in arm.notes
    with raises(
        ModelError,
        cause="moving branches off the chain ride on link 'wrist' (left, right)",
        remedy="choose another tip=, or branches='lump' to freeze their joints at zero",
        names=("wrist",),
    ):
        read_urdf(urdfs / "gripper.urdf", tip="flange", branches="refuse")
    with raises(ModelError, names=("drop",), expected="one of lump, refuse, keep"):
        read_urdf(urdfs / "gripper.urdf", tip="flange", branches="drop")
    # Nothing moving rides on the portal: there is nothing to reject.
    assert read_urdf(urdfs / "slider.urdf", branches="refuse").n == 3


def test_a_mimic_rests_at_its_offset(edited, urdfs):
    arm = read_urdf(
        edited("gripper", ('<mimic joint="finger"/>', '<mimic joint="finger" offset="0.02"/>')), tip="flange"
    )
    plain = read_urdf(urdfs / "gripper.urdf", tip="flange")
    shift = arm.links[2].inertia.first - plain.links[2].inertia.first
    # The 0.05 kg finger stands 0.02 m along its own axis, -y of the hand.
    assert np.linalg.norm(shift) == pytest.approx(0.05 * 0.02, rel=1e-9)


def test_a_mimic_on_the_chain_is_held_where_its_leader_is_zero(edited, urdfs):
    moved = '<mimic joint="finger" offset="0.02"/>'
    arm = read_urdf(edited("gripper", ('<mimic joint="finger"/>', moved)), tip="right")
    plain = read_urdf(urdfs / "gripper.urdf", tip="right")
    assert arm.joint_names == plain.joint_names == ("shoulder", "elbow", "roll")
    assert "joint 'finger_mirror' mimics 'finger' and is held where 'finger' = 0 puts it" in arm.notes
    shift = arm.tool_pose[:3, 3] - plain.tool_pose[:3, 3]
    assert np.linalg.norm(shift) == pytest.approx(0.02, rel=1e-12)
    assert np.linalg.norm(arm.theta - plain.theta) > 0  # the finger rides on the wrist, 0.02 m further out


def test_a_branch_that_mimics_the_chain_is_lumped(edited):
    arm = read_urdf(edited("gripper", ('<mimic joint="finger"/>', '<mimic joint="roll"/>')), tip="flange")
    assert arm.n == 3
    assert any("carries left, right" in note for note in arm.notes)


def test_the_tip_may_lie_on_a_finger_that_moves_alone(edited):
    arm = read_urdf(edited("gripper", ('<mimic joint="finger"/>', "")), tip="left")
    assert arm.joint_names == ("shoulder", "elbow", "roll", "finger")
    assert arm.joints[3].kind == "prismatic"
    assert "link 'wrist' carries right with their joints frozen at zero" in arm.notes


@pytest.mark.parametrize(
    ("change", "tip", "parts"),
    [
        (
            (SHOULDER_LIMIT, ""),
            "flange",
            {
                "where": "edited.urdf: joint 'shoulder'",
                "cause": "lacks <limit lower=... upper=...>; without end stops its type is 'continuous'",
            },
        ),
        (
            (SHOULDER_LIMIT, '<limit effort="1" velocity="1"/>'),
            "flange",
            {
                "where": "edited.urdf: joint 'shoulder'",
                "cause": "lacks <limit lower=... upper=...>; without end stops its type is 'continuous'",
            },
        ),
        (
            ('lower="-2.8" upper="2.6"', 'lower="2.8" upper="-2.6"'),
            "flange",
            {
                "where": "edited.urdf: joint 'shoulder': limits",
                "cause": re.compile(r"lower 2\.8 is above upper -2\.6"),
                "remedy": "reversed?",
            },
        ),
        (('effort="80"', 'effort="-80"'), "flange", {"where": "edited.urdf: joint 'shoulder': limits: effort"}),
        (
            ('lower="-2.8"', 'lower="nan"'),
            "flange",
            {"where": "edited.urdf: joint 'shoulder'", "expected": "a number in <limit lower=...>"},
        ),
        (
            ('friction="0.7"', 'friction="-0.7"'),
            "flange",
            {"where": "edited.urdf: joint 'shoulder'", "cause": re.compile("friction is negative")},
        ),
        (
            ('damping="1.5"', 'damping="-1.5"'),
            "flange",
            {"where": "edited.urdf: joint 'shoulder'", "cause": re.compile("damping is negative")},
        ),
        (
            ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>'),
            "flange",
            {"where": "edited.urdf: joint 'elbow'", "cause": "the axis has length zero"},
        ),
        (
            ('type="continuous"', 'type="floating"'),
            "flange",
            {
                "where": "edited.urdf: joint 'roll'",
                "cause": "a 'floating' joint has several freedoms",
                "names": ("floating",),
            },
        ),
        (
            ('<mass value="3.5"/>', '<mass value="-3.5"/>'),
            "flange",
            {"where": "edited.urdf: link 'upper'", "cause": re.compile("mass is negative")},
        ),
        (
            ('<mass value="3.5"/>', ""),
            "flange",
            {"where": "edited.urdf: link 'upper'", "cause": "<inertial> lacks its <mass>"},
        ),
        (
            ('ixx="0.03" ', ""),
            "flange",
            {"where": "edited.urdf: link 'upper'", "cause": "<inertia> lacks the attribute 'ixx'", "names": ("ixx",)},
        ),
        (
            ('name="finger" type="prismatic"', 'name="finger" type="planar"'),
            "flange",
            {
                "where": "edited.urdf: joint 'finger'",
                "cause": "a branch on a 'planar' joint rides on the chain and cannot be lumped",
                "names": ("planar",),
            },
        ),
    ],
)
def test_bad_contents_are_rejected_by_name(edited, change, tip, parts):
    with raises(ModelError, **parts):
        read_urdf(edited("gripper", change), tip=tip)


def test_what_is_off_the_chain_need_not_be_sound(edited):
    path = edited("gripper", ('<mass value="20"/>', '<mass value="-20"/>'), ('type="fixed"', 'type="floating"'))
    assert read_urdf(path, base="pedestal", tip="fore").n == 2


def test_an_impossible_tensor_is_read_with_a_warning(edited):
    path = edited("gripper", ('ixx="0.03"', 'ixx="0.3"'))
    with pytest.warns(ArmdynWarning, match="link 'upper' is not physically consistent.*triangle"):
        arm = read_urdf(path, tip="flange")
    assert "upper" in arm.is_physical.problems
    assert any("link 'upper' is not physically consistent" in note for note in arm.notes)


def test_missing_inertia_stops_dynamics_only(edited, urdfs):
    text = (urdfs / "slider.urdf").read_text()
    start, end = text.index("<inertial>"), text.index("</inertial>") + len("</inertial>")
    arm = read_urdf(edited("slider", (text[start:end], "")))
    assert np.isnan(arm.links[0].inertia.theta).all()
    assert forward_kinematics(arm, np.zeros(3)).shape == (4, 4)
    with raises(MissingInertiaError, names=("carriage",)):
        inverse_dynamics(arm, *np.zeros((3, 3)))


def test_gravity_is_turned_into_the_axes_of_a_tilted_base(urdfs):
    assert read_urdf(urdfs / "gripper.urdf", base="pedestal", tip="hand").gravity.tolist() == [0, 0, -9.81]
    arm = read_urdf(urdfs / "gripper.urdf", base="upper", tip="hand")
    # 'upper' is turned by 90 degrees about x against the root: the root's -z is its -y.
    np.testing.assert_allclose(arm.gravity, [0, -9.81, 0], atol=1e-14)
    assert any("gravity" in note for note in arm.notes)


def test_doubled_elements_are_told(edited):
    doubled = '<origin xyz="0.25 0 0" rpy="0.2 0.3 0.4"/>'
    arm = read_urdf(edited("gripper", (doubled, doubled + '<origin xyz="9 9 9"/>')), tip="flange")
    assert "joint 'roll' has several <origin> elements; the first is used" in arm.notes
    assert arm.joints[2].before[0, 3] == 0.25


def test_the_mounting_plane_is_that_of_the_link_that_carries_the_arm(tmp_path):
    path = tmp_path / "on_a_box.urdf"
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(
        f"""<robot name="r"><link name="world"/><link name="foot">{body}</link><link name="frame"/>
        <link name="one">{body}</link>
        <joint name="a" type="fixed"><parent link="world"/><child link="foot"/>
          <origin xyz="0.3 0 1" rpy="1.5707963267948966 0 0"/></joint>
        <joint name="b" type="fixed"><parent link="foot"/><child link="frame"/><origin xyz="0 0 0.2"/></joint>
        <joint name="j" type="continuous"><parent link="frame"/><child link="one"/><axis xyz="0 0 1"/></joint>
        </robot>"""
    )
    # The foot's z axis points along -y of the world, from y = 0.
    np.testing.assert_allclose(load(path).mounting_plane, (0, -1, 0, 0), atol=1e-12)
    # Its frame is 0.2 m above the foot's plane.
    np.testing.assert_allclose(load(path, base="frame").mounting_plane, (0, 0, 1, -0.2), atol=1e-12)
    assert load(path).source.path == path
