"""Joint positions to send so that a calibrated arm is where it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.calibration.kinematics import deflection_rate, deflection_regressor, geometry_regressor
from armdyn.calibration.unknowns import zero_columns
from armdyn.errors import ArmdynError, ShapeError
from armdyn.kinematics.inverse import inverse_kinematics
from armdyn.spatial.rotation import to_axis_angle
from armdyn.spatial.transform import inverse, transform

if TYPE_CHECKING:
    from armdyn.calibration.result import Calibration

MAX_STEPS = 50  # three suffice away from singular poses
REACHED = 1e-9  # m, rad


def command(calibration: Calibration, target: ArrayLike, q0: ArrayLike | None = None) -> NDArray:
    """Solve for the arm as described (closed form where it has one), then by Newton steps for the calibrated one."""
    goal = as_floats(target)
    position = goal.shape[-1:] == (3,) and goal.shape[-2:] != (4, 4)
    if not position and goal.shape[-2:] != (4, 4):
        raise ShapeError(f"command: expected poses (..., 4, 4) or positions (..., 3), got shape {goal.shape}")
    arm = calibration.nominal
    tool = transform(None, calibration.markers[0]) if position else calibration.tool_pose
    carried = arm.with_tool(arm.tool_pose @ tool)
    poses = transform_all(goal) if position else goal
    task = "position" if position else "pose"
    q = inverse_kinematics(carried, inverse(calibration.base_pose) @ poses, q0, task=task).q.reshape(-1, arm.n)
    poses = poses.reshape(-1, 4, 4)
    for _ in range(MAX_STEPS):
        tips = calibration.tip(q)
        error = _error(poses, tips @ tool)[:, : 3 if position else 6]
        if np.abs(error).max(initial=0.0) < REACHED:
            break
        J = _jacobian(calibration, q, tips, tips @ tool)[:, : error.shape[1]]
        # Damped by the squared error: quick also where the arm is singular (Yamashita, Fukushima 2001).
        A = J @ np.swapaxes(J, 1, 2) + np.sum(error**2, axis=1)[:, None, None] * np.eye(error.shape[1])
        q = q + (np.swapaxes(J, 1, 2) @ np.linalg.pinv(A, rcond=1e-14) @ error[..., None])[..., 0]
    missed = np.abs(error).max(1) >= REACHED
    low, high = arm.position_limits
    outside = ((q < low) | (q > high)).any(1)
    if (bad := np.flatnonzero(missed | outside)).size:
        why = "is out of reach" if missed[bad[0]] else "needs joints outside their limits"
        raise ArmdynError(f"command: target {bad[0] + 1} of {len(q)} {why}; move it, or give another start q0")
    return q.reshape(*goal.shape[: -1 if position else -2], arm.n)


def transform_all(points: NDArray) -> NDArray:
    """Poses (..., 4, 4) with the base's own axes at points (..., 3)."""
    poses = np.tile(np.eye(4), (*points.shape[:-1], 1, 1))
    poses[..., :3, 3] = points
    return poses


def _error(target: NDArray, reached: NDArray) -> NDArray:
    axis, angle = to_axis_angle(target[:, :3, :3] @ np.swapaxes(reached[:, :3, :3], 1, 2))
    return np.concatenate([target[:, :3, 3] - reached[:, :3, 3], axis * angle[:, None]], axis=1)


def _jacobian(calibration: Calibration, q: NDArray, tips: NDArray, frames: NDArray) -> NDArray:
    """Velocity of the frames per unit of the joints, in the instrument's axes."""
    arm, geometry, deflection = calibration.nominal, calibration.geometry, calibration.deflection
    yielded = np.einsum("kij,ij->ki", np.asarray(deflection_regressor(arm, q)), deflection)
    J = np.asarray(geometry_regressor(arm, q + yielded, geometry=geometry))
    J = J[:, :, 6 * np.arange(arm.n) + zero_columns(arm)]
    J = J @ (np.eye(arm.n) + np.asarray(deflection_rate(arm, q, deflection=deflection)))
    R = calibration.base_pose[:3, :3]
    v, w = R @ J[:, :3], R @ J[:, 3:]
    arms = frames[:, :3, 3] - tips[:, :3, 3]
    return np.concatenate([v + np.cross(w, arms[:, :, None], axis=1), w], axis=1)
