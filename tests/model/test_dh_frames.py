"""Denavit-Hartenberg frames of axes in space, and parameters of any arm."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.raising import raises

from armdyn import Arm, as_dh, dh_frames, dh_parameters, inverse_dynamics, load
from armdyn.errors import ModelError
from armdyn.model.arm import Link
from armdyn.model.joint import Joint
from armdyn.model.library import iiwa14
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

CONVENTIONS = ("standard", "modified")
X, Y, Z = np.eye(3)
O = np.zeros(3)


def rules_hold(frames):
    """(DH1) x_i is perpendicular to z_{i-1} and (DH2) intersects it."""
    for before, after in pairwise(frames):
        x, z, step = after[:3, 0], before[:3, 2], after[:3, 3] - before[:3, 3]
        assert abs(x @ z) < 1e-12
        assert abs(np.cross(x, z) @ step) < 1e-12


def test_skew_axes():
    # The common normal of z and of the y direction through (0.5, 0, 0.2) is along x at height 0.2.
    table = dh_frames([(O, Z), ((0.5, -3.0, 0.2), Y)])
    assert table.cases == ("skew",)
    assert table.rows[0] == ("R", 0.5, -np.pi / 2, 0.2, 0.0)
    rules_hold(table.frames)


def test_skew_normal_points_from_the_previous_axis_to_the_next():
    table = dh_frames([(O, Z), ((-0.5, 7.0, 0.2), Y)])
    assert table.rows[0] == ("R", 0.5, np.pi / 2, 0.2, np.pi)


def test_intersecting_axes():
    table = dh_frames([(O, Z), ((0.0, 2.0, 0.4), Y)])
    assert table.cases == ("intersecting",)
    np.testing.assert_allclose(table.frames[1][:3, 3], (0, 0, 0.4), atol=1e-15)
    # x is a normal of the plane of the axes, and of the two the one nearer to the previous x
    np.testing.assert_allclose(table.frames[1][:3, 0], X, atol=1e-15)
    assert table.rows[0] == ("R", 0.0, -np.pi / 2, 0.4, 0.0)
    rules_hold(table.frames)


@pytest.mark.parametrize(("direction", "alpha"), [(Z, 0.0), (-Z, np.pi)])
def test_parallel_axes_are_joined_where_d_is_zero(direction, alpha):
    table = dh_frames([(O, Z), ((0.3, 0.4, 5.0), direction)])
    assert table.cases == ("parallel",)
    row = table.rows[0]
    assert (row.a, row.alpha, row.d) == (pytest.approx(0.5, abs=1e-15), alpha, 0.0)
    assert row.theta == pytest.approx(np.arctan2(0.4, 0.3), abs=1e-15)
    rules_hold(table.frames)


def test_coincident_axes():
    table = dh_frames([(O, Z), ((0, 0, 3.0), Z)])
    assert table.cases == ("parallel",)
    assert table.rows[0] == ("R", 0.0, 0.0, 0.0, 0.0)


def test_prismatic_axes_keep_their_kind():
    table = dh_frames([(O, Z), (O, X)], kinds="PR")
    assert [row.kind for row in table.rows] == ["P", "R"]


numbers = st.floats(-1, 1, allow_nan=False)
vectors = st.tuples(numbers, numbers, numbers)
angles = st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi]) | st.floats(-3, 3)
poses = st.builds(lambda rpy, p: transform(from_rpy(rpy), p), st.tuples(angles, angles, angles), vectors)
axes = st.sampled_from([X, Y, Z, -Z]) | vectors.filter(lambda v: np.linalg.norm(v) > 0.1)
bodies = st.builds(
    lambda m, c, s: Inertia.from_com(m, c, np.diag([s, s, s])), st.floats(0.1, 3), vectors, st.floats(0, 1)
)


@st.composite
def arms(draw):
    n = draw(st.integers(1, 5))
    kinds = st.sampled_from(["revolute", "prismatic"])
    joints = [Joint(f"j{i}", draw(kinds), draw(axes), draw(poses), draw(poses)) for i in range(n)]
    links = [Link(f"l{i}", draw(bodies)) for i in range(n)]
    return Arm(joints, links, base_pose=draw(poses), tool_pose=draw(poses))


def well_conditioned(arm):
    """Nearly parallel axes put their common normal far away, or are taken for parallel: either costs digits."""
    T, axes = np.eye(4), []
    for joint in arm.joints:
        axes.append((T @ joint.before)[:3, :3] @ joint.axis)
        T = T @ joint.before @ joint.after
    sines = [np.linalg.norm(np.cross(z, z_next)) for z, z_next in pairwise(axes)]
    return all(sine < 1e-14 or sine > 0.02 for sine in sines)


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(arm=arms(), seed=st.integers(0, 1000))
def test_any_arm_has_a_table_with_the_same_tip(chain_poses, convention, arm, seed):
    assume(well_conditioned(arm))
    table = dh_parameters(arm, convention)
    same = Arm.from_dh(
        [row._asdict() for row in table.rows],
        convention,
        base_pose=table.base_pose,
        tool_pose=table.tool_pose,
    )
    q = np.random.default_rng(seed).uniform(-2, 2, arm.n)
    # lengths up to 100 and a few dozen roundings
    np.testing.assert_allclose(chain_poses(same, q)[1], chain_poses(arm, q)[1], rtol=0, atol=1e-11)
    if convention == "standard":
        rules_hold(table.frames)


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(arm=arms(), seed=st.integers(0, 1000))
def test_bodies_stay_where_they_are(chain_poses, convention, arm, seed):
    assume(well_conditioned(arm))
    same = as_dh(arm, convention)
    assert (same.joint_names, same.link_names, same.tip_name) == (
        arm.joint_names,
        arm.link_names,
        arm.tip_name,
    )
    q = np.random.default_rng(seed).uniform(-2, 2, arm.n)
    for one, other, T, U in zip(arm.links, same.links, chain_poses(arm, q)[0], chain_poses(same, q)[0], strict=True):
        np.testing.assert_allclose(one.inertia.moved(T).theta, other.inertia.moved(U).theta, rtol=0, atol=1e-8)


GENERAL = [
    {"kind": "R", "a": 0.1, "alpha": 0.7, "d": 0.3, "theta": 0.2},
    {"kind": "P", "a": 0.2, "alpha": -1.1, "d": 0.1, "theta": 0.4},
    {"kind": "R", "a": 0.05, "alpha": 0.3, "d": -0.2, "theta": -0.6},
]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_table_is_found_again(convention):
    table = dh_parameters(Arm.from_dh(GENERAL, convention), convention)
    np.testing.assert_array_equal(table.base_pose, np.eye(4))
    np.testing.assert_array_equal(table.tool_pose, np.eye(4))
    for row, given_row in zip(table.rows, GENERAL, strict=True):
        for key, value in given_row.items():
            assert getattr(row, key) == pytest.approx(value, abs=1e-14) if key != "kind" else row.kind == value


def test_puma_table_is_found_again(golden, golden_arm):
    robot = golden("puma560_sdh")["robot"]
    table = dh_parameters(golden_arm(robot))
    for row, joint in zip(table.rows, robot["joints"], strict=True):
        # the free signs of the procedure may turn a normal round: lengths and cosines are invariant
        assert abs(row.a) == pytest.approx(abs(joint["a"]), abs=1e-12)
        assert np.cos(row.alpha) == pytest.approx(np.cos(joint["alpha"]), abs=1e-12)


def test_a_urdf_gives_the_published_table(tmp_path):
    # KUKA LBR iiwa 14, whose frames are those of the common URDF: lengths lie along the axes, twists are right angles
    iiwa14().save(tmp_path / "iiwa14.urdf")
    arm = load(tmp_path / "iiwa14.urdf")
    table = dh_parameters(arm, "modified")
    assert [round(row.d, 9) for row in table.rows[:-1]] == [0.36, 0, 0.42, 0, 0.4, 0]
    # such files write pi/2 with twelve digits
    alpha = np.array([row.alpha for row in table.rows])
    np.testing.assert_allclose(alpha * 2 / np.pi, [0, -1, 1, 1, -1, -1, 1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_torques_do_not_depend_on_the_description(convention):
    rng = np.random.default_rng(5)
    bodies = [Inertia.from_com(1.0 + i, rng.uniform(-0.2, 0.2, 3), 0.1 * np.eye(3)) for i in range(3)]
    arm = Arm.from_dh(GENERAL, "standard").with_theta(np.concatenate([body.theta for body in bodies]))
    q, qd, qdd = rng.uniform(-1, 1, (3, 10, 3))
    other = as_dh(arm, convention)
    np.testing.assert_allclose(inverse_dynamics(other, q, qd, qdd), inverse_dynamics(arm, q, qd, qdd), atol=1e-12)


@pytest.mark.parametrize(
    ("axis", "parts"),
    [
        ((O,), {"where": "dh_frames: axis 1", "expected": "a point and a direction"}),
        ((O, O), {"cause": "dh_frames: axis 1: the direction has length 0"}),
        ((O, (1, np.nan, 0)), {"where": "dh_frames: axis 1: the direction", "expected": "3 finite numbers"}),
        ((O, (1, 0)), {"where": "dh_frames: axis 1: the direction", "expected": "3 finite numbers"}),
    ],
)
def test_bad_axes_are_rejected(axis, parts):
    with raises(ModelError, **parts):
        dh_frames([axis])


def test_bad_chains_are_rejected():
    with raises(ModelError, expected="at least one axis", got="none"):
        dh_frames([])
    with raises(ModelError, expected="'R' or 'P' for each of 1 axes", got="['R', 'R']"):
        dh_frames([(O, Z)], kinds="RR")
    with raises(ModelError, names=("paul",), expected="one of standard, modified"):
        dh_frames([(O, Z)], convention="paul")


def test_other_frames_keep_what_the_arm_is_mounted_on():
    arm = iiwa14().with_floor(-0.2)
    assert as_dh(arm).mounting_plane == (0.0, 0.0, 1.0, -0.2)
    assert as_dh(arm, "modified").joint_names == arm.joint_names
