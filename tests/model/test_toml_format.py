"""armdyn's own file format: complete, and read back bit by bit."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Friction, Inertia, Joint, Limits, Link
from armdyn.errors import ModelError, ReadError
from armdyn.model.toml_format import arm_from_toml, toml_text
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

finite = st.floats(-1e6, 1e6)
triples = st.tuples(*[st.floats(-3, 3)] * 3)
poses = st.just(np.eye(4)) | st.builds(lambda rpy, p: transform(from_rpy(rpy), p), triples, triples)
axes = triples.filter(lambda v: np.linalg.norm(v) > 1e-3)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
positive = st.floats(0, 1e6)
limits = st.builds(
    Limits,
    st.floats(-1e6, 0) | st.just(-np.inf),
    st.floats(0, 1e6) | st.just(np.inf),
    positive | st.just(np.inf),
    positive,
)
frictions = st.builds(
    Friction,
    viscous=positive,
    offset=finite,
    static=st.none() | positive,
    harmonics=st.lists(st.tuples(finite, finite, finite), max_size=2).map(tuple),
)
drives = st.builds(Drive, rotor_inertia=positive, gear_ratio=st.floats(0.1, 200), torque_constant=st.none() | positive)
thetas = st.lists(finite | st.just(np.nan), min_size=10, max_size=10)


@st.composite
def arms(draw):
    n = draw(st.integers(1, 4))
    kinds = st.sampled_from(["revolute", "prismatic"])
    labels = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    joints = [
        Joint(s, draw(kinds), draw(axes), draw(poses), draw(poses), draw(limits), draw(frictions), draw(drives))
        for s in labels
    ]
    links = [Link(s, draw(st.just(Inertia.unknown()) | thetas.map(Inertia))) for s in labels]
    return Arm(
        joints,
        links,
        name=draw(names),
        gravity=draw(triples),
        base_pose=draw(poses),
        tool_pose=draw(poses),
        base_name=draw(names),
        tip_name=draw(names),
        notes=draw(st.lists(names, max_size=2)),
    )


@given(arms())
def test_round_trips_are_exact(arm):
    again = arm_from_toml(toml_text(arm))
    assert again.fingerprint == arm.fingerprint  # geometry, theta, gravity, names, limits, friction, drives
    assert again.notes == arm.notes
    np.testing.assert_array_equal(again.theta, arm.theta)
    for one, other in zip(arm.joints, again.joints, strict=True):
        np.testing.assert_array_equal(one.before, other.before)
        np.testing.assert_array_equal(one.axis, other.axis)
    assert toml_text(again) == toml_text(arm)


def test_coupled_drives_round_trip():
    joints = [Joint("a", drive=Drive(coupling=(1.0, 0.0))), Joint("b", drive=Drive(coupling=(-0.1, 1.0)))]
    arm = Arm(joints, [Link("a"), Link("b")])
    again = arm_from_toml(toml_text(arm))
    assert again.joints[1].drive.coupling == (-0.1, 1.0)
    assert again.fingerprint == arm.fingerprint


MINIMAL = """
[[joint]]
name = "shoulder"
kind = "revolute"
link = "upper"
"""


def test_little_needs_to_be_said():
    arm = arm_from_toml(MINIMAL)
    assert (arm.n, arm.joint_names, arm.link_names) == (1, ("shoulder",), ("upper",))
    assert np.isnan(arm.theta).all()
    np.testing.assert_array_equal(arm.joints[0].axis, (0, 0, 1))


def test_poses_and_bodies_as_people_write_them():
    arm = arm_from_toml(
        """
        name = "pendulum"
        base_pose = { xyz = [0, 0, 1], rpy = [0, 0, 1.5] }
        [[joint]]
        name = "hinge"
        kind = "revolute"
        axis = [0, 1, 0]
        before = { xyz = [0.1, 0, 0] }
        limits = { lower = -1, upper = 1 }
        link = "rod"
        mass = 2
        com = [0, 0, -0.5]
        inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0]]
        """
    )
    np.testing.assert_array_equal(arm.base_pose, transform(from_rpy((0, 0, 1.5)), (0, 0, 1)))
    np.testing.assert_array_equal(arm.joints[0].before, transform(translation=(0.1, 0, 0)))
    np.testing.assert_allclose(arm.links[0].inertia.theta, [2, 0, 0, -1, 0.6, 0, 0.6, 0, 0, 0], atol=1e-16)
    assert arm.joints[0].limits.upper == 1.0


def test_a_dh_table_and_members_in_toml(chain_poses):
    table = arm_from_toml(
        """
        convention = "modified"
        gravity = [0, 0, -9.8]
        tool_pose = { xyz = [0, 0, 0.1] }
        [[row]]
        kind = "R"
        theta = 0.4
        [[row]]
        kind = "P"
        alpha = "pi/2"
        a = 0.3
        """,
        "crane.toml",
    )
    rows = [{"kind": "R", "theta": 0.4}, {"kind": "P", "alpha": np.pi / 2, "a": 0.3}]
    same = Arm.from_dh(
        rows, "modified", gravity=(0, 0, -9.8), tool_pose=transform(translation=(0, 0, 0.1)), name="crane"
    )
    assert table.fingerprint == same.fingerprint
    members = arm_from_toml(
        """
        name = "boom"
        [[member]]
        kind = "R"
        e_prev = [0, 0, 1]
        e_own = [0, 0, 1]
        r_prev = [-0.1, 0, 0]
        r_own = [0.2, 0, 0]
        """
    )
    np.testing.assert_allclose(chain_poses(members, [0.0])[0][0][:3, 3], (0.3, 0, 0), atol=1e-15)


def test_impossible_bodies_are_rejected_unless_the_file_says_so():
    theta = "theta = [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]\n"
    with raises(
        ModelError, where="a.toml: joint 1", cause="inertia is not physically possible: first moments without mass"
    ):
        arm_from_toml(MINIMAL + theta, "a.toml")
    arm = arm_from_toml("physical = false\n" + MINIMAL + theta)
    assert not arm.is_physical
    assert "physical = false" in toml_text(arm)
    assert arm_from_toml(toml_text(arm)).fingerprint == arm.fingerprint


def test_the_text_is_readable():
    joint = Joint("j", before=transform(translation=(0, 0, 0.5)), limits=Limits(-1, 1), drive=Drive(gear_ratio=50))
    text = toml_text(Arm((joint,), (Link("l", Inertia.from_com(2.0, (0.25, 0, 0))),)))
    for line in ("limits = { lower = -1.0, upper = 1.0 }", "drive = { gear_ratio = 50.0 }", "  [0.0, 0.0, 1.0, 0.5],"):
        assert line in text.splitlines()
    assert "centre of mass 0.25, 0, 0 m" in text
    assert "after" not in text  # what is as by default is left out


@pytest.mark.parametrize(
    ("text", "error", "parts"),
    [
        (
            "",
            ReadError,
            {
                "where": "x",
                "expected": re.compile(r"one of \[\[joint\]\] \(complete arm\)"),
                "got": "none",
            },
        ),
        ("name = ", ReadError, {"where": "x", "cause": re.compile("not a TOML file, or truncated")}),
        ("a" + 5000 * ".a" + " = 1", ReadError, {"where": "x", "cause": "the TOML is nested too deeply"}),
        ("[a" + 5000 * " . 'a'" + "]", ReadError, {"where": "x", "cause": "the TOML is nested too deeply"}),
        ("a = " + 5000 * "[", ReadError, {"where": "x", "cause": "the TOML is nested too deeply"}),
        ("a = 1" + 5000 * "0", ReadError, {"where": "x", "cause": re.compile("not a TOML file")}),
        ("joint = 3", ReadError, {"expected": "one [[joint]] table per joint", "got": "int"}),
        ("joint = [1]", ReadError, {"where": "x: joint 1", "expected": "a table", "got": "1"}),
        ("joint = []", ModelError, {"where": "x: arm 'arm'", "cause": "the chain has no moving joint"}),
        ("row = 3", ReadError, {"expected": "one [[row]] table per joint"}),
        ("row = [3]", ModelError, {"where": "x: DH row 1", "expected": "a mapping with kind, a, alpha, d, theta"}),
        ("member = 3", ModelError, {"where": "x: from_vectors", "expected": "a sequence of members"}),
        ("joint = []\nrow = []", ReadError, {"got": "joint and row"}),
        (
            MINIMAL.replace("kind", "sort"),
            ReadError,
            {
                "where": "x: joint 1",
                "cause": "unknown key sort",
                "expected": (
                    "some of name, kind, axis, before, after, limits, friction, drive, link, "
                    "theta, mass, com, inertia, parent, follows, offset"
                ),
                "names": ("sort",),
            },
        ),
        (
            MINIMAL.replace('kind = "revolute"', ""),
            ReadError,
            {"where": "x: joint 1", "cause": "lacks 'kind'", "remedy": re.compile("truncated"), "names": ("kind",)},
        ),
        (MINIMAL.replace("revolute", "ball"), ModelError, {"cause": "unknown kind 'ball'", "names": ("ball",)}),
        (
            MINIMAL + "theta = [1, 2]",
            ModelError,
            {
                "where": "x: joint 1",
                "cause": (
                    "inertia: expected m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of shape (10,), got shape (2,)"
                ),
            },
        ),
        (
            MINIMAL + "theta = 3",
            ModelError,
            {
                "where": "x: joint 1",
                "cause": ("inertia: expected m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of shape (10,), got shape ()"),
            },
        ),
        (MINIMAL + "axis = [0, 0, 0]", ModelError, {"cause": "joint 'shoulder': the axis has length 0"}),
        (
            MINIMAL + "before = [[1, 2], [3]]",
            ModelError,
            {"where": "x: joint 1: before", "expected": "rows of four numbers, or xyz and rpy"},
        ),
        (
            MINIMAL + "before = { xyz = [1, 2] }",
            ModelError,
            {"where": "x: joint 1: before: xyz", "expected": "3 finite numbers"},
        ),
        (MINIMAL + "before = { xyz = [1, 2, 3], rpy = [nan, 0, 0] }", ModelError, {"where": "x: joint 1: before: rpy"}),
        (
            MINIMAL + "before = { abc = 1 }",
            ReadError,
            {"where": "x: joint 1: before", "expected": "some of xyz, rpy", "names": ("abc",)},
        ),
        (
            MINIMAL + "limits = 3",
            ModelError,
            {"where": "x: joint 1: limits", "expected": "a mapping of lower, upper, velocity, effort"},
        ),
        (
            MINIMAL + "limits = { lower = 2, upper = 1 }",
            ModelError,
            {"cause": "limits: lower 2 is above upper 1; reversed?"},
        ),
        (MINIMAL + "mass = -1", ModelError, {"cause": "mass is negative (-1 kg)"}),
        ("physical = 1\n" + MINIMAL, ReadError, {"where": "x: physical", "expected": "true or false", "got": "1"}),
        ("version = 2\n" + MINIMAL, ReadError, {"expected": "format 'armdyn arm' version 1", "got": "None version 2"}),
        (
            "gravity = [0, 0]\n" + MINIMAL,
            ModelError,
            {"where": "x: arm 'arm': gravity", "expected": "3 finite numbers"},
        ),
        ("name = 5\n" + MINIMAL, ModelError, {"expected": "text as name", "got": "5"}),
        ('notes = "text"\n' + MINIMAL, ModelError, {"where": "x: arm 'arm': notes", "expected": "a sequence of str"}),
        (
            "base_pose = 1979-05-27\n" + MINIMAL,
            ModelError,
            {"where": "x: base_pose", "expected": "rows of four numbers, or xyz and rpy"},
        ),
        (MINIMAL + MINIMAL, ModelError, {"cause": "arm 'arm': joint names must differ, got shoulder more than once"}),
    ],
)
def test_bad_files_are_rejected(text, error, parts):
    with raises(error, **parts):
        arm_from_toml(text, "x")


def test_names_that_no_file_can_hold_are_rejected():
    arm = arm_from_toml(MINIMAL)
    with raises(
        ModelError, cause="the text '\\ud800' holds characters that cannot be written as UTF-8", names=("\ud800",)
    ):
        toml_text(dataclasses.replace(arm, name="\ud800"))


def test_a_file_of_version_0_2_is_read():
    """It has every number that 0.2 knew; none may be lost or change its meaning."""
    path = Path(__file__).parents[1] / "data" / "arm_0_2.toml"
    arm = armdyn.load(path)
    friction = Friction(
        viscous=1.0, coulomb=0.5, offset=0.1, static=0.7, stribeck=0.05, asymmetry=0.02, viscous_asymmetry=0.01,
        load=0.03, temperature=0.001, bristle_stiffness=100.0, bristle_damping=1.0, harmonics=((1.0, 0.1, 0.2),),
    )  # fmt: skip
    drive = Drive(
        rotor_inertia=1e-4, gear_ratio=50.0, damping=1e-3, torque_constant=0.1, stiffness=2.0, rest=0.1,
        balance=((0.1, 0.2, 1.0),), servo_stiffness=100.0, servo_damping=5.0, servo_delay=0.01, servo_dead_band=0.001,
    )  # fmt: skip
    limits = Limits(lower=-1.0, upper=1.0, velocity=2.0, effort=30.0)
    assert [(joint.friction, joint.drive, joint.limits) for joint in arm.joints] == [(friction, drive, limits)] * 3
    assert arm.theta == pytest.approx(armdyn.arms.puma3().theta, abs=1e-12)
