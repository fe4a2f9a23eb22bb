"""What an arm is mounted on: its mounting plane as an obstacle, and whether that is a floor, a wall or a ceiling."""

from __future__ import annotations

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.shapes.obstacles import HalfSpace

STEEPEST_FLOOR_COSINE = np.cos(np.deg2rad(30))  # cosine of the largest slope that is still a floor or a ceiling


def mounting_plane(arm: Arm, floor: float | None = None) -> HalfSpace | None:
    """The half-space beyond the arm's mounting plane, named as gravity tells; None where the plane is unknown.

    Parameters
    ----------
    arm : Arm
    floor : float, optional
        Height of the plane along z of the base axes [m], in place of the arm's own.
    """
    if floor is not None:
        if isinstance(floor, bool) or not isinstance(floor, int | float | np.number) or not np.isfinite(floor):
            raise ArmdynError(f"floor: expected a height in metres, got {floor!r}")
        arm = arm.with_floor(float(floor))
    if arm.mounting_plane is None:
        return None
    x, y, z, offset = arm.mounting_plane
    normal = np.array([x, y, z])
    return HalfSpace(normal, offset, kind_of_mount(arm, normal))


def kind_of_mount(arm: Arm, normal: np.ndarray) -> str:
    """Floor, wall, ceiling, or plainly the mounting plane where there is no gravity."""
    g = np.linalg.norm(arm.gravity)
    if g == 0:
        return "mounting plane"
    up = -float(normal @ arm.gravity) / g
    return "floor" if up > STEEPEST_FLOOR_COSINE else "ceiling" if up < -STEEPEST_FLOOR_COSINE else "wall"
