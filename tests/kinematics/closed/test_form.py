"""Closed forms: which arms have one, and that every branch of every structure leads back to the pose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ModelError
from armdyn.kinematics.axes import Axis, chain, meeting_point, parallel
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import inverse
from armdyn.trace import backend

X, Y, Z, O = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)
TILTED = (0.6, 0.0, 0.8)
# Three axes that meet at a point: at right angles, and not.
WRIST = [((0.9, 0.1, 0.5), Z), ((0.9, 0.1, 0.5), Y), ((0.9, 0.1, 0.5), X)]
SKEW_WRIST = [((0.9, 0.1, 0.5), Z), ((0.9, 0.1, 0.5), (0.8, 0.6, 0)), ((0.9, 0.1, 0.5), X)]

# Kinds and axes of the first three joints, and how many solutions a position has at most.
STRUCTURES = {
    "elbow": ("RRR", [(O, Z), ((0, 0.15, 0.3), Y), ((0.5, 0.1, 0.3), Y)], 4),
    "elbow, axes opposed": ("RRR", [(O, Z), ((0.05, -0.2, 0.3), Y), ((0.5, 0, 0.35), (0, -1, 0))], 4),
    "elbow, tilted": ("RRR", [(O, Z), ((0.1, 0.1, 0.3), TILTED), ((0.5, 0.1, 0.6), TILTED)], 4),
    "sliding elbow": ("PRR", [(O, Z), ((0, 0.1, 0.3), TILTED), ((0.5, 0, 0.3), TILTED)], 2),
    "SCARA": ("RRP", [(O, Z), ((0.5, 0, 0), Z), ((0.8, 0, 0), TILTED)], 2),
    "turning SCARA": ("RRR", [(O, Z), ((0.5, 0, 0), (0, 0, -1)), ((0.8, 0, 0.1), Y)], 4),
    "spherical": ("RRP", [((0, 0, 0.1), Z), ((0, 0.1, 0.4), Y), ((0.1, 0.2, 0.4), X)], 4),
    "shoulder": ("RRR", [(O, Z), ((0, 0, 0.3), X), ((0.2, 0.1, 0.5), TILTED)], 4),
    "pointing": ("RRR", [(O, Z), ((0.4, 0.1, 0.3), X), ((0.4, 0.1, 0.3), Y)], 4),
    "sliding pointing": ("PRR", [(O, Z), ((0.4, 0.1, 0.3), X), ((0.4, 0.1, 0.3), Y)], 4),
    "cylindrical": ("RPP", [(O, Z), ((0.1, 0, 0), TILTED), ((0.2, 0, 0.3), X)], 2),
}


def round_trip(arm, q, **options):
    """Solutions of the poses of q; those that exist lead back to the pose, and q is among them."""
    poses = armdyn.forward_kinematics(arm, q)
    found = armdyn.inverse_kinematics(arm, poses, q, method="closed", **options)
    assert found.success.all(), found.message
    np.testing.assert_allclose(found.q, q, atol=1e-6)
    exists = np.isfinite(found.all_solutions).all(-1)
    back = armdyn.forward_kinematics(arm, np.nan_to_num(found.all_solutions))
    off = np.abs(back - poses[:, None]).max((-1, -2))
    assert off[exists].max() < 1e-9
    return found, exists


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.by_day(5)
def test_all_branches_of_every_structure_round_trip(arm_of_axes, configurations, name):
    kinds, lines, positions = STRUCTURES[name]
    arm = arm_of_axes(kinds + "RRR", lines + WRIST, seed=len(name))
    form = armdyn.closed_form(arm)
    assert form.family.startswith(name.split(",")[0]) or name.startswith("sliding p")
    assert len(form.branches) == len(set(form.branches)) == 2 * positions
    _, exists = round_trip(arm, configurations(arm, 200))
    # Every configuration has at least the wrist's two; the branches come in pairs.
    assert (exists[:, ::2] == exists[:, 1::2]).all()
    assert exists.sum(1).max() == 2 * positions


def test_a_wrist_without_right_angles_has_both_branches(arm_of_axes, configurations):
    kinds, lines, _ = STRUCTURES["elbow"]
    arm = arm_of_axes(kinds + "RRR", lines + SKEW_WRIST)
    _, exists = round_trip(arm, configurations(arm, 100))
    assert exists.sum(1).max() == 8


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "cylindrical", "puma3", "ur5", "ur10", "lu_meng4"])
def test_library_arms_round_trip(configurations, name):
    arm = getattr(armdyn.arms, name)()
    _, exists = round_trip(arm, configurations(arm, 200))
    assert exists.any(-1).all()


@pytest.mark.parametrize("name", ["puma560", "iiwa14"])
def test_kernels_find_the_same(configurations, name):
    arm = getattr(armdyn.arms, name)()
    poses = armdyn.forward_kinematics(arm, configurations(arm, 100))
    native = armdyn.inverse_kinematics(arm, poses, method="closed").all_solutions
    with backend.using("virtual"):
        virtual = armdyn.inverse_kinematics(arm, poses, method="closed").all_solutions
    np.testing.assert_allclose(native, virtual, atol=1e-9)  # poses near singular ones lose digits


def test_angles_beyond_the_limits_are_not_turned_further(configurations):
    """A turn is made where it leads into the limits, and nowhere else."""
    arm = armdyn.arms.puma560()
    joints = [dataclasses.replace(joint, limits=armdyn.Limits(-1.0, 1.0)) for joint in arm.joints]
    arm = arm.with_joints(joints)
    poses = armdyn.forward_kinematics(arm, configurations(arm, 50))
    q = armdyn.inverse_kinematics(arm, poses, method="closed").all_solutions
    assert np.nanmax(np.abs(q)) <= np.pi + 1e-6


def test_a_joint_that_turns_about_the_tip_is_found_from_the_orientation(configurations):
    arm = armdyn.arms.puma3()  # its tip is the elbow, on the axis of joint 3
    poses = armdyn.forward_kinematics(arm, configurations(arm, 50))
    found = armdyn.inverse_kinematics(arm, poses)
    assert found.method == "elbow arm with no wrist"
    assert found.success.all()
    np.testing.assert_allclose(armdyn.forward_kinematics(arm, found.q), poses, atol=1e-12)


def test_a_positioning_arm_has_all_solutions_of_a_position(configurations):
    arm = armdyn.arms.puma3()
    poses = armdyn.forward_kinematics(arm, configurations(arm, 50))
    found = armdyn.inverse_kinematics(arm, poses, task="position", method="closed")
    tips = armdyn.forward_kinematics(arm, found.all_solutions)
    assert found.branches == ("left, up", "left, down", "right, up", "right, down")
    np.testing.assert_allclose(tips[..., :3, 3], np.broadcast_to(poses[:, None, :3, 3], (50, 4, 3)), atol=1e-12)


def test_a_swivel_angle_that_limits_forbid_is_told(configurations):
    arm = armdyn.arms.lwr4()
    poses = armdyn.forward_kinematics(arm, configurations(arm, 60))
    found = armdyn.inverse_kinematics(arm, poses, swivel=2.5)
    assert not found.success.all()
    assert set(found.reason[~found.success]) == {"limit"}
    lower, upper = arm.position_limits
    assert ((found.q >= lower) & (found.q <= upper))[~found.success].all()


def test_puma_has_eight_solutions_in_both_frames(golden, golden_arm):
    for name in ("puma560_sdh", "puma560_mdh_akb"):
        arm = golden_arm(golden(name)["robot"])
        _, exists = round_trip(arm, np.array([[0.3, -0.7, 0.4, 0.5, 0.6, -0.2], [1.0, 0.3, -1.0, -2.0, -0.8, 2.0]]))
        assert exists.all()


def test_solutions_do_not_depend_on_where_the_link_frames_are(random_arm):
    """The same axes through other frames, as another description of the arm would have them."""
    arm = armdyn.arms.puma560()
    frames = [np.eye(4), *(joint.before for joint in random_arm("RRRRRR").joints)]
    joints = [
        armdyn.Joint(j.name, j.kind, j.axis, inverse(F) @ j.before, j.after @ G, j.limits)
        for j, F, G in zip(arm.joints, frames, frames[1:], strict=False)
    ]
    moved = armdyn.Arm(joints, arm.links, base_pose=arm.base_pose, tool_pose=inverse(frames[-1]) @ arm.tool_pose)
    pose = armdyn.forward_kinematics(arm, [0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
    first, second = (armdyn.inverse_kinematics(a, pose) for a in (arm, moved))
    np.testing.assert_allclose(first.all_solutions, second.all_solutions, atol=1e-9)
    assert first.branches == second.branches


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_names_of_shoulder_branches_tell_the_side(configurations, name):
    """Left: seen from above and looking towards the wrist, the arm's plane passes left of the first axis."""
    arm = getattr(armdyn.arms, name)()
    q = configurations(arm, 100)
    found, _ = round_trip(arm, q)
    seen = chain(arm)
    center = meeting_point(seen.axes[3:])
    up, z2 = seen.axes[0].z, seen.axes[1].z
    for k, branch in enumerate(found.branches):
        solution = found.all_solutions[:, k]
        # Wrist centre and second axis after joint 1 has turned, relative to the first axis
        wrist = _moved(seen.axes[:3], solution, center) - seen.axes[0].p
        normal = _moved(seen.axes[:1], solution, seen.axes[0].p + z2) - seen.axes[0].p
        ahead = wrist - np.outer(wrist @ up, up)
        left = np.cross(up, ahead)
        # The plane's offset along its normal, and whether that normal points left
        offset = np.einsum("ij,ij->i", wrist, normal) * np.sign(np.einsum("ij,ij->i", normal, left))
        assert (offset > 0).all() == ("left" in branch)


