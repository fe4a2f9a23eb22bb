"""How far a tip is from a desired pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError, quote
from armdyn.model.quantities import Pose
from armdyn.spatial.rotation import nearest_rotation
from armdyn.spatial.transform import ORTHOGONALITY_TOLERANCE
from armdyn.trace.formula import Array, Symbol, ca, traced

# Rotations off by more than this are replaced by the nearest true rotation before solving.
ROUND_OFF = 1e-12

# No arm is told to go farther than this [m]; distances beyond would overflow when they are squared.
FARTHEST_TARGET_M = 1e15

TASKS = {"pose": 6, "position": 3}


def pose_error(R: Symbol, p: Symbol, pose: Symbol, task: str) -> Symbol:
    """The twist, in base axes, that leads from the frame (R, p) towards `pose`: (6,), or (3,) for a position.

    The orientation part is 2 sin(angle/2) about the axis of the remaining turn: like the angle itself
    it grows all the way to half a turn, but it needs no inverse trigonometric function.
    """
    translation = pose[:3, 3] - p
    if task == "position":
        return translation
    E = ca.mtimes(pose[:3, :3], R.T)
    # The antisymmetric part is sin(angle) axis, and 1 + trace = 4 cos²(angle/2).
    antisymmetric = ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
    # Half a turn has no direction: the bound keeps the quotient finite there.
    rotation = antisymmetric / ca.sqrt(ca.fmax(1 + E[0, 0] + E[1, 1] + E[2, 2], 1e-12))
    return ca.vertcat(translation, rotation)


def error_sizes(R: Symbol, p: Symbol, pose: Symbol, task: str) -> Symbol:
    """Distance [m] and 2 sin(angle/2) (the angle [rad] where it is small) of a frame from a pose, (2,)."""
    error = pose_error(R, p, pose, task)
    distance = ca.sqrt(ca.dot(error[:3], error[:3]))
    if task == "position":
        return ca.vertcat(distance, 0)
    # 3 - trace = 4 sin²(angle/2) is right at half a turn, where the error itself vanishes; below a third
    # of a turn the error keeps more digits.
    trace = ca.dot(pose[:3, :3], R)
    turn = ca.if_else(trace < 0, ca.sqrt(ca.fmax(3 - trace, 0)), ca.sqrt(ca.dot(error[3:], error[3:])))
    return ca.vertcat(distance, turn)


@traced(returns={"defect": ""})
def rigidity_defect(arm: Any, pose: Pose) -> Array:
    """How far a matrix is from a rigid transform: 0 for one, at least 1 for a mirror image."""
    R = pose[:3, :3]
    off = ca.mtimes(R.T, R) - ca.SX.eye(3)
    row = pose[3, :] - ca.SX([[0, 0, 0, 1]])
    mirror = ca.if_else(ca.dot(R[:, 0], ca.cross(R[:, 1], R[:, 2])) < 0, 1, 0)
    return ca.sqrt(ca.sumsqr(off) + ca.sumsqr(row)) + mirror


def check_poses(arm: Any, poses: ArrayLike, what: str) -> NDArray:
    """`poses` (..., 4, 4) as floats after checking that all are rigid transforms; rounded rotations are repaired."""
    try:
        T = np.array(poses)
        T = T.astype(float, casting="same_kind" if T.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise ShapeError(f"{what}: expected matrices of numbers, got {quote(poses)}") from None
    if T.shape[-2:] != (4, 4):
        raise ShapeError(f"{what}: expected shape (..., 4, 4), got {T.shape}")
    if not np.isfinite(T).all():
        raise ShapeError(f"{what}: expected finite numbers, got NaN or infinity{_where(~np.isfinite(T).all((-1, -2)))}")
    too_far = (np.abs(T) > FARTHEST_TARGET_M).any((-1, -2))
    if too_far.any():
        raise ShapeError(f"{what}: expected positions within {FARTHEST_TARGET_M:g} m{_where(too_far)}")
    defect = np.asarray(rigidity_defect(arm, T))
    if (defect > ORTHOGONALITY_TOLERANCE).any():
        raise ShapeError(
            f"{what}: expected a rigid transform, got a rotation that is not orthogonal with determinant 1, "
            f"or a last row other than 0 0 0 1{_where(defect > ORTHOGONALITY_TOLERANCE)}"
        )
    rounded = defect > ROUND_OFF
    if rounded.any():
        T[rounded, :3, :3] = nearest_rotation(T[rounded, :3, :3])
    return T


def _where(bad: NDArray) -> str:
    """` at index (3,)` for the first bad one of a batch."""
    return f" at index {tuple(int(k[0]) for k in np.nonzero(bad))}" if bad.ndim else ""
