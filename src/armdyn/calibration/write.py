"""A calibration in files: descriptions with moved frames, and zeros for the controller."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.poses import Poses
from armdyn.calibration.unknowns import zero_columns
from armdyn.errors import ArmdynError
from armdyn.files import write_whole
from armdyn.model.arm import Arm
from armdyn.spatial.rotation import rotation_x, rotation_y, rotation_z
from armdyn.spatial.transform import transform

if TYPE_CHECKING:
    from armdyn.calibration.result import Calibration


def moved_arm(arm: Arm, geometry: NDArray, deflection: NDArray, poses: Poses) -> Arm:
    """Return the arm with errors of joint frames (n, 6) and deflections (n, 4 n) made its own."""
    joints = []
    for joint, segment, error, row in zip(arm.joints, arm.segments, geometry, deflection, strict=True):
        # The segment's after is turn^-1 @ joint.after, with the turn that takes z to the joint's axis.
        turn = joint.after[:3, :3] @ segment.R_after.T
        T = transform(turn) @ error_transform(error) @ transform(turn.T)
        drive = replace(joint.drive, deflection=tuple(row) if row.any() else ())
        joints.append(replace(joint, before=joint.before @ T, drive=drive))
    note = f"Calibrated: joint frames from {len(poses)} measured poses ({poses.name})."
    return replace(arm, joints=tuple(joints), notes=(*arm.notes, note))


def error_transform(error: NDArray) -> NDArray:
    """The transform (4, 4) of an error x, y, z, rx, ry, rz of a joint's frame; see `calibration.kinematics`."""
    x, y, z, rx, ry, rz = error
    turned = rotation_x(rx) @ rotation_y(ry)
    return transform(turned @ rotation_z(rz), turned @ np.array([x, y, z]))


def save_calibration(
    calibration: Calibration,
    path: str | os.PathLike[str],
    *,
    onto: str | os.PathLike[str] | None = None,
    offsets: str | os.PathLike[str] | None = None,
) -> None:
    """Write the arm that the verdict allows; errors of zeros go into its frames or to the controller, never into both.

    Parameters
    ----------
    calibration : Calibration
    path : str or path
        `.urdf`, `.xml` (MJCF) or `.toml`. Deflections are kept in TOML and in the URDF's extension element.
    onto : str or path, optional
        A URDF or MJCF whose other contents are kept; only frames of the chain move.
    offsets : str or path, optional
        A YAML file for the errors of the joints' zeros; the frames in `path` then have none of them.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".urdf", ".xml", ".toml"):
        reason = "a DH table cannot hold axes that are nearly parallel; " if suffix == ".csv" else ""
        raise ArmdynError(f"save: {reason}expected a file that ends in .urdf, .xml (MJCF) or .toml, got '{path}'")
    arm = calibration.arm
    if offsets is not None:
        arm = _without_offsets(calibration)
        save_offsets(calibration, offsets)
    if onto is None or arm is calibration.nominal:
        arm.save(path, onto=onto)
    elif suffix == ".urdf":
        from armdyn.model.urdf.write import write_urdf

        write_urdf(arm, path, onto, frames=True)
    elif suffix == ".xml":
        from armdyn.model.mjcf.write import write_mjcf

        write_mjcf(arm, path, onto, frames=True)
    else:
        raise ArmdynError("save: onto= keeps the contents of a URDF or MJCF; other files are always written anew")


def _without_offsets(calibration: Calibration) -> Arm:
    """The arm to use with readings that the controller has corrected."""
    geometry, deflection = (np.array(x) for x in calibration.written)
    geometry[np.arange(len(geometry)), zero_columns(calibration.nominal)] = 0.0
    return moved_arm(calibration.nominal, geometry, deflection, calibration.poses)


def save_offsets(calibration: Calibration, path: str | os.PathLike[str]) -> None:
    """Write the errors of the joints' zeros that belong to `arm` as YAML, one line a joint [rad or m]."""
    geometry = calibration.written.geometry
    if not geometry.any():
        raise ArmdynError(
            f"save: the verdict is '{calibration.verdict}': no zeros are better than nominal; measure more "
            "poses, or more precisely"
        )
    names, values = (
        calibration.nominal.joint_names,
        geometry[np.arange(len(geometry)), zero_columns(calibration.nominal)],
    )
    lines = [
        "# Add to the readings of the joints [rad; m where they slide]. For frames that were written without them.",
        *(f"{json.dumps(name)}: {value:.9g}" for name, value in zip(names, values, strict=True)),
    ]
    write_whole(path, "\n".join(lines) + "\n")
