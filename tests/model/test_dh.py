"""Arms from Denavit-Hartenberg tables."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Arm
from armdyn.errors import ModelError
from armdyn.model.dh import dh_transform, number
from armdyn.spatial.transform import inverse

FIXTURES = ("planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb")

ROWS = [
    {"kind": "R", "a": 0.1, "alpha": 0.7, "d": 0.3, "theta": 0.2, "mass": 2.0, "com": (0.1, 0.0, 0.05)},
    {"kind": "P", "a": 0.2, "alpha": -1.1, "d": 0.1, "theta": 0.4},
    {"kind": "R", "a": 0.05, "alpha": 0.3, "d": -0.2, "theta": -0.6},
]


@pytest.mark.parametrize("name", FIXTURES)
def test_golden_arms_reach_their_tip(golden, golden_arm, chain_poses, name):
    arm = golden_arm(golden(name)["robot"])
    for case in golden(name)["cases"]:
        # some ten roundings of lengths near one
        np.testing.assert_allclose(chain_poses(arm, case["q"])[1], case["T_tip"], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", FIXTURES)
def test_golden_arms_can_be_built_in_the_other_convention(golden, golden_arm, chain_poses, name):
    # A standard row is a modified row with a = alpha = 0 followed by the x screw of the row, which is the
    # beginning of the next modified row: shift a and alpha by one row, and the last one into the tool.
    robot = golden(name)["robot"]
    joints = robot["joints"]
    screws = [(j["a"], j["alpha"]) for j in joints]
    base = tool = np.eye(4)
    if robot["convention"] == "sdh":
        other, shifted = "modified", [(0.0, 0.0), *screws[:-1]]
        tool = dh_transform(*screws[-1], 0.0, 0.0)
    else:
        other, shifted = "standard", [*screws[1:], (0.0, 0.0)]
        base = dh_transform(*screws[0], 0.0, 0.0)
    rows = [
        {"kind": j["type"], "a": a, "alpha": alpha, "d": j["d"], "theta": j["theta"]}
        for j, (a, alpha) in zip(joints, shifted, strict=True)
    ]
    arm = Arm.from_dh(rows, other, base_pose=base, tool_pose=tool)
    for case in golden(name)["cases"]:
        np.testing.assert_allclose(chain_poses(arm, case["q"])[1], case["T_tip"], rtol=0, atol=1e-14)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_joint_variable_is_added_to_theta_or_d(chain_poses, convention):
    q = np.array([0.3, 0.25, -0.4])
    arm = Arm.from_dh(ROWS, convention)
    T = np.eye(4)
    for row, x in zip(ROWS, q, strict=True):
        turns = row["kind"] == "R"
        theta, d = row["theta"] + (x if turns else 0.0), row["d"] + (0.0 if turns else x)
        T = T @ dh_transform(row["a"], row["alpha"], d, theta, convention)
    np.testing.assert_allclose(chain_poses(arm, q)[1], T, rtol=0, atol=1e-15)


def test_one_row_is_the_printed_matrix():
    # ECE470 (2019), 1.5
    a, alpha, d, theta = 0.3, 0.5, 0.7, -1.2
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    printed = [
        [ct, -st * ca, st * sa, a * ct],
        [st, ct * ca, -ct * sa, a * st],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(dh_transform(a, alpha, d, theta), printed, rtol=0, atol=1e-15)
    # Craig (3.6)
    printed = [
        [ct, -st, 0, a],
        [st * ca, ct * ca, -sa, -sa * d],
        [st * sa, ct * sa, ca, ca * d],
        [0, 0, 0, 1],
    ]
    np.testing.assert_allclose(dh_transform(a, alpha, d, theta, "modified"), printed, rtol=0, atol=1e-15)


def test_link_frames_lie_where_the_convention_puts_them():
    standard, modified = (Arm.from_dh(ROWS, c) for c in ("standard", "modified"))
    assert all(np.array_equal(j.before, np.eye(4)) for j in standard.joints)
    assert all(np.array_equal(j.after, np.eye(4)) for j in modified.joints)


def test_what_is_missing_is_unknown():
    arm = Arm.from_dh(
        [
            {"kind": "R", "mass": None, "com": None, "inertia": None},
            {"kind": "R", "mass": 2.0, "com": (0.5, 0.0, 0.0)},
            {"kind": "R", "mass": 2.0, "com": (0.5, 0.0, 0.0), "inertia": np.zeros((3, 3))},
            {"kind": "R", "mass": 0.0},
        ]
    )
    nothing, untensored, point, massless = arm.theta.reshape(-1, 10)
    assert np.isnan(nothing).all()
    np.testing.assert_array_equal(np.isnan(untensored), [False] * 4 + [True] * 6)
    np.testing.assert_allclose(point, [2, 1, 0, 0, 0, 0, 0.5, 0, 0, 0.5])
    np.testing.assert_array_equal(massless, np.zeros(10))


def test_ten_inertial_parameters_under_either_name():
    ten = np.array([1.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.2, 0.0, 0.0, 0.2])
    as_theta = Arm.from_dh([{"kind": "R", "a": 1.0, "theta": ten}])
    as_inertial = Arm.from_dh([{"kind": "R", "a": 1.0, "theta": 0.3, "inertial": ten}])
    np.testing.assert_array_equal(as_theta.theta, ten)
    np.testing.assert_array_equal(as_inertial.theta, ten)
    # theta was no angle in the first arm, and is one in the second
    turned = inverse(as_theta.joints[0].after) @ as_inertial.joints[0].after
    assert np.trace(turned[:3, :3]) == pytest.approx(1 + 2 * np.cos(0.3), abs=1e-15)


def test_names_limits_friction_drive_and_degrees():
    row = {"kind": "P", "name": "slide", "link": "carriage", "alpha_deg": 90, "theta": "-pi/2"}
    row |= {"limits": (0.0, 0.5), "friction": {"viscous": 3.0}, "drive": {"gear_ratio": 50.0}}
    arm = Arm.from_dh([row], gravity=(0, -9.81, 0), name="axis")
    joint = arm.joints[0]
    assert (arm.name, joint.name, arm.link_names) == ("axis", "slide", ("carriage",))
    assert (joint.limits.lower, joint.limits.upper, joint.limits.effort) == (0.0, 0.5, np.inf)
    assert (joint.friction.viscous, joint.drive.gear_ratio) == (3.0, 50.0)
    np.testing.assert_array_equal(joint.after, dh_transform(0, np.pi / 2, 0, -np.pi / 2))
    np.testing.assert_array_equal(arm.gravity, (0, -9.81, 0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.3", 0.3),
        ("-pi/2", -np.pi / 2),
        ("pi", np.pi),
        ("2*pi/3", 2 * np.pi / 3),
        ("+ 3 pi / 4", 3 * np.pi / 4),
    ],
)
def test_numbers_as_text(text, value):
    assert number(text, "x") == value


@pytest.mark.parametrize(
    "text", ["", "pi/0", "pi*2/", "2**pi", "one", "nan", "inf", "__import__('os')", None, True, [1.0]]
)
def test_other_text_is_no_number(text):
    with raises(ModelError, where="x", expected=re.compile(r"^a (finite )?number")):
        number(text, "x")


def test_measured_moments_may_break_the_triangle_a_little():
    # link 3 of the PUMA 560 after Armstrong, Khatib and Burdick
    body = {"mass": 4.8, "com": (0, 0, 0.07), "inertia": np.diag([0.066, 0.0125, 0.086])}
    arm = Arm.from_dh([{"kind": "R", **body}])
    assert not arm.is_physical
    assert "link1" in arm.is_physical.problems
    assert "triangle" in str(arm.is_physical)


EYE = np.eye(3)
BODY = {"kind": "R", "mass": 1.0, "com": (0, 0, 0)}
BAD = [
    (
        {"kind": "X"},
        {
            "where": "DH row 1",
            "cause": "unknown kind of joint 'X'",
            "expected": "one of R, P, revolute, prismatic",
            "names": ("X",),
        },
    ),
    ({}, {"cause": "unknown kind of joint None", "names": ("None",)}),
    (
        {"kind": "R", "alfa": 1},
        {
            "where": "DH row 1",
            "cause": "unknown key alfa",
            "expected": (
                "some of name, link, kind, a, alpha, d, theta, alpha_deg, theta_deg, mass, "
                "com, inertia, inertial, limits, friction, drive, parent, follows, offset, "
                "gamma, gamma_deg, b"
            ),
            "names": ("alfa",),
        },
    ),
    ({"kind": "R", "a": np.nan}, {"where": "DH row 1: a", "expected": "a finite number", "got": "nan"}),
    ({"kind": "R", "d": np.inf}, {"where": "DH row 1: d", "expected": "a finite number", "got": "inf"}),
    ({"kind": "R", "alpha": "half"}, {"where": "DH row 1: alpha", "expected": "a number", "got": "'half'"}),
    ({"kind": "R", "alpha": 1, "alpha_deg": 1}, {"cause": "both alpha and alpha_deg are given"}),
    ({"kind": "R", "mass": -1.0, "com": (0, 0, 0), "inertia": EYE}, {"cause": "mass is negative (-1 kg)"}),
    ({"kind": "R", "mass": -1.0}, {"cause": "mass is negative (-1 kg)"}),
    (
        {"kind": "R", "mass": 1.0, "com": (0, 0), "inertia": EYE},
        {"cause": "inertia: expected a centre of mass of shape (3,), got shape (2,)"},
    ),
    ({**BODY, "inertia": np.eye(2)}, {"cause": "inertia: expected a tensor of shape (3, 3), got shape (2, 2)"}),
    (
        {**BODY, "inertia": np.diag([1.0, 1.0, -1.0])},
        {
            "cause": (
                "inertia is not physically possible: tensor about the centre of mass is not "
                "positive semidefinite (smallest moment -1 kg m²)"
            )
        },
    ),
    (
        {**BODY, "inertia": np.diag([1.0, 1.0, 3.0])},
        {
            "cause": (
                "inertia is not physically possible: moments break the triangle inequality (1 "
                "+ 1 < 3 kg m²); swapped axes?"
            )
        },
    ),
    (
        {**BODY, "inertia": np.triu(np.ones((3, 3)))},
        {"cause": "inertia: tensor is not symmetric; products of inertia must appear twice"},
    ),
    (
        {"kind": "R", "mass": 1.0, "inertial": np.zeros(10)},
        {"cause": "both ten inertial parameters and mass are given", "names": ("mass",)},
    ),
    (
        {"kind": "R", "theta": [1.0, 2.0]},
        {"cause": ("inertia: expected m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of shape (10,), got shape (2,)")},
    ),
    (
        {"kind": "R", "inertial": [0.0, 1.0] + 8 * [0.0]},
        {"cause": "inertia is not physically possible: first moments without mass"},
    ),
    (
        {"kind": "R", "limits": (1.0, -1.0)},
        {"where": "DH row 1", "cause": "limits: lower 1 is above upper -1; reversed?"},
    ),
    ({"kind": "R", "limits": 3}, {"where": "DH row 1: limits", "expected": "(lower, upper) or a mapping"}),
    (
        {"kind": "R", "limits": {"max": 3}},
        {"where": "DH row 1: limits", "expected": "some of lower, upper, velocity, effort", "names": ("max",)},
    ),
    ({"kind": "R", "drive": {"gear_ratio": 0}}, {"cause": "drive: expected a gear ratio other than 0"}),
    ({"kind": "R", "name": 7}, {"expected": "a name", "got": "7"}),
    (["R", 1, 2], {"where": "DH row 1", "expected": "a mapping with kind, a, alpha, d, theta"}),
]


@pytest.mark.parametrize(("row", "parts"), BAD)
def test_bad_rows_are_rejected(row, parts):
    with raises(ModelError, **parts):
        Arm.from_dh([row])


def test_bad_tables_are_rejected():
    with raises(ModelError, names=("craig",), expected="one of standard, modified"):
        Arm.from_dh(ROWS, "craig")
    with raises(ModelError, cause="the chain has no moving joint"):
        Arm.from_dh([])
    with raises(ModelError, expected="a sequence of rows", got="dict"):
        Arm.from_dh(ROWS[0])
    with raises(ModelError, cause="arm 'arm': joint names must differ, got x more than once"):
        Arm.from_dh([{"kind": "R", "name": "x"}, {"kind": "R", "name": "x"}])
    with raises(ModelError, where="arm 'arm': base_pose", cause=re.compile("rotation is not orthogonal")):
        Arm.from_dh(ROWS, base_pose=2 * np.eye(4) - np.diag([0, 0, 0, 1]))


def test_rows_fork_and_follow(tmp_path):
    """Khalil and Kleinfinger: rows name the row that they hang on; two parameters more where a fork needs them."""
    rows = [
        {"kind": "R", "name": "waist", "link": "column", "d": 0.5},
        {"kind": "R", "name": "shoulder", "alpha": "-pi/2", "link": "beam"},
        {"kind": "R", "name": "elbow", "a": 0.8, "follows": [["crank", 1.0], ["shoulder", -1.0]]},
        {"kind": "R", "name": "crank", "parent": 1, "alpha": "-pi/2", "link": "crank link"},
        {"kind": "R", "name": "rod", "parent": "crank link", "a": -0.2, "follows": [["elbow", -1.0]], "offset": 0.1},
        {"kind": "P", "name": "rail", "parent": 0, "gamma_deg": 90, "b": 0.3, "a": 0.4},
    ]
    arm = Arm.from_dh(rows, "modified")
    assert arm.parents == (-1, 0, 1, 0, 3, -1)
    assert arm.coordinate_names == ("waist", "shoulder", "crank", "rail")
    np.testing.assert_array_equal(arm.G[4], [0, 1, -1, 0])
    assert arm.b[4] == 0.1
    np.testing.assert_allclose(arm.joints[5].before[:3, 3], (0.0, 0.4, 0.3), atol=1e-15)
    for wrong in (6, -1, 1.5, True):
        with raises(ModelError, where="DH row 6: parent", expected="the number of a row before it, 0 for the base"):
            Arm.from_dh([*rows[:5], {**rows[5], "parent": wrong}], "modified")
