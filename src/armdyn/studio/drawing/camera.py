"""From where the arm is seen: the whole of it, on wide screens and on phones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.studio.drawing.shapes import Room, pose_along

VIEW_DIRECTION = np.array([-1.1, -1.45, 0.75])  # from where the camera looks, over the arm's extent
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
    r, ahead = room.extent, pose_along(room.up, room.centre)[:3, :3]
    # Between the base, about which the arm moves, and where it is now.
    shown = links[:, :3, 3]
    look_at = (2 * room.centre + (shown.min(0) + shown.max(0)) / 2) / 3 + 0.1 * r * room.up
    far = max(1.0, NARROW_ASPECT_RATIO / max(aspect, 0.1))
    return View(look_at + far * r * (ahead @ VIEW_DIRECTION), look_at, room.up)
