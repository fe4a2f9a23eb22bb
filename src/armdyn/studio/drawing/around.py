"""What stands around the arm: the floor, what the arm is mounted on, its pedestal, and obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.shapes.obstacles import Box, HalfSpace, Obstacle
from armdyn.spatial.transform import transform
from armdyn.studio.drawing.nodes import SEE_THROUGH, add_shape, remove
from armdyn.studio.drawing.shapes import PAINT, Room, Shape, arm_room, pedestal, pose_along
from armdyn.studio.state import StudioState
from armdyn.studio.tip import handle_pose

if TYPE_CHECKING:
    from viser import SceneApi

SLAB_WIDTH_RATIO, SLAB_THICKNESS_RATIO = 2.2, 0.03  # of a slab, over the arm's extent
SLAB_GAP_RATIO = 0.01  # of a slab below its plane, over the extent: or it would flicker with the grid


class Around:
    """The nodes of the surroundings; drawn anew when they change."""

    def __init__(self, scene: SceneApi) -> None:
        self._scene = scene
        self.table: list[Any] = []  # what the arm is mounted on, where that is known
        self.obstacles: list[Any] = []
        self._rest: list[Any] = []
        self._drawn: tuple[Any, ...] = ()

    def follow(self, state: StudioState) -> None:
        """Draw what is new."""
        if self._drawn == (state.floor, state.obstacles):
            return
        self._drawn = (state.floor, state.obstacles)
        for nodes in (self.table, self.obstacles, self._rest):
            remove(nodes)
        arm = state.described if state.floor is None else state.described.with_floor(state.floor)
        room = arm_room(arm)
        self._rest += [self._grid(room)]
        self._rest += [add_shape(self._scene, f"/arm/base/stand{k}", body) for k, body in enumerate(pedestal(arm))]
        if state.plane is not None:
            body = slab(state.plane, room)._replace(color=PAINT["table"])
            self.table.append(add_shape(self._scene, "/table", body, opacity=0.8))
        for k, obstacle in enumerate(state.obstacles):
            self.obstacles += self._obstacle(f"/obstacles/{k}", obstacle, room)

    def _obstacle(self, name: str, obstacle: Obstacle, room: Room) -> list[Any]:
        body = obstacle_shape(obstacle, room)
        node = add_shape(self._scene, name, body, opacity=SEE_THROUGH, cast_shadow=False)
        return [node, self._scene.add_label(f"{name} label", obstacle.name, position=body.T[:3, 3])]

    def _grid(self, room: Room) -> Any:
        r = room.extent
        position, wxyz = handle_pose(pose_along(room.up, room.centre - room.drop * room.up))
        cell = float(10 ** np.round(np.log10(r / 5)))
        return self._scene.add_grid(
            "/floor", 8 * r, 8 * r, cell_size=cell, section_size=5 * cell, cell_color=(214, 219, 226),
            section_color=(182, 190, 202), fade_distance=8 * r, shadow_opacity=0.25, position=position, wxyz=wxyz,
        )  # fmt: skip


def obstacle_shape(obstacle: Obstacle, room: Room) -> Shape:
    """An obstacle as a body in base axes; of a half-space a slab beneath its surface."""
    if isinstance(obstacle, HalfSpace):
        return slab(obstacle, room)
    if isinstance(obstacle, Box):
        x, y, z = (float(edge) for edge in obstacle.size)
        return Shape("box", 0, obstacle.T, (x, y, z), PAINT["obstacle"])
    return Shape("sphere", 0, transform(None, obstacle.center), (obstacle.radius,), PAINT["obstacle"])


def slab(plane: HalfSpace, room: Room) -> Shape:
    """A board whose upper side is the plane, where that is nearest to the arm's base."""
    r = room.extent
    height = float(plane.distance(room.centre)[0])
    centre = room.centre - (height + (SLAB_THICKNESS_RATIO / 2 + SLAB_GAP_RATIO) * r) * plane.normal
    size = (SLAB_WIDTH_RATIO * r, SLAB_WIDTH_RATIO * r, SLAB_THICKNESS_RATIO * r)
    return Shape("box", 0, pose_along(plane.normal, centre), size, PAINT["obstacle"])
