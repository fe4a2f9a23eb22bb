"""The tip: its pose in words, and joint positions that bring it elsewhere."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.kinematics.inverse import InverseKinematics, inverse_kinematics
from armdyn.model.arm import Arm
from armdyn.precision import FIVE_DIGITS
from armdyn.spatial.rotation import from_quaternion, to_quaternion, to_rpy
from armdyn.spatial.transform import transform


def frame_choices(arm: Arm) -> tuple[str, ...]:
    """Names of the frames of an arm, then of its links."""
    return (*(frame.name for frame in arm.frames), *arm.link_names)


def pose_html(name: str, T: NDArray) -> str:
    """The pose of a frame in base axes: millimetres and degrees."""
    x, y, z = (round(1e3 * v, 1) + 0.0 for v in T[:3, 3])
    roll, pitch, yaw = (round(v, 1) + 0.0 for v in np.degrees(to_rpy(T[:3, :3])))
    cell = 'style="text-align:right;padding-left:1em;font-variant-numeric:tabular-nums"'

    def row(label: str, *values: float) -> str:
        cells = "".join(f"<td {cell}>{value:.1f}</td>" for value in values)
        return f'<tr><td style="opacity:.7">{label}</td>{cells}</tr>'

    title = f"Tip '{escape(name)}' in base axes"
    rows = row("x y z [mm]", x, y, z) + row("roll pitch yaw [deg]", roll, pitch, yaw)
    return (
        f'<div style="font-size:12.5px;line-height:1.5;padding:.4em .8em"><b>{title}</b>'
        f'<table id="tip-pose">{rows}</table></div>'
    )


def handle_pose(T: NDArray) -> tuple[NDArray, NDArray]:
    """Position (3,) and quaternion wxyz (4,) of a pose."""
    return T[:3, 3], to_quaternion(T[:3, :3])


def reach_for(
    arm: Arm, position: ArrayLike, wxyz: ArrayLike, q0: NDArray, turn: bool, frame: str | None = None
) -> InverseKinematics:
    """Joint positions near `q0` that bring the tip, or a frame, to a handle, with its orientation if `turn`."""
    quaternion = np.asarray(wxyz, float)
    T = transform(from_quaternion(quaternion / np.linalg.norm(quaternion)), position)
    task = "pose" if turn else "position"
    return inverse_kinematics(arm, T, q0, frame=frame, task=task, tolerance=FIVE_DIGITS, restarts=2)
