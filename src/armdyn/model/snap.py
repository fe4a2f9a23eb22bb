"""Frames whose angles were rounded in a file, turned to the right angles that were meant."""

from __future__ import annotations

import dataclasses
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynWarning, ModelError
from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.precision import ROUND_OFF
from armdyn.spatial.rotation import nearest_rotation, to_axis_angle

# Above this the arm would change visibly: 0.01 rad at 1 m is a centimetre.
MAX_SNAP_RAD = 1e-2


def snap_frames(arm: Arm, angle: float) -> Arm:
    """The same arm with direction cosines within `angle` of 0 or +-1 made exact.

    Inertial parameters and translations keep their numbers. What was turned, and by how much, is
    added to `arm.notes` and reported in one `ArmdynWarning`.
    """
    if not (isinstance(angle, int | float) and 0 < angle <= MAX_SNAP_RAD):
        raise ModelError(where="load", expected=f"0 < snap <= {MAX_SNAP_RAD:g} rad", got=f"{angle!r}")
    out, moves = turn_frames(arm, angle)
    if not moves:
        return out
    largest = max(moves, key=lambda move: move.angle)
    warnings.warn(
        f"arm '{arm.name}': snap turned {len(moves)} frames or axes to right angles, "
        f"at most by {largest.angle:.1e} rad ({largest.what}); see arm.notes",
        ArmdynWarning,
        stacklevel=3,
    )
    return dataclasses.replace(out, notes=(*arm.notes, *(f"snap: {what} turned by {by:.1e} rad" for what, by in moves)))


class Turn(NamedTuple):
    """A frame or an axis that was turned, and by how much [rad]."""

    what: str
    angle: float


def turn_frames(arm: Arm, angle: float) -> tuple[Arm, list[Turn]]:
    """The arm with direction cosines within `angle` of 0 or +-1 made exact, and what was turned."""
    moves: list[Turn] = []

    def frame(T: NDArray, what: str) -> NDArray:
        R = _snap_rotation(T[:3, :3], angle)
        if turned := float(to_axis_angle(R.T @ T[:3, :3])[1] if (T[:3, :3] != R).any() else 0.0):
            moves.append(Turn(what, turned))
        out = np.array(T)
        out[:3, :3] = R
        return out

    def joint(j: Joint) -> Joint:
        axis = _snap_axis(j.axis, angle)
        if turned := float(np.linalg.norm(axis - j.axis)):
            moves.append(Turn(f"joint '{j.name}': axis", turned))
        before, after = (frame(getattr(j, side), f"joint '{j.name}': {side}") for side in ("before", "after"))
        return dataclasses.replace(j, axis=axis, before=before, after=after)

    out = dataclasses.replace(
        arm,
        joints=tuple(joint(j) for j in arm.joints),
        base_pose=frame(arm.base_pose, "base_pose"),
        tool_pose=frame(arm.tool_pose, "tool_pose"),
    )
    return out, moves


def _snap_rotation(R: NDArray, angle: float) -> NDArray:
    """The rotation with entries near 0 exact, the others those of the nearest rotation."""
    zero = np.abs(R) < angle
    if np.abs(np.where(zero, R, 0.0)).max() < ROUND_OFF and np.abs(_ones(R, angle) - R).max() < ROUND_OFF:
        return R
    # Polishing keeps the pattern of zeros up to round-off, which is then removed.
    out = nearest_rotation(np.where(zero, 0.0, R))
    out[np.abs(out) < ROUND_OFF] = 0.0
    return _ones(out, ROUND_OFF)


def _snap_axis(axis: NDArray, angle: float) -> NDArray:
    out = np.where(np.abs(axis) < angle, 0.0, axis)
    out = out / np.linalg.norm(out)
    return axis if np.abs(out - axis).max() < ROUND_OFF else out


def _ones(R: NDArray, tolerance: float) -> NDArray:
    """Entries within `tolerance` of +-1 made exact."""
    return np.where(np.abs(np.abs(R) - 1.0) < tolerance, np.sign(R), R)
