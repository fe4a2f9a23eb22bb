"""Bodies drawn from the arm's frames hang together in every posture."""

import numpy as np
import pytest

from armdyn import arms
from armdyn.shapes.bodies import bodies_of
from armdyn.studio.drawing.shapes import arm_room, arm_shapes, capsule_shapes, pedestal, pose_along
from armdyn.studio.drawing.subject import DrawnArm
from armdyn.studio.state import slider_range


def ends(shape):
    """The two ends of a cylinder's or box's axis, in the link's frame."""
    half = shape.size[-1] / 2 * shape.T[:3, 2]
    return shape.T[:3, 3] - half, shape.T[:3, 3] + half


def world(T, p):
    return T[:3, :3] @ p + T[:3, 3]


@pytest.mark.parametrize("kinds", ["RRR", "RPR", "PRP"])
def test_the_links_hang_together(random_arm, chain_poses, kinds):
    arm = random_arm(kinds, seed=1)
    shapes, rng = arm_shapes(arm), np.random.default_rng(2)
    for q in rng.uniform(-0.3, 0.3, (4, arm.n)):
        poses, tip = chain_poses(arm, q)
        frames = [arm.base_pose, *poses]
        # Where a link ends, the next joint begins: the last tube of a link ends in its last ball.
        lasts = [[s for s in shapes if s.link == i and s.kind == "sphere"][-1] for i in range(arm.n + 1)]
        tail = [world(T, s.T[:3, 3]) for T, s in zip(frames, lasts, strict=True)]
        for i, joint in enumerate(arm.joints):
            origin = world(frames[i], joint.before[:3, 3])
            np.testing.assert_allclose(tail[i], origin, atol=1e-12)
            housing = next(s for s in shapes if s.link == i + 1)
            here = np.linalg.inv(frames[i + 1]) @ np.append(origin, 1.0)
            if joint.kind == "revolute":
                np.testing.assert_allclose(housing.T[:3, 3], here[:3], atol=1e-12)
            else:  # the joint is somewhere on the rail
                along = housing.T[:3, :3].T @ (here[:3] - housing.T[:3, 3])
                np.testing.assert_allclose(along[:2], 0.0, atol=1e-12)
                assert abs(along[2]) <= housing.size[2] / 2
        np.testing.assert_allclose(tail[-1], tip[:3, 3], atol=1e-12)


def test_tubes_join_the_joint_to_the_balls(random_arm):
    arm = random_arm("RRR", seed=5)
    for i, joint in enumerate(arm.joints):
        mine = [s for s in arm_shapes(arm) if s.link == i + 1]
        tubes, balls = [s for s in mine[1:] if s.kind == "cylinder"], [s for s in mine if s.kind == "sphere"]
        start = np.linalg.inv(joint.after)[:3, 3]
        for tube, ball in zip(tubes, balls, strict=True):
            np.testing.assert_allclose(ends(tube)[0], start, atol=1e-12)
            np.testing.assert_allclose(ends(tube)[1], ball.T[:3, 3], atol=1e-12)
            start = ball.T[:3, 3]


def test_every_library_arm_can_be_drawn():
    for name in arms.__all__:
        arm = getattr(arms, name)()
        shapes = [*DrawnArm(arm).shapes, *pedestal(arm)]
        assert {s.link for s in shapes} == set(range(arm.n_joints + 1)), name
        assert all(np.isfinite(s.T).all() and min(s.size) > 0 for s in shapes), name


def test_no_link_leaves_the_room(random_arm, chain_poses):
    arm = random_arm("RPR", seed=4)
    room = arm_room(arm)
    rng = np.random.default_rng(7)
    # Random postures may miss the very farthest one by a little.
    for q in rng.uniform(*slider_range(arm), (50, arm.n)):
        poses, tip = chain_poses(arm, q)
        far = np.linalg.norm(np.array([*poses, tip])[:, :3, 3] - room.centre, axis=1)
        assert far.max() < 1.1 * room.extent
    np.testing.assert_allclose(room.up, -arm.gravity / np.linalg.norm(arm.gravity))


def test_an_arm_that_begins_at_its_shoulder_stands_on_a_pedestal():
    assert arm_room(arms.puma560()).drop == 0.67183  # where the library says that the floor is
    assert arm_room(arms.ur10()).drop == 0


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (0.3, -0.5, 0.2)])
def test_a_pose_along_a_direction(direction):
    T = pose_along(np.array(direction, float), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-15)
    assert np.linalg.det(T[:3, :3]) == pytest.approx(1)
    np.testing.assert_allclose(T[:3, 2], np.array(direction) / np.linalg.norm(direction), atol=1e-15)


def test_capsules_are_drawn_as_they_are_checked():
    arm = arms.panda()
    capsules, drawn = bodies_of(arm).capsules, capsule_shapes(bodies_of(arm))
    tubes = [shape for shape in drawn if shape.kind == "cylinder"]
    assert [shape.link for shape in tubes] == [one.link for one in capsules]
    for shape, one in zip(tubes, capsules, strict=True):
        radius, length = shape.size
        assert radius == one.radius
        ends = [shape.T @ [0, 0, side * length / 2, 1] for side in (-1, 1)]
        np.testing.assert_allclose([end[:3] for end in ends], [one.a, one.b], atol=1e-12)
    assert sum(shape.kind == "sphere" for shape in drawn) == 2 * len(capsules)