def test_names_of_elbow_branches_tell_whether_the_elbow_is_up(configurations):
    arm = armdyn.arms.puma560()
    found, _ = round_trip(arm, configurations(arm, 100))
    seen = chain(arm)
    center, up = meeting_point(seen.axes[3:]), seen.axes[0].z
    for k, branch in enumerate(found.branches):
        q = found.all_solutions[:, k]
        shoulder, elbow, wrist = (
            _moved(seen.axes[:1], q, seen.axes[1].through(seen.axes[2].p).p),
            _moved(seen.axes[:2], q, seen.axes[2].p),
            _moved(seen.axes[:3], q, center),
        )
        line = wrist - shoulder
        normal = _moved(seen.axes[:1], q, seen.axes[0].p + seen.axes[1].z) - seen.axes[0].p
        line -= normal * np.einsum("ij,ij->i", line, normal)[:, None]
        line /= np.linalg.norm(line, axis=1, keepdims=True)
        away = elbow - shoulder
        away = away - line * np.einsum("ij,ij->i", away, line)[:, None]
        # Above the line: along the part of the first axis that is across it
        across = up - line * (line @ up)[:, None]
        assert (np.einsum("ij,ij->i", away, across) > 0).all() == ("up" in branch)


def _moved(axes, q, point):
    """The point (3,) carried by the joints: (N, 3)."""
    points = np.broadcast_to(point, (len(q), 3))
    for i in reversed(range(len(axes))):
        if axes[i].is_revolute:
            R = from_axis_angle(axes[i].z, q[:, i])
            points = axes[i].p + (R @ (points - axes[i].p)[..., None])[..., 0]
        else:
            points = points + np.outer(q[:, i], axes[i].z)
    return points


