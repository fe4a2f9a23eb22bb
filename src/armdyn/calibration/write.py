"""A calibration in files: descriptions with moved frames, and zeros for the controller."""

from __future__ import annotations

import hashlib
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
from armdyn.spatial.rotation import rotation_x, rotation_y, rotation_z, to_rpy
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


def placed_arm(arm: Arm, base: NDArray, tool: NDArray) -> Arm:
    """Return the arm with its base (4, 4) in another frame, and its tip at a pose (4, 4) in the tip's frame."""
    R, plane = base[:3, :3], arm.mounting_plane
    if plane is not None:
        normal = R @ plane[:3]
        plane = float(normal[0]), float(normal[1]), float(normal[2]), float(plane[3] + normal @ base[:3, 3])
    return replace(
        arm,
        base_pose=base @ arm.base_pose,
        tool_pose=arm.tool_pose @ tool,
        gravity=R @ arm.gravity,
        mounting_plane=plane,
    )


def save_calibration(
    calibration: Calibration,
    path: str | os.PathLike[str],
    *,
    onto: str | os.PathLike[str] | None = None,
    offsets: str | os.PathLike[str] | None = None,
    placed: bool = False,
) -> None:
    """Write the arm that the verdict allows; errors of zeros go into its frames or to the controller, never into both.

    Parameters
    ----------
    path : str or path
        `.urdf`, `.xml` (MJCF) or `.toml`; `.yaml` for the kinematics parameters of UR's xacro. Deflections are kept in
        TOML and in the URDF's extension element.
    onto : str or path, optional
        A URDF or MJCF whose other contents are kept; only frames of the chain move.
    offsets : str or path, optional
        A YAML file for the errors of the joints' zeros; the frames in `path` then have none of them.
    placed : bool
        Whether base and tool are written too: the arm as it stands before the instrument.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".urdf", ".xml", ".toml", ".yaml"):
        reason = "a DH table cannot hold axes that are nearly parallel; " if suffix == ".csv" else ""
        cause = f"{reason}expected a file that ends in .urdf, .xml (MJCF), .toml or .yaml (UR), got '{path}'"
        raise ArmdynError(cause, where="save", names=(path,))
    if placed and (onto is not None or suffix == ".yaml"):
        cause = "base and tool are not part of a file that is kept"
        raise ArmdynError(cause, where="save", remedy="write a new one, without onto=")
    arm = calibration.arm
    if offsets is not None:
        arm = _without_offsets(calibration)
        save_offsets(calibration, offsets)
    if placed:
        arm = placed_arm(arm, calibration.written.base, calibration.written_tool)
    if suffix == ".yaml":
        save_ur_kinematics(arm, path)
    elif onto is None or arm is calibration.nominal:
        arm.save(path, onto=onto)
    elif suffix == ".urdf":
        from armdyn.model.urdf.write import write_urdf

        write_urdf(arm, path, onto, frames=True)
    elif suffix == ".xml":
        from armdyn.model.mjcf.write import write_mjcf

        write_mjcf(arm, path, onto, frames=True)
    else:
        cause = "onto= keeps the contents of a URDF or MJCF; other files are always written anew"
        raise ArmdynError(cause, where="save")


def _without_offsets(calibration: Calibration) -> Arm:
    """The arm to use with readings that the controller has corrected."""
    geometry = np.array(calibration.written.geometry)
    geometry[np.arange(len(geometry)), zero_columns(calibration.nominal)] = 0.0
    return moved_arm(calibration.nominal, geometry, calibration.written_deflection, calibration.poses)


# Joints of ur_description, and what its file of kinematics parameters calls the link behind each.
UR_LINKS = {
    "shoulder_pan_joint": "shoulder",
    "shoulder_lift_joint": "upper_arm",
    "elbow_joint": "forearm",
    "wrist_1_joint": "wrist_1",
    "wrist_2_joint": "wrist_2",
    "wrist_3_joint": "wrist_3",
}


def save_ur_kinematics(arm: Arm, path: str | os.PathLike[str]) -> None:
    """Write the joints' frames as the file that ur_description takes as its argument `kinematics_params`."""
    links = [next((link for end, link in UR_LINKS.items() if name.endswith(end)), "") for name in arm.joint_names]
    if links != list(UR_LINKS.values()):
        cause = f"only arms of ur_description have kinematics parameters in YAML, and '{arm.name}' has other joints"
        raise ArmdynError(cause, where="save", remedy="write .urdf or .toml")
    lines = ["kinematics:"]
    for i, (link, joint) in enumerate(zip(links, arm.joints, strict=True)):
        T = joint.before if i else arm.base_pose @ joint.before
        if i == 0 and T[0, 0] < 0:  # between base_link and the first joint stands a half turn
            T = transform(np.diag([-1.0, -1.0, 1.0])) @ T
        numbers = dict(zip(("x", "y", "z", "roll", "pitch", "yaw"), [*T[:3, 3], *to_rpy(T[:3, :3])], strict=True))
        lines += [f"  {link}:", *(f"    {name}: {float(x)!r}" for name, x in numbers.items())]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    write_whole(path, "\n".join([*lines, f"  hash: calib_{digest[:20]}"]) + "\n")


def save_offsets(calibration: Calibration, path: str | os.PathLike[str]) -> None:
    """Write the errors of the joints' zeros that belong to `arm` as YAML, one line a joint [rad or m]."""
    geometry = calibration.written.geometry
    if not geometry.any():
        cause = f"the verdict is '{calibration.verdict}': no zeros are better than nominal"
        remedy = "measure more poses, or more precisely"
        raise ArmdynError(cause, where="save", remedy=remedy, names=(calibration.verdict,))
    values = geometry[np.arange(len(geometry)), zero_columns(calibration.nominal)]
    named = zip(calibration.nominal.joint_names, values, strict=True)
    head = "# Add to the readings of the joints [rad; m where they slide]. For frames that were written without them."
    write_whole(path, "\n".join([head, *(f"{json.dumps(name)}: {value:.9g}" for name, value in named)]) + "\n")
