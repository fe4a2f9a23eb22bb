"""Arms from axes and vectors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Arm
from armdyn.errors import ModelError

MEMBER = {"e_prev": (0, 0, 1), "e_own": (0, 0, 1), "r_prev": (-0.1, 0, 0), "r_own": (0.2, 0, 0)}


def test_golden_chain(golden, chain_poses):
    data = golden("turning_and_sliding_members")
    for case in data["cases"]:
        members = data["members"][: case["n"]]
        arm = Arm.from_vectors(members, gravity=data["gravity"])
        assert "".join(joint.kind[0] for joint in arm.joints) == "rp" * case["n"]
        poses, _ = chain_poses(arm, case["q"])
        poses = poses[1::2]  # the carriers between turn and slide are not members
        R_prev = np.concatenate([np.eye(3)[None], poses[:-1, :3, :3]])
        e = [R @ m["e_prev"] for R, m in zip(R_prev, members, strict=True)]
        delta = [R @ m["r_prev"] for R, m in zip(R_prev, members, strict=True)]
        gamma = [T[:3, :3] @ m["r_own"] for T, m in zip(poses, members, strict=True)]
        found = {"A": poses[:, :3, :3], "T": poses[:, :3, 3], "e": e, "gamma": gamma, "delta": delta}
        for name, value in found.items():
            # a dozen roundings of lengths near one
            np.testing.assert_allclose(value, case[name], rtol=0, atol=1e-14, err_msg=name)


def test_golden_bodies_lie_at_their_centres(golden):
    data = golden("turning_and_sliding_members")
    arm = Arm.from_vectors(data["members"])
    assert arm.is_physical
    theta = arm.theta.reshape(-1, 10)
    np.testing.assert_array_equal(theta[::2], 0.0)  # massless carriers
    np.testing.assert_array_equal(theta[1::2, 0], [m["m"] for m in data["members"]])
    np.testing.assert_array_equal(theta[1::2, 1:4], 0.0)
    np.testing.assert_array_equal(theta[1::2][:, [4, 6, 9]], [m["J"] for m in data["members"]])


def test_angle_zero_is_the_straight_position(chain_poses):
    # (5) of the source: r_{i-1,i} points back to the previous member, r_ii on to this one
    arm = Arm.from_vectors([{"kind": "R", **MEMBER}, {"kind": "R", **MEMBER, "r_prev": (-0.3, 0, 0)}])
    poses, _ = chain_poses(arm, [0.0, 0.0])
    np.testing.assert_allclose(poses[:, :3, 3], [(0.3, 0, 0), (0.8, 0, 0)], atol=1e-15)
    poses, _ = chain_poses(arm, [0.0, np.pi / 2])
    np.testing.assert_allclose(poses[1, :3, 3], (0.6, 0.2, 0), atol=1e-15)


def test_a_linear_joint_slides_along_its_axis(chain_poses):
    arm = Arm.from_vectors([{"kind": "P", **MEMBER}])
    poses, _ = chain_poses(arm, [0.25])
    np.testing.assert_allclose(poses[0, :3, 3], (0.3, 0, 0.25), atol=1e-15)


def test_a_third_axis_tells_where_zero_is_when_the_vector_lies_along_the_axis(chain_poses):
    along = {**MEMBER, "kind": "R", "r_prev": (0, 0, -0.3)}
    with raises(
        ModelError,
        where="member 1",
        cause="the vector lies along the joint axis and does not show where angle zero is",
        remedy="give a direction across the axis as 'a_prev'",
    ):
        Arm.from_vectors([along])
    arm = Arm.from_vectors([{**along, "a_prev": (0, 1, 0)}])
    poses, _ = chain_poses(arm, [0.0])
    np.testing.assert_allclose(poses[0, :3, 3], (0, 0.2, 0.3), atol=1e-15)


def test_names_limits_and_drives():
    member = {**MEMBER, "name": "boom", "turn": {"limits": {"upper": 1.0}}, "slide": {"drive": {"gear_ratio": 9.0}}}
    arm = Arm.from_vectors([member], name="crane", notes=["a drawing"])
    assert arm.joint_names == ("boom_turn", "boom_slide")
    assert arm.link_names == ("boom_carrier", "boom")
    assert (arm.joints[0].limits.upper, arm.joints[1].drive.gear_ratio) == (1.0, 9.0)
    assert (arm.name, arm.notes) == ("crane", ("a drawing",))
    assert np.isnan(arm.theta[10:]).all()  # no mass was given


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (
            {"kind": "S"},
            {"where": "member 1", "cause": "unknown kind 'S'", "expected": "one of R, P, RP", "names": ("S",)},
        ),
        ({"e_prev": (0, 0, 0)}, {"cause": "member 1: e_prev has length 0", "expected": "a direction"}),
        ({"e_own": (0, 0)}, {"where": "member 1: e_own", "expected": "3 finite numbers"}),
        ({"r_prev": "left"}, {"where": "member 1: r_prev", "expected": "3 finite numbers", "got": "'left'"}),
        ({"r_own": (np.inf, 0, 0)}, {"where": "member 1: r_own", "expected": "3 finite numbers"}),
        ({"r_own": None}, {"where": "member 1", "cause": "lacks 'r_own'", "names": ("r_own",)}),
        ({"mass": -1.0, "inertia": (1, 1, 1)}, {"cause": "mass is negative (-1 kg)"}),
        (
            {"mass": 1.0, "inertia": (1, 1, 3)},
            {
                "cause": (
                    "inertia is not physically possible: moments break the triangle inequality (1 "
                    "+ 1 < 3 kg m²); swapped axes?"
                )
            },
        ),
        ({"inertia": (1, 1, 1)}, {"cause": "inertia is given, but mass is not"}),
        ({"turn": {"limit": 3}}, {"where": "member 1: turn", "expected": "a mapping of limits, friction and drive"}),
        ({"colour": "red"}, {"where": "member 1", "cause": "unknown key colour", "names": ("colour",)}),
    ],
)
def test_bad_members_are_rejected(change, parts):
    with raises(ModelError, **parts):
        Arm.from_vectors([{**MEMBER, **change}])


def test_bad_lists_are_rejected():
    with raises(ModelError, expected="a sequence of members", got="dict"):
        Arm.from_vectors(MEMBER)
    with raises(ModelError, where="member 1", expected="a mapping of axes and vectors", got="3"):
        Arm.from_vectors([3])
    with raises(ModelError, cause="the chain has no moving joint"):
        Arm.from_vectors([])
