"""The arm in three dimensions: its bodies, frames, centres of mass and inertia ellipsoids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.model.arm import Arm
from armdyn.studio.drawing.ellipsoids import ellipsoids
from armdyn.studio.drawing.shapes import Shape, arm_room, capsule_shapes, pose_along
from armdyn.studio.drawing.urdf_shapes import MeshShape
from armdyn.studio.state import ArmState, Moment
from armdyn.studio.tip import handle_pose

if TYPE_CHECKING:
    from viser import SceneApi, ViserServer

ELLIPSOID, CENTRE = (120, 80, 190), (232, 130, 30)
VIEW = np.array([-1.1, -1.45, 0.75])  # from where the camera looks, over the arm's extent
CAPSULE_OPACITY = 0.3
GHOSTLY = 0.35  # opacity of the arm while ellipsoids are shown inside it


class ArmScene:
    """The nodes of an arm; they follow its state."""

    def __init__(self, server: ViserServer, state: ArmState, shapes: Sequence[Shape | MeshShape]) -> None:
        self.scene: SceneApi = server.scene
        self.server, self.state = server, state
        self.room = arm_room(state.arm)
        self._ground()
        position, wxyz = handle_pose(state.arm.base_pose)
        size: dict[str, Any] = {"axes_length": 0.12 * self.room.extent, "axes_radius": 0.004 * self.room.extent}
        base = self.scene.add_frame("/arm/base", show_axes=False, position=position, wxyz=wxyz, **size)
        self.frames = [base, *(self._frame(i + 1, size) for i in range(state.arm.n))]
        self.tip = self.scene.add_frame("/arm/tip", **size)
        self.bodies = [self._body(k, shape) for k, shape in enumerate(shapes)]
        self.ellipsoids: list[Any] = []
        self.capsules: list[Any] = []
        self.centres: list[Any] = []
        self.show_inertia(state.arm)
        state.on_change(self.follow)

    def follow(self, moment: Moment) -> None:
        """Put every link where it is now."""
        poses = [*zip(self.frames[1:], self.state.links, strict=True), (self.tip, self.state.tip)]
        with self.server.atomic():
            for frame, T in poses:
                frame.position, frame.wxyz = handle_pose(T)

    def show_inertia(self, arm: Arm) -> None:
        """Draw centres of mass and ellipsoids of an arm's present parameters."""
        shown = bool(self.ellipsoids) and self.ellipsoids[0].visible, bool(self.centres) and self.centres[0].visible
        for node in (*self.ellipsoids, *self.centres):
            node.remove()
        self.ellipsoids, self.centres = [], []
        for body in ellipsoids(arm):
            place = f"/arm/link{body.link}"
            _, wxyz = handle_pose(np.block([[body.R, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]))
            pose: dict[str, Any] = {"position": body.com, "wxyz": wxyz, "cast_shadow": False}
            if body.radii.any():
                scale = (float(body.radii[0]), float(body.radii[1]), float(body.radii[2]))
                node = self.scene.add_icosphere(
                    f"{place}/ellipsoid", 1.0, ELLIPSOID, scale=scale, opacity=0.5, visible=shown[0], **pose
                )
                self.ellipsoids.append(node)
            radius = 0.014 * self.room.extent
            self.centres.append(self.scene.add_icosphere(f"{place}/com", radius, CENTRE, visible=shown[1], **pose))

    def set_frames(self, visible: bool) -> None:
        """Show the axes of every link."""
        for frame in self.frames:
            frame.show_axes = visible

    def set_ellipsoids(self, visible: bool) -> None:
        """Show the inertia ellipsoids."""
        _set_visible(self.ellipsoids, visible)
        self._see_through()

    def set_centres(self, visible: bool) -> None:
        """Show the centres of mass."""
        _set_visible(self.centres, visible)
        self._see_through()

    def set_capsules(self, visible: bool) -> None:
        """Show the bodies that are kept apart; they are made when somebody first looks."""
        if visible and not self.capsules:
            shapes = capsule_shapes(self.state.arm)
            first = len(self.bodies)
            self.capsules = [self._body(first + k, shape) for k, shape in enumerate(shapes)]
            for node in self.capsules:
                node.opacity, node.cast_shadow = CAPSULE_OPACITY, False
        _set_visible(self.capsules, visible)

    def _see_through(self) -> None:
        """Bodies would hide what is inside them."""
        inside = any(node.visible for node in (*self.ellipsoids, *self.centres))
        for body in self.bodies:
            body.opacity = GHOSTLY if inside else None

    def _frame(self, i: int, size: dict[str, Any]) -> Any:
        return self.scene.add_frame(f"/arm/link{i}", show_axes=False, **size)

    def _body(self, k: int, shape: Shape | MeshShape) -> Any:
        place = "/arm/base" if shape.link == 0 else f"/arm/link{shape.link}"
        name = f"{place}/body{k}"
        position, wxyz = handle_pose(shape.T)
        pose: dict[str, Any] = {"position": position, "wxyz": wxyz}
        if isinstance(shape, MeshShape):
            return self.scene.add_mesh_simple(name, shape.vertices, shape.faces, color=shape.color, **pose)
        if shape.kind == "box":
            return self.scene.add_box(name, shape.color, shape.size, **pose)  # type: ignore[arg-type]
        if shape.kind == "sphere":
            return self.scene.add_icosphere(name, shape.size[0], shape.color, **pose)
        radius, height = shape.size
        return self.scene.add_cylinder(name, radius, height, shape.color, **pose)

    def _ground(self) -> None:
        """The floor, and the camera where the whole arm is seen."""
        room = self.room
        r, floor = room.extent, room.centre - room.drop * room.up
        position, wxyz = handle_pose(pose_along(room.up, floor))
        cell = float(10 ** np.round(np.log10(r / 5)))
        self.scene.add_grid(
            "/floor", 8 * r, 8 * r, cell_size=cell, section_size=5 * cell, cell_color=(214, 219, 226),
            section_color=(182, 190, 202), fade_distance=8 * r, shadow_opacity=0.25, position=position, wxyz=wxyz,
        )  # fmt: skip
        self.scene.world_axes.visible = False
        self.scene.set_up_direction(tuple(room.up))
        camera, ahead = self.server.initial_camera, pose_along(room.up, floor)[:3, :3]
        camera.up = room.up
        # Between the base, about which the arm moves, and where it is now.
        shown = self.state.links[:, :3, 3]
        camera.look_at = (2 * room.centre + (shown.min(0) + shown.max(0)) / 2) / 3 + 0.1 * r * room.up
        camera.position = camera.look_at + r * (ahead @ VIEW)


def _set_visible(nodes: list[Any], visible: bool) -> None:
    for node in nodes:
        node.visible = visible
