"""From where the arm is seen: the whole of it, on wide screens and on phones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.shapes.obstacles import STEEPEST_FLOOR_COSINE
from armdyn.studio.drawing.shapes import Room, pose_along

VIEW_DIRECTION = np.array([-1.1, -1.45, 0.75])  # from where the camera looks, over the arm's extent
LOW_VIEW = -0.3  # height of the camera below a ceiling, over the extent
WALL_ANGLE_RAD = 0.7  # between a wall's normal and where the camera looks from
NARROW_ASPECT_RATIO = 0.8  # width over height below which a picture has to be taken from farther away


class View(NamedTuple):
    """A camera's pose."""

    position: NDArray  # (3,)
    look_at: NDArray  # (3,)
    up: NDArray  # (3,)

    def apply(self, camera: Any, up: str) -> None:
        """Move a camera; `up` is what it calls that direction."""
        setattr(camera, up, self.up)
        camera.look_at, camera.position = self.look_at, self.position


def first_view(room: Room, links: NDArray, aspect: float = 1.0) -> View:
    """A view of the whole arm with links (n, 4, 4) in a picture of some width over height."""
    r = room.extent
    # Between the base, about which the arm moves, and where it is now.
    origins = links[:, :3, 3]
    look_at = (2 * room.centre + (origins.min(0) + origins.max(0)) / 2) / 3 + 0.1 * r * room.up
    far = max(1.0, NARROW_ASPECT_RATIO / max(aspect, 0.1))
    return View(look_at + far * r * _direction(room), look_at, room.up)


def _direction(room: Room) -> NDArray:
    """Return where the camera stands: not above a ceiling, nor behind a wall, which would hide the arm."""
    direction = pose_along(room.up, room.centre)[:3, :3] @ VIEW_DIRECTION
    if room.mount is None:
        return np.asarray(direction)
    height = float(direction @ room.up)
    if room.mount @ room.up < -STEEPEST_FLOOR_COSINE:
        return np.asarray(direction + (LOW_VIEW - height) * room.up)
    ahead = room.mount - (room.mount @ room.up) * room.up
    ahead /= np.linalg.norm(ahead)
    level = np.linalg.norm(direction - height * room.up)
    side = np.cross(room.up, ahead)
    return np.asarray(height * room.up + level * (np.cos(WALL_ANGLE_RAD) * ahead + np.sin(WALL_ANGLE_RAD) * side))