def test_singular_wrist_keeps_the_reference_position():
    arm = armdyn.arms.puma560()
    q = np.array([0.3, -0.7, 0.4, 0.5, 0.0, -0.2])
    pose = armdyn.forward_kinematics(arm, q)
    near = np.array([0.2, -0.6, 0.3, 0.9, 0.1, 0.0])
    found = armdyn.inverse_kinematics(arm, pose, near)
    assert found.success
    assert found.q[3] == pytest.approx(0.9)
    assert found.q[3] + found.q[5] == pytest.approx(0.3)
    np.testing.assert_allclose(armdyn.forward_kinematics(arm, found.q), pose, atol=1e-9)


@pytest.mark.parametrize("angle", [1e-4, 1e-7, 1e-9, 1e-12])
def test_nearly_singular_wrists_are_solved_to_full_accuracy(angle):
    arm = armdyn.arms.puma560()
    pose = armdyn.forward_kinematics(arm, [0.3, -0.7, 0.4, 0.5, angle, -0.2])
    found = armdyn.inverse_kinematics(arm, pose)
    assert np.abs(armdyn.forward_kinematics(arm, found.all_solutions) - pose).max() < 1e-10


def test_the_edge_of_the_workspace_is_reached(arm_of_axes):
    """A stretched elbow: the discriminant is zero up to round-off."""
    kinds, lines, _ = STRUCTURES["elbow"]
    arm = arm_of_axes(kinds + "RRR", lines + WRIST)
    seen = chain(arm)
    E, W = seen.axes[2].p, meeting_point(seen.axes[3:])
    across = np.eye(3) - np.outer(seen.axes[1].z, seen.axes[1].z)
    upper, fore = across @ (E - seen.axes[1].p), across @ (W - E)
    stretch = np.arctan2(seen.axes[2].z @ np.cross(fore, upper), fore @ upper)
    q = np.array([[0.3, 0.2, stretch, 0.4, 0.5, 0.6]])
    poses = armdyn.forward_kinematics(arm, q)
    assert armdyn.inverse_kinematics(arm, poses).success.all()


