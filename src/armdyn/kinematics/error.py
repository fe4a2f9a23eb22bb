"""How far a tip is from a desired pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError, quote
from armdyn.model.quantities import Pose
from armdyn.precision import HUGE, SIX_DIGITS, SOLUTION_ERROR
from armdyn.spatial.rotation import nearest_rotation
from armdyn.trace.formula import Array, Symbol, ca, traced

# Number of equations of each task; "position+z" is the position and the direction of the tip's z-axis.
TASKS = {"pose": 6, "position": 3, "position+x": 5, "position+y": 5, "position+z": 5}


def axis_of(task: str) -> int | None:
    """Return which axis of the tip a task directs, None where it is none alone."""
    return "xyz".index(task[-1]) if "+" in task else None


def task_rows(task: str, R: Any, columns: Any) -> Any:
    """Return the task's rows of twists [v; w] (..., 6, k), of symbols or numbers, for a tip with the axes R.

    A turn about the directed axis itself does not matter: of w the parts along the tip's other two axes remain.
    """
    axis = axis_of(task)
    if axis is None:
        return columns[..., : TASKS[task], :] if isinstance(columns, np.ndarray) else columns[: TASKS[task], :]
    others = [(axis + 1) % 3, (axis + 2) % 3]
    if isinstance(columns, np.ndarray):
        turned = np.swapaxes(R[..., others], -1, -2) @ columns[..., 3:, :]
        return np.concatenate([columns[..., :3, :], turned], axis=-2)
    return ca.vertcat(columns[:3, :], ca.mtimes(R[:, others].T, columns[3:, :]))


def pose_error(R: Symbol, p: Symbol, pose: Symbol, task: str) -> Symbol:
    """The task's rows of the twist, in base axes, that leads from the frame (R, p) towards `pose`: (6,), (5,) or (3,).

    The orientation part is 2 sin(angle/2) about the axis of the remaining turn: like the angle itself
    it grows all the way to half a turn, but it needs no inverse trigonometric function.
    """
    translation = pose[:3, 3] - p
    if task == "position":
        return translation
    if (axis := axis_of(task)) is not None:
        a, b = R[:, axis], pose[:3, axis]
        # |a x b| = sin(angle), and 1 + a.b = 2 cos²(angle/2).
        rotation = ca.cross(a, b) / ca.sqrt(ca.fmax((1 + ca.dot(a, b)) / 2, SOLUTION_ERROR))
        return task_rows(task, R, ca.vertcat(translation, rotation))
    E = ca.mtimes(pose[:3, :3], R.T)
    # The antisymmetric part is sin(angle) axis, and 1 + trace = 4 cos²(angle/2).
    antisymmetric = ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
    # Half a turn has no direction: the bound keeps the quotient finite there.
    rotation = antisymmetric / ca.sqrt(ca.fmax(1 + E[0, 0] + E[1, 1] + E[2, 2], SOLUTION_ERROR))
    return ca.vertcat(translation, rotation)


def error_sizes(R: Symbol, p: Symbol, pose: Symbol, task: str) -> Symbol:
    """Distance [m] and 2 sin(angle/2) (the angle [rad] where it is small) of a frame from a pose, (2,)."""
    error = pose_error(R, p, pose, task)
    distance = ca.sqrt(ca.dot(error[:3], error[:3]))
    if task == "position":
        return ca.vertcat(distance, 0)
    # 3 - trace = 4 sin²(angle/2) is right at half a turn, where the error itself vanishes; below a third
    # of a turn the error keeps more digits.
    axis = axis_of(task)
    # Of an axis alone 2 - 2 a.b is the same, and negative cosines are beyond a quarter of a turn.
    trace = ca.dot(pose[:3, :3], R) if axis is None else 2 * ca.dot(pose[:3, axis], R[:, axis])
    whole = 3 if axis is None else 2
    turn = ca.if_else(trace < 0, ca.sqrt(ca.fmax(whole - trace, 0)), ca.sqrt(ca.dot(error[3:], error[3:])))
    return ca.vertcat(distance, turn)


@traced(returns={"defect": ""})
def rigidity_defect(arm: Any, pose: Pose) -> Array:
    """Return how far a matrix is from a rigid transform: 0 for one, at least 1 for a mirror image."""
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
        raise ShapeError(where=what, expected="matrices of numbers", got=quote(poses)) from None
    if T.shape[-2:] != (4, 4):
        raise ShapeError(where=what, expected="shape (..., 4, 4)", got=T.shape)
    if not np.isfinite(T).all():
        expected = "finite numbers"
        raise ShapeError(where=what, expected=expected, got=f"NaN or infinity{_where(~np.isfinite(T).all((-1, -2)))}")
    too_far = (np.abs(T) > HUGE).any((-1, -2))
    if too_far.any():
        raise ShapeError(where=what, expected=f"positions within {HUGE:g} m{_where(too_far)}")
    defect = np.asarray(rigidity_defect(arm, T))
    if (defect > SIX_DIGITS).any():
        raise ShapeError(
            where=what,
            expected="a rigid transform",
            got="a rotation that is not orthogonal with determinant 1, or a last row other than 0 0 0 1"
            + _where(defect > SIX_DIGITS),
        )
    rounded = defect > SOLUTION_ERROR
    if rounded.any():
        T[rounded, :3, :3] = nearest_rotation(T[rounded, :3, :3])
    return T


def _where(bad: NDArray) -> str:
    """` at index (3,)` for the first bad one of a batch."""
    return f" at index {tuple(int(k[0]) for k in np.nonzero(bad))}" if bad.ndim else ""
