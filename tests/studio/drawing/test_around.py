"""Floor, table and obstacles as bodies."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn import arms
from armdyn.shapes.obstacles import Box, HalfSpace, Sphere, mounting_plane
from armdyn.spatial.transform import transform
from armdyn.studio.drawing.around import obstacle_shape, slab
from armdyn.studio.drawing.camera import first_view
from armdyn.studio.drawing.shapes import arm_room, arm_shapes, pedestal
from armdyn.studio.state import ArmState


def corners(shape):
    """Of a box, in base axes (8, 3)."""
    signs = np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1).T
    return signs * shape.size @ shape.T[:3, :3].T + shape.T[:3, 3]


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0.6, 0, 0.8)])
def test_a_half_space_is_a_board_just_beneath_its_surface(normal):
    room = arm_room(arms.ur10())
    plane = HalfSpace(np.array(normal, float), -0.3)
    heights = plane.distance(corners(slab(plane, room)))[0]
    assert -0.011 * room.extent < heights.max() <= 0
    assert heights.min() < 0


def test_boxes_and_spheres_are_drawn_where_they_are():
    room = arm_room(arms.ur10())
    box = Box(transform(None, [1.0, 2.0, 3.0]), np.array([0.2, 0.4, 0.6]))
    surface = box.distance(corners(obstacle_shape(box, room)))[0]
    np.testing.assert_allclose(surface, 0, atol=1e-12)
    ball = obstacle_shape(Sphere(np.array([0.1, 0.2, 0.3]), 0.4), room)
    assert ball.size == (0.4,)
    np.testing.assert_array_equal(ball.T[:3, 3], [0.1, 0.2, 0.3])


def test_an_arm_under_a_ceiling_has_no_pedestal():
    hung = arms.ur10().with_gravity([0, 0, 9.81])
    assert mounting_plane(hung).name == "ceiling"
    assert pedestal(hung) == []
    room = arm_room(hung)
    np.testing.assert_allclose(room.up, [0, 0, -1])
    assert room.drop > 0


# Ways from a file's world to where the arm is mounted: to a ceiling, a wall, a table, and none.
MOUNTS = {
    "ceiling": transform(np.diag([1.0, -1.0, -1.0]), (0.3, 0.2, 2.5)),
    "wall": transform(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), (0, 0, 1.0)),
    "table": transform(None, (0, 0.5, 0.8)),
    "floor": np.eye(4),
}


def mounted(mount):
    """A UR10 whose base is a world from which a fixed way leads to its mount."""
    arm, T = arms.ur10(), MOUNTS[mount]
    first = replace(arm.joints[0], before=T @ arm.joints[0].before)
    plane = (*T[:3, 2], T[:3, 2] @ T[:3, 3])
    return replace(arm, joints=(first, *arm.joints[1:]), mounting_plane=plane)


@pytest.mark.parametrize("mount", MOUNTS)
def test_the_way_from_the_world_to_the_mount_is_no_body(mount):
    arm, T = mounted(mount), MOUNTS[mount]
    room = arm_room(arm)
    np.testing.assert_allclose(room.centre, T[:3, 3], atol=1e-9)
    assert room.extent == pytest.approx(arm_room(arms.ur10()).extent)
    for shape in arm_shapes(arm):
        if shape.link == 0:
            assert np.linalg.norm(shape.T[:3, 3] - T[:3, 3]) < 0.2
    assert pedestal(arm) == []


@pytest.mark.parametrize("mount", MOUNTS)
def test_what_the_arm_is_mounted_on_does_not_hide_it(mount):
    arm = mounted(mount)
    room, plane = arm_room(arm), mounting_plane(arm)
    view = first_view(room, ArmState(arm).now.links)
    assert plane.distance(view.position)[0] > 0.2 * room.extent
    assert (view.position - room.centre) @ room.up > -0.8 * room.drop - 1e-9  # nor is it below the floor
    np.testing.assert_allclose(view.up, [0, 0, 1])


def test_a_floor_as_given_takes_the_place_of_the_arms_own(arm):
    state = ArmState(arms.ur10())
    assert state.now.plane.offset == 0
    state.change(floor=-0.4)
    assert state.now.plane.offset == pytest.approx(-0.4)


def test_narrow_pictures_are_taken_from_farther_away(arm):
    room, links = arm_room(arm), ArmState(arm).now.links
    wide, narrow = first_view(room, links, 1.6), first_view(room, links, 0.4)
    far = [np.linalg.norm(view.position - view.look_at) for view in (wide, narrow)]
    assert far[1] == pytest.approx(2 * far[0])