@pytest.mark.parametrize("name", ["lwr4", "iiwa14", "sarcos"])
@pytest.mark.by_day(1)
def test_swivelling_arms_round_trip_at_any_swivel_angle(configurations, name):
    arm = getattr(armdyn.arms, name)()
    q = configurations(arm, 100)
    _, exists = round_trip(arm, q, swivel=armdyn.swivel_angle(arm, q))
    assert exists.all()
    wanted = np.linspace(-3, 3, 100)
    other = armdyn.inverse_kinematics(arm, armdyn.forward_kinematics(arm, q), swivel=wanted)
    turned = armdyn.swivel_angle(arm, other.all_solutions) - wanted[:, None]
    assert np.abs((turned + np.pi) % (2 * np.pi) - np.pi).max() < 1e-8


def test_families_hold_for_axes_in_general_position(arm_of_axes, configurations):
    """Only the parallel and meeting axes that define a family, all else askew."""
    A, B = (0.5, 0.1, 0.2), (0.9, -0.2, 0.4)
    parallel_axes = [(O, (0.6, 0, 0.8)), (A, Y), ((0.4, 0, 0.6), (0, -1, 0)), ((0.7, 0.3, 0.5), Y)]
    arm = arm_of_axes("RRRRRR", [*parallel_axes, (B, X), (B, (0, 0.6, 0.8))])
    assert armdyn.closed_form(arm).family == "three parallel axes"
    round_trip(arm, configurations(arm, 100))
    shoulder, wrist = [(A, z) for z in (Z, (0.6, 0, 0.8), (0.8, 0.6, 0))], [(B, z) for z in (X, (0, 0.6, 0.8), TILTED)]
    arm = arm_of_axes("RRRRRRR", [*shoulder, ((0.6, 0.3, 0.6), Y), *wrist])
    assert armdyn.closed_form(arm).family.startswith("spherical shoulder")
    q = configurations(arm, 100)
    round_trip(arm, q, swivel=armdyn.swivel_angle(arm, q))


