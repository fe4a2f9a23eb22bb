"""Inverse kinematics: what it returns, what it rejects, and why it fails when it does."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ModelError, ShapeError


@pytest.fixture(scope="module")
def panda():
    return armdyn.arms.panda()


@pytest.fixture(scope="module")
def puma():
    return armdyn.arms.puma560()


def assert_reached(arm, found, poses, tolerance=1e-9):
    assert found.success.all(), found.message
    lower, upper = arm.position_limits
    assert ((found.q >= lower - 1e-9) & (found.q <= upper + 1e-9)).all()
    # Entries of a pose differ by at most the distance and the angle.
    assert np.abs(armdyn.forward_kinematics(arm, found.q) - poses).max() <= tolerance
    assert found.residual.max() <= tolerance


# -- numeric ------------------------------------------------------------------------------------------------


def test_random_reachable_poses_of_the_panda_are_solved(panda, configurations):
    poses = armdyn.forward_kinematics(panda, configurations(panda, 1000, seed=5))
    found = armdyn.inverse_kinematics(panda, poses)
    assert_reached(panda, found, poses)
    assert found.method == "numeric"
    assert found.all_solutions.shape == (1000, 1, 7)


@pytest.mark.slow
def test_ten_thousand_poses_of_the_panda(panda, configurations):
    poses = armdyn.forward_kinematics(panda, configurations(panda, 10_000, seed=6))
    found = armdyn.inverse_kinematics(panda, poses)
    assert found.success.mean() >= 0.995
    assert np.abs(armdyn.forward_kinematics(panda, found.q) - poses)[found.success].max() < 1e-9


@pytest.mark.parametrize(
    "kinds", ["R", "PP", "RPR", "RRPRR", "RRRRRR", pytest.param("RPRRRRRR", marks=pytest.mark.slow)]
)
@pytest.mark.by_day(2)
def test_arms_of_any_kind_are_solved(random_arm, configurations, kinds):
    arm = random_arm(kinds, seed=1)
    poses = armdyn.forward_kinematics(arm, configurations(arm, 20))
    found = armdyn.inverse_kinematics(arm, poses, method="numeric")
    assert_reached(arm, found, poses)


def test_positions_alone(panda, random_arm, configurations):
    for arm in (panda, random_arm("RRR", seed=3)):
        poses = armdyn.forward_kinematics(arm, configurations(arm, 50))
        turned = poses.copy()
        turned[:, :3, :3] = np.eye(3)
        found = armdyn.inverse_kinematics(arm, turned, task="position")
        assert found.success.all()
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, found.q)[:, :3, 3], poses[:, :3, 3], atol=1e-9)


def test_equal_calls_give_equal_results_and_seeds_differ(panda, configurations):
    poses = armdyn.forward_kinematics(panda, configurations(panda, 20, seed=2))
    first, again, other = (armdyn.inverse_kinematics(panda, poses, seed=s).q for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_iteration_starts_at_q0(panda, configurations):
    q = configurations(panda, 100, seed=3) * 0.9
    found = armdyn.inverse_kinematics(panda, armdyn.forward_kinematics(panda, q), q + 0.01, restarts=0)
    assert found.success.all()
    # A redundant arm need not come back to q itself, but not far from where it started.
    assert np.abs(found.q - q).max() < 0.2


def test_half_a_turn_away_is_not_solved():
    """Where the orientation error has no direction it must not pass for zero."""
    arm = armdyn.arms.planar2()
    pose = armdyn.forward_kinematics(arm, [0.3, 0.8])
    pose[:3, :2] *= -1  # half a turn about z
    found = armdyn.inverse_kinematics(arm, pose, [0.3, 0.8], restarts=0)
    assert not found.success
    assert found.error[1] > 0.1


# -- freedom that a pose leaves ---------------------------------------------------------------------------------


def test_a_posture_is_approached_without_moving_the_tip(panda, configurations):
    q = configurations(panda, 50, seed=4)
    poses = armdyn.forward_kinematics(panda, q)
    posture = np.array([0.0, 0.3, 0.0, -1.8, 0.0, 2.0, 0.8])
    plain = armdyn.inverse_kinematics(panda, poses, q)
    found = armdyn.inverse_kinematics(panda, poses, q, objective=posture)
    assert_reached(panda, found, poses)
    before, after = (np.linalg.norm(x.q - posture, axis=1) for x in (plain, found))
    assert (after <= before + 1e-9).all()
    # Where no limit holds it back, what is left of the way cannot be made by self-motion.
    free = ~found.at_limit.any(-1)
    for x in found.q[free]:
        N = np.linalg.svd(armdyn.jacobian(panda, x))[2][6:]
        # Steps end at 1e-7 or after 200, which near a fold of the self-motion is earlier.
        assert np.abs(N @ (posture - x)).max() < 1e-3


def test_a_function_may_say_where_to_go(panda):
    """Uphill in manipulability, by differences."""
    q = np.array([0.1, 0.6, 0.2, -0.6, 0.3, 1.2, 0.4])

    def uphill(x):
        up = np.stack([armdyn.manipulability(panda, x + e) for e in 1e-5 * np.eye(7)], -1)
        return 100 * (up - armdyn.manipulability(panda, x)[:, None]) / 1e-5

    found = armdyn.inverse_kinematics(panda, armdyn.forward_kinematics(panda, q), q, objective=uphill)
    assert found.success
    assert armdyn.manipulability(panda, found.q) > 1.02 * armdyn.manipulability(panda, q)
    # Near the top of the self-motion little is left to climb.
    left = [abs(np.linalg.svd(armdyn.jacobian(panda, x))[2][6] @ uphill(x[None])[0]) for x in (q, found.q)]
    assert left[1] < 0.05 * left[0]
    with raises(ShapeError, expected="objective(q) to return finite numbers of shape (1, 7)", got="shape (1, 3)"):
        armdyn.inverse_kinematics(panda, armdyn.forward_kinematics(panda, q), q, objective=lambda x: x[:, :3])


# -- shapes ---------------------------------------------------------------------------------------------------


def test_one_pose_gives_plain_values_and_batches_keep_their_shape(puma):
    q = np.array([0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
    pose = armdyn.forward_kinematics(puma, q)
    one = armdyn.inverse_kinematics(puma, pose, q)
    assert one.q.shape == (6,)
    assert bool(one.success) is True
    assert one.reason == ""
    assert one.all_solutions.shape == (8, 6)
    assert one.iterations == 0
    assert str(one).startswith("elbow arm with a spherical wrist: solved to")
    other = one.all_solutions[one.within_limits][-1]
    many = armdyn.inverse_kinematics(puma, np.broadcast_to(pose, (2, 3, 4, 4)), np.stack([q, q, other]))
    assert many.q.shape == (2, 3, 6)
    assert many.all_solutions.shape == (2, 3, 8, 6)
    assert many.within_limits.shape == (2, 3, 8)
    np.testing.assert_allclose(many.q[1, 0], q, atol=1e-9)
    np.testing.assert_allclose(many.q[1, 2], other, atol=1e-9)
    assert many.message == "6 of 6 poses solved"


def test_solutions_are_flagged_and_the_nearest_within_limits_is_taken(puma, configurations):
    q = configurations(puma, 200)
    found = armdyn.inverse_kinematics(puma, armdyn.forward_kinematics(puma, q))
    lower, upper = puma.position_limits
    inside = ((found.all_solutions >= lower - 1e-9) & (found.all_solutions <= upper + 1e-9)).all(-1)
    np.testing.assert_array_equal(found.within_limits, inside)
    middle = (lower + upper) / 2
    far = ((found.all_solutions - middle) ** 2).sum(-1)
    best = np.where(inside, far, np.inf).argmin(-1)
    np.testing.assert_array_equal(found.q, found.all_solutions[np.arange(200), best])


def test_angles_are_turned_near_q0_and_into_the_limits():
    arm = armdyn.arms.ur10()  # may turn twice around
    q = np.array([4.0, -1.0, 1.2, -5.0, 1.0, 6.0])
    found = armdyn.inverse_kinematics(arm, armdyn.forward_kinematics(arm, q), q)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    found = armdyn.inverse_kinematics(arm, armdyn.forward_kinematics(arm, q))
    assert np.abs(found.q).max() <= np.pi


def test_joints_without_limits_are_not_wound_up(random_arm, configurations):
    arm = random_arm("RRRRRR", seed=8)
    q = configurations(arm, 50)
    poses = armdyn.forward_kinematics(arm, q)
    assert np.abs(armdyn.inverse_kinematics(arm, poses).q).max() <= np.pi
    turned = q + 8 * np.pi
    assert np.abs(armdyn.inverse_kinematics(arm, poses, turned).q - turned).max() <= np.pi


def test_no_poses_give_no_solutions(puma, panda):
    for arm in (puma, panda):
        found = armdyn.inverse_kinematics(arm, np.zeros((0, 4, 4)))
        assert found.q.shape == (0, arm.n)
        assert found.success.shape == (0,)


# -- failures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "numeric"])
def test_out_of_reach_tells_by_how_much(puma, method):
    pose = armdyn.forward_kinematics(puma, np.zeros(6))
    pose[:3, 3] = (2.0, 0.0, 0.0)
    found = armdyn.inverse_kinematics(puma, pose, method=method)
    assert not found.success
    assert found.reason == "reach"
    # No configuration comes nearer, and one comes as near.
    tips = armdyn.forward_kinematics(puma, np.random.default_rng(0).uniform(*puma.position_limits, (200_000, 6)))
    nearest = np.linalg.norm(tips[:, :3, 3] - pose[:3, 3], axis=1).min()
    assert nearest - 0.02 < found.shortfall[0] <= nearest
    assert "out of reach by 1." in found.message


def test_an_orientation_out_of_reach_is_told_in_radians():
    arm = armdyn.arms.scara()
    pose = armdyn.forward_kinematics(arm, [0.3, 0.8, 0.5 * sum(arm.position_limits)[2], 0.2])
    c, s = np.cos(0.1), np.sin(0.1)
    pose[:3, :3] = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ pose[:3, :3]
    found = armdyn.inverse_kinematics(arm, pose)
    assert found.reason == "reach"
    assert found.shortfall[0] == 0
    assert 0.05 < found.shortfall[1] < 0.15
    assert "rad" in found.message


@pytest.mark.parametrize("method", ["auto", "numeric"])
def test_joint_limits_are_named(puma, method):
    tight = [armdyn.Joint(j.name, j.kind, j.axis, j.before, j.after, armdyn.Limits(-0.2, 0.2)) for j in puma.joints]
    arm = puma.with_joints(tight)
    pose = armdyn.forward_kinematics(arm, [0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
    found = armdyn.inverse_kinematics(arm, pose, method=method)
    assert found.reason == "limit"
    assert found.at_limit.any()
    assert "joint limits: joint" in found.message
    assert (np.abs(found.q) <= 0.2).all()


def test_a_singular_start_without_restarts_is_named():
    arm = armdyn.arms.planar2()
    pose = armdyn.forward_kinematics(arm, [0.0, 0.0])
    pose[0, 3] *= 0.7  # straight back along the stretched arm
    stuck = armdyn.inverse_kinematics(arm, pose, [0.0, 0.0], task="position", restarts=0)
    assert stuck.reason == "singular"
    assert "singular" in stuck.message
    assert armdyn.inverse_kinematics(arm, pose, [0.0, 0.0], task="position").success


def test_too_few_iterations_are_named(panda):
    pose = armdyn.forward_kinematics(panda, [0.1, 0.6, 0.2, -0.6, 0.3, 1.2, 0.4])
    found = armdyn.inverse_kinematics(panda, pose, [1.0, 0.5, -1.0, -2.0, 1.0, 2.0, 0.0], iterations=2, restarts=0)
    assert found.reason == "iterations"
    assert found.iterations == 2


def test_failures_in_a_batch_are_counted(puma):
    poses = np.stack([armdyn.forward_kinematics(puma, np.zeros(6))] * 3)
    poses[1, :3, 3] = (5.0, 0.0, 0.0)
    found = armdyn.inverse_kinematics(puma, poses)
    assert found.success.tolist() == [True, False, True]
    assert found.message == "2 of 3 poses solved; 1 out of reach"


@pytest.mark.parametrize("factor", [1e-3, pytest.param(100.0, marks=pytest.mark.slow)])
def test_tiny_and_huge_arms_are_solved_like_others(scaled, puma, configurations, factor):
    arm = scaled(puma, factor)
    poses = armdyn.forward_kinematics(arm, configurations(arm, 300))
    assert armdyn.inverse_kinematics(arm, poses, method="numeric").success.all()
    far = np.stack([np.eye(4)] * 2)
    far[:, :3, 3] = [[3.0, 2.0, 1.0], [0.3, 0.2, 4.0]]
    expected = armdyn.inverse_kinematics(puma, far, method="numeric")
    far[:, :3, 3] *= factor
    found = armdyn.inverse_kinematics(arm, far, method="numeric")
    assert list(found.reason) == ["reach"] * 2
    np.testing.assert_allclose(found.shortfall / factor, expected.shortfall, rtol=1e-5)  # joints settle to 1e-6 rad


# -- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pose", "parts"),
    [
        (np.eye(3), {"expected": "shape (..., 4, 4)", "got": "(3, 3)"}),
        (np.full((4, 4), np.nan), {"got": "NaN or infinity"}),
        (
            np.stack([np.eye(4), 2 * np.eye(4)]),
            {
                "expected": "a rigid transform",
                "got": (
                    "a rotation that is not orthogonal with determinant 1, or a last row other "
                    "than 0 0 0 1 at index (1,)"
                ),
            },
        ),
        (
            np.diag([1.0, 1, -1, 1]),
            {"got": ("a rotation that is not orthogonal with determinant 1, or a last row other than 0 0 0 1")},
        ),
        (
            np.eye(4) + np.eye(4)[3][:, None] * 0.1,
            {"got": ("a rotation that is not orthogonal with determinant 1, or a last row other than 0 0 0 1")},
        ),
        ("upright", {"expected": "matrices of numbers"}),
        (np.eye(4) + 0j, {"expected": "matrices of numbers"}),
        (np.eye(4) + 1e300 * np.eye(4, k=3), {"expected": re.compile(r"^positions within 1e.1\d m")}),
    ],
)
def test_poses_that_are_none_are_rejected(puma, pose, parts):
    with raises(ShapeError, **parts):
        armdyn.inverse_kinematics(puma, pose)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"q0": np.zeros(5)}, {"where": "inverse_kinematics: q0", "expected": "shape (..., 6)", "got": "(5,)"}),
        ({"q0": [np.nan] * 6}, {"where": "inverse_kinematics: q0", "expected": "finite numbers"}),
        ({"q0": np.zeros((3, 6))}, {"cause": "leading axes do not broadcast: pose (2,), q0 (3,)"}),
        (
            {"task": "posture"},
            {
                "cause": "unknown task 'posture'",
                "expected": "one of pose, position, position+x, position+y, position+z",
                "names": ("posture",),
            },
        ),
        (
            {"method": "magic"},
            {"cause": "unknown method 'magic'", "expected": "one of auto, closed, numeric", "names": ("magic",)},
        ),
        ({"objective": np.zeros(4)}, {"where": "inverse_kinematics: objective"}),
        ({"iterations": 0}, {"expected": "iterations as an integer >= 1", "got": "0"}),
        ({"restarts": -1}, {"expected": "restarts as an integer >= 0"}),
        ({"seed": 0.5}, {"expected": "seed as an integer >= 0"}),
        ({"tolerance": 0.0}, {"expected": "tolerance as a finite number > 0"}),
        ({"tolerance": "fine"}, {"expected": "tolerance as a finite number > 0"}),
    ],
)
def test_wrong_arguments_are_rejected(puma, options, parts):
    with raises(ShapeError, **parts):
        armdyn.inverse_kinematics(puma, np.stack([np.eye(4)] * 2), **options)


def test_a_position_has_no_closed_form_on_a_six_joint_arm(puma):
    with raises(ModelError, cause="arm 'puma560' has no closed form for task 'position'", names=("position",)):
        armdyn.inverse_kinematics(puma, np.eye(4), task="position", method="closed")


def test_rotations_written_with_few_digits_are_repaired(puma):
    pose = armdyn.forward_kinematics(puma, [0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
    found = armdyn.inverse_kinematics(puma, np.round(pose, 7))
    assert found.success
    np.testing.assert_allclose(armdyn.forward_kinematics(puma, found.q), pose, atol=2e-7)


def five_joints() -> armdyn.Arm:
    rows = [
        {"d": 0.3, "alpha": np.pi / 2},
        {"a": 0.4},
        {"a": 0.35},
        {"alpha": np.pi / 2, "theta": np.pi / 2},
        {"d": 0.15},
    ]
    return armdyn.Arm.from_dh([{"kind": "R", **row} for row in rows], name="five")


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_position_and_the_direction_of_one_axis(name, axis):
    arm, rng, k = getattr(armdyn.arms, name)(), np.random.default_rng(5), "xyz".index(axis)
    poses = armdyn.forward_kinematics(arm, rng.uniform(*arm.position_limits, (30, arm.n)))
    found = armdyn.inverse_kinematics(arm, poses, task=f"position+{axis}")
    tips = armdyn.forward_kinematics(arm, found.q)
    assert found.success.all()
    np.testing.assert_allclose(tips[:, :3, 3], poses[:, :3, 3], atol=1e-9)
    np.testing.assert_allclose(tips[:, :3, k], poses[:, :3, k], atol=1e-9)


def test_five_joints_direct_an_axis_and_not_a_pose():
    arm, rng = five_joints(), np.random.default_rng(6)
    pose = armdyn.forward_kinematics(arm, rng.uniform(-1, 1, 5))
    other = pose.copy()
    other[:3, :3] = pose[:3, :3] @ armdyn.spatial.rotation.rotation_z(0.5)  # turned about its own z-axis
    assert armdyn.inverse_kinematics(arm, other, task="position+z").success
    tilted = pose.copy()
    tilted[:3, :3] = pose[:3, :3] @ armdyn.spatial.rotation.rotation_x(0.4) @ armdyn.spatial.rotation.rotation_y(0.7)
    found = armdyn.inverse_kinematics(arm, tilted)
    assert not found.success
    # Half a turn off is an error of half a turn, though the axis error has no direction there.
    error = armdyn.kinematics.damped_step.tip_error(arm, np.zeros(5), _turned_zero(arm), task="position+z")
    np.testing.assert_allclose(error, [0.0, np.pi], atol=1e-7)


def _turned_zero(arm):
    pose = armdyn.forward_kinematics(arm, np.zeros(5))
    pose[:3, :3] = pose[:3, :3] @ armdyn.spatial.rotation.rotation_x(np.pi)
    return pose
