"""Joint positions to send so that a calibrated arm is where it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.calibration.fit import INTERPRETED_POSES
from armdyn.calibration.kinematics import command_steps
from armdyn.errors import ArmdynError, ShapeError
from armdyn.kinematics.inverse import inverse_kinematics
from armdyn.precision import MAX_ITERATIONS, NEGLIGIBLE
from armdyn.spatial.transform import inverse, transform
from armdyn.trace.backend import interpreting

if TYPE_CHECKING:
    from armdyn.calibration.result import Calibration


def command(calibration: Calibration, target: ArrayLike, q0: ArrayLike | None = None) -> NDArray:
    """Solve for joints (..., n) that put `pose` to a target (..., 4, 4), or the first marker to one (..., 3).

    First for the arm as described (closed form where it has one), then by Newton steps for the calibrated one.

    Raises
    ------
    ArmdynError
        If the arm does not reach a target within its limits.
    """
    goal = as_floats(target)
    position = goal.shape[-1:] == (3,) and goal.shape[-2:] != (4, 4)
    if not position and goal.shape[-2:] != (4, 4):
        raise ShapeError(where="command", expected="poses (..., 4, 4) or positions (..., 3)", got=f"shape {goal.shape}")
    arm = calibration.nominal
    tool = transform(None, calibration.markers[0]) if position else calibration.tool_pose
    carried = arm.with_tool(arm.tool_pose @ tool)
    poses = transform_all(goal) if position else goal
    task = "position" if position else "pose"
    poses = inverse(calibration.base_pose) @ poses
    q = inverse_kinematics(carried, poses, q0, task=task).q.reshape(-1, arm.n)
    poses = poses.reshape(-1, 4, 4)
    geometry, deflection = calibration.geometry, calibration.deflection
    missed = np.ones(len(q), bool)
    with interpreting(len(q) <= INTERPRETED_POSES):
        for _ in range(MAX_ITERATIONS):
            q, error = command_steps(carried, q, poses, task=task, geometry=geometry, deflection=deflection)
            missed = np.asarray(error).max(axis=1) >= NEGLIGIBLE
            if not missed.any():
                break
    q = _readings(calibration, q)
    low, high = arm.position_limits
    outside = ((q < low) | (q > high)).any(1)
    if (bad := np.flatnonzero(missed | outside)).size:
        why = "is out of reach" if missed[bad[0]] else "needs joints outside their limits"
        cause = f"target {bad[0] + 1} of {len(q)} {why}"
        raise ArmdynError(cause, where="command", remedy="move it, or give another start q0")
    return q.reshape(*goal.shape[: -1 if position else -2], arm.n)


def _readings(calibration: Calibration, driven: NDArray) -> NDArray:
    """Readings (N, n) of joints at positions with harmonics: these are a thousandth, so that few rounds settle."""
    q = driven
    for _ in range(MAX_ITERATIONS):
        q, before = driven - (calibration.driven(q) - q), q
        if np.abs(q - before).max(initial=0.0) < NEGLIGIBLE**2:
            break
    return q


def transform_all(points: NDArray) -> NDArray:
    """Poses (..., 4, 4) with the base's own axes at points (..., 3)."""
    poses = np.tile(np.eye(4), (*points.shape[:-1], 1, 1))
    poses[..., :3, 3] = points
    return poses