def test_swivel_angle_is_zero_with_the_elbow_up_and_counts_counterclockwise():
    arm = armdyn.arms.lwr4()
    # Shoulder, elbow and wrist in a vertical plane, forearm level or below
    q = np.array([0.4, 0.3, 0.0, -1.2, 0.1, 0.2, 0.3])
    first = float(armdyn.swivel_angle(arm, q))
    assert min(abs(first), abs(abs(first) - np.pi)) < 1e-12
    # Self-motion by half a radian about the line from shoulder to wrist
    pose = armdyn.forward_kinematics(arm, q)
    turned = armdyn.inverse_kinematics(arm, pose, q, swivel=first + 0.5).q
    links = armdyn.link_poses(arm, np.array([q, turned]))
    base = chain(arm).base
    S = (base @ [*meeting_point(chain(arm).axes[:3]), 1])[:3]
    E, W = links[:, 3, :3, 3], links[0, 5, :3, 3]
    np.testing.assert_allclose(links[1, 5, :3, 3], W, atol=1e-9)
    u = (W - S) / np.linalg.norm(W - S)
    spokes = [e - S - u * (u @ (e - S)) for e in E]
    assert np.arctan2(u @ np.cross(*spokes), spokes[0] @ spokes[1]) == pytest.approx(0.5, abs=1e-9)


def test_without_a_swivel_angle_one_within_limits_is_found(configurations):
    arm = armdyn.arms.iiwa14()
    q = configurations(arm, 500)
    found = armdyn.inverse_kinematics(arm, armdyn.forward_kinematics(arm, q))
    assert found.success.all()
    lower, upper = arm.position_limits
    assert ((found.q >= lower - 1e-9) & (found.q <= upper + 1e-9)).all()


def test_arms_without_a_closed_form_say_so(random_arm):
    assert armdyn.closed_form(armdyn.arms.panda()) is None
    assert armdyn.closed_form(random_arm("RRRRRR")) is None
    pose = np.eye(4)
    with raises(ModelError, names=("pose",)):
        armdyn.inverse_kinematics(armdyn.arms.panda(), pose, method="closed")
    with raises(ModelError, cause="arm 'puma560' has no swivel angle for task 'pose' and this method", names=("pose",)):
        armdyn.inverse_kinematics(armdyn.arms.puma560(), pose, swivel=0.1)
    with raises(
        ModelError,
        cause="arm 'puma560' has no swivel angle",
        expected="seven revolute joints with a spherical shoulder and a spherical wrist",
    ):
        armdyn.swivel_angle(armdyn.arms.puma560(), np.zeros(6))


def test_rounded_descriptions_count_and_are_corrected(configurations):
    """1.5708 for a right angle, as many files have it."""
    right = 1.5708
    rows = [
        {"kind": "R", "alpha": right},
        {"kind": "R", "a": 0.43},
        {"kind": "R", "a": 0.02, "d": 0.15, "alpha": -right},
        {"kind": "R", "d": 0.43, "alpha": right},
        {"kind": "R", "alpha": -right},
        {"kind": "R", "d": 0.06},
    ]
    arm = armdyn.Arm.from_dh(rows)
    assert armdyn.closed_form(arm) is not None
    found, exists = round_trip(arm, configurations(arm, 50))
    assert exists.all()
    assert found.residual.max() < 1e-9


def test_lines_in_space():
    axes = [Axis("revolute", np.array(z, float), np.array(p, float)) for p, z in [((1, 2, 3), X), ((1, 2, 5), Z)]]
    np.testing.assert_allclose(meeting_point(axes), (1, 2, 3))
    assert meeting_point([axes[0], axes[1]._replace(p=np.array([1, 2.1, 3]))]) is None
    assert meeting_point([axes[0], axes[0]]) is None
    assert parallel(axes[0], axes[0]._replace(z=-axes[0].z))
    np.testing.assert_allclose(axes[1].through(np.array([7.0, 7, 7])).p, (1, 2, 7))
