"""Springs between points of two links, as coils that grow and shrink with the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.studio.drawing.shapes import PAINT, pose_along
from armdyn.studio.tip import handle_pose

if TYPE_CHECKING:
    from viser import SceneApi

    from armdyn.studio.state import StudioState

TURNS, POINTS_PER_TURN, CORNERS = 9, 16, 6  # of a coil, and of the section of its wire
RADIUS_RATIO = 0.025  # over the arm's extent
WIRE_RATIO = 0.2  # radius of the wire over the coil's


def spring_ends(arm: Arm, links: NDArray) -> NDArray:
    """Both ends (n, 2, 3) of every spring, in world axes, from the poses (N, 4, 4) of the links."""
    poses = {arm.base_name: arm.base_pose, **dict(zip(arm.link_names, links, strict=True))}
    ends = [
        [(poses[link] @ [*point, 1.0])[:3] for link, point in zip(spring.links, spring.points, strict=True)]
        for spring in arm.springs
    ]
    return np.array(ends).reshape(-1, 2, 3)


def coil() -> tuple[NDArray, NDArray]:
    """Vertices (V, 3) and triangles (F, 3) of a coil of radius 1 about z, from 0 to 1."""
    count = TURNS * POINTS_PER_TURN
    along = np.linspace(0.0, 1.0, count + 1)[:, None]
    turn, corner = 2 * np.pi * TURNS * along, np.linspace(0.0, 2 * np.pi, CORNERS, endpoint=False)
    out = 1 + WIRE_RATIO * np.cos(corner)
    up = along + np.sin(corner) / (4 * TURNS)
    vertices = np.stack([out * np.cos(turn), out * np.sin(turn), up], -1).reshape(-1, 3)
    at = np.arange(count)[:, None] * CORNERS
    a, b = at + np.arange(CORNERS), at + (np.arange(CORNERS) + 1) % CORNERS
    quads = np.stack([a, a + CORNERS, b + CORNERS, b], -1).reshape(-1, 4)
    return vertices, np.concatenate([quads[:, [0, 2, 1]], quads[:, [0, 3, 2]]])


class SpringCoils:
    """The coils of an arm in one tab."""

    def __init__(self, scene: SceneApi, arm: Arm, extent: float) -> None:
        vertices, faces = coil()
        self._radius = RADIUS_RATIO * extent
        self.nodes: list[Any] = [
            scene.add_mesh_simple(f"/arm/spring{k}", vertices, faces, color=PAINT["spring"])
            for k in range(len(arm.springs))
        ]

    def follow(self, state: StudioState) -> None:
        """Reach from one end of each spring to the other."""
        if not self.nodes:
            return
        for node, (start, end) in zip(self.nodes, spring_ends(state.arm, state.links), strict=True):
            length = float(np.linalg.norm(end - start))
            node.visible = length > 0
            if node.visible:
                node.position, node.wxyz = handle_pose(pose_along(end - start, start))
                node.scale = (self._radius, self._radius, length)
