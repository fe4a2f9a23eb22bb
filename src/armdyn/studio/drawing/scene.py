"""The arm in three dimensions: its bodies, frames, load, centres of mass, inertia ellipsoids and capsules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.model.arm import Arm
from armdyn.spatial.transform import transform
from armdyn.studio.drawing.around import Around
from armdyn.studio.drawing.camera import first_view
from armdyn.studio.drawing.ellipsoids import ellipsoids
from armdyn.studio.drawing.nodes import SEE_THROUGH, add_shape, remove, set_visible
from armdyn.studio.drawing.shapes import PAINT, capsule_shapes
from armdyn.studio.drawing.springs import SpringCoils
from armdyn.studio.drawing.subject import DrawnArm
from armdyn.studio.state import ArmState, StudioState
from armdyn.studio.tip import handle_pose

if TYPE_CHECKING:
    from viser import ClientHandle, SceneApi

LOAD_DENSITY = 7800.0  # of the load as it is drawn: steel [kg/m³]
MAX_ELLIPSOID_RATIO = 0.4  # radius of an ellipsoid over the arm's extent: that of a link without mass has no end


class ArmScene:
    """The nodes of an arm in one tab; they follow its state."""

    def __init__(self, client: ClientHandle, state: ArmState, subject: DrawnArm) -> None:
        self.scene: SceneApi = client.scene
        self.client, self.subject, self.room = client, subject, subject.room
        self.scene.set_up_direction(tuple(self.room.up))
        self._links = state.now.links  # where the camera looks at first
        self._aspect = 0.0
        self._look()
        position, wxyz = handle_pose(state.arm.base_pose)
        size: dict[str, Any] = {"axes_length": 0.12 * self.room.extent, "axes_radius": 0.004 * self.room.extent}
        base = self.scene.add_frame("/arm/base", show_axes=False, position=position, wxyz=wxyz, **size)
        self.frames = [base, *(self._frame(i + 1, size) for i in range(state.arm.n_joints))]
        self.tip = self.scene.add_frame("/arm/tip", **size)
        self.bodies = [self._body(f"body{k}", shape) for k, shape in enumerate(subject.shapes)]
        self.load: list[Any] = []
        self.ellipsoids: list[Any] = []
        self.centres: list[Any] = []
        self.before: list[Any] = []  # ellipsoids and centres of mass as they were described
        self.capsules: list[Any] = []
        self.around = Around(self.scene)
        self.springs = SpringCoils(self.scene, state.arm, self.room.extent)
        self._shown = {"ellipsoids": False, "centres": False, "before": True}
        self._drawn: tuple[Any, ...] = (None, None)
        state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Put every link where it is now, and draw what has become another."""
        poses = [*zip(self.frames[1:], state.links, strict=True), (self.tip, state.tip)]
        with self.client.atomic():
            for frame, T in poses:
                frame.position, frame.wxyz = handle_pose(T)
            self.around.follow(state)
            self.springs.follow(state)
            arm, payload = self._drawn
            if arm is not state.arm:
                self._draw_inertia(state)
            if payload != state.payload:
                self._draw_load(state.payload)
            self._drawn = (state.arm, state.payload)

    def fit(self) -> None:
        """See all of the arm in a picture of another shape, unless somebody turned the camera or moved it aside."""
        camera, view = self.client.camera, first_view(self.room, self._links)
        # Browsers say which way the camera looks, from where, but put `look_at` anywhere along that.
        ways = np.array([x - camera.position for x in (camera.look_at, view.look_at)] + [view.look_at - view.position])
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        if np.allclose(ways, ways[0], atol=1e-2):
            self._look()

    def _look(self) -> None:
        aspect = self.client.camera.image_width / max(self.client.camera.image_height, 1)
        if aspect != self._aspect:
            self._aspect = aspect
            first_view(self.room, self._links, aspect).apply(self.client.camera, "up_direction")

    def set_frames(self, visible: bool) -> None:
        """Show the axes of every link."""
        for frame in self.frames:
            frame.show_axes = visible

    def set_shown(self, what: str, visible: bool) -> None:
        """Show "ellipsoids" or "centres", of the identified arm with those of the described one if "before"."""
        self._shown[what] = visible
        self._show_inertia()

    def set_capsules(self, visible: bool) -> None:
        """Show the bodies that are kept apart; they are made when somebody first looks."""
        if visible and not self.capsules:
            look: dict[str, Any] = {"opacity": SEE_THROUGH, "cast_shadow": False}
            shapes = capsule_shapes(self.subject.bodies)
            self.capsules = [self._body(f"capsule{k}", shape, **look) for k, shape in enumerate(shapes)]
        set_visible(self.capsules, visible)

    def _draw_inertia(self, state: StudioState) -> None:
        """Centres of mass and ellipsoids of the present parameters, and of those before."""
        for nodes in (self.ellipsoids, self.centres, self.before):
            remove(nodes)
        self._add_inertia(state.arm, "", PAINT["ellipsoid"], PAINT["centre"], self.ellipsoids, self.centres)
        if state.arm is not state.described:
            self._add_inertia(
                state.described, " before", PAINT["described"], PAINT["described"], self.before, self.before
            )
        self._show_inertia()

    def _add_inertia(self, arm: Arm, suffix: str, paint: Any, dot: Any, solids: list[Any], centres: list[Any]) -> None:
        for body in ellipsoids(arm):
            place = f"/arm/link{body.link}"
            _, wxyz = handle_pose(transform(body.R, np.zeros(3)))
            pose: dict[str, Any] = {"position": body.com, "wxyz": wxyz, "cast_shadow": False}
            if body.radii.any():
                x, y, z = (min(float(radius), MAX_ELLIPSOID_RATIO * self.room.extent) for radius in body.radii)
                name = f"{place}/ellipsoid{suffix}"
                solids.append(self.scene.add_icosphere(name, 1.0, paint, scale=(x, y, z), opacity=0.5, **pose))
            centres.append(self.scene.add_icosphere(f"{place}/com{suffix}", 0.014 * self.room.extent, dot, **pose))

    def _show_inertia(self) -> None:
        visible = self._shown
        set_visible(self.ellipsoids, visible["ellipsoids"])
        set_visible(self.centres, visible["centres"])
        for node in self.before:
            node.visible = visible["before"] and visible["centres" if "/com" in node.name else "ellipsoids"]
        # Bodies would hide what is inside them.
        inside = visible["ellipsoids"] or visible["centres"]
        for body in self.bodies:
            body.opacity = SEE_THROUGH if inside else None

    def _draw_load(self, payload: float) -> None:
        """A ball of steel at the tip."""
        remove(self.load)
        if payload > 0:
            radius = float(np.cbrt(3 * payload / (4 * np.pi * LOAD_DENSITY)))
            self.load.append(self.scene.add_icosphere("/arm/tip/load", radius, PAINT["load"]))

    def _frame(self, i: int, size: dict[str, Any]) -> Any:
        return self.scene.add_frame(f"/arm/link{i}", show_axes=False, **size)

    def _body(self, name: str, shape: Any, **look: Any) -> Any:
        place = "/arm/base" if shape.link == 0 else f"/arm/link{shape.link}"
        return add_shape(self.scene, f"{place}/{name}", shape, **look)
