"""What file formats cannot hold of an arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields, replace
from typing import Any

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.dh_frames import dh_parameters
from armdyn.model.dh_table import COLUMNS
from armdyn.model.joint import Drive, Friction, Joint

# Ending of a file -> the fields of friction and drive that it holds; TOML holds all.
HELD_FIELDS = {
    ".urdf": ("viscous", "coulomb"),
    ".csv": COLUMNS,
    ".xml": (
        "viscous", "coulomb", "static", "stribeck",
        "rotor_inertia", "gear_ratio", "stiffness", "rest", "damping", "servo_stiffness", "servo_damping",
    ),
}  # fmt: skip


def not_held(arm: Arm, suffix: str) -> list[str]:
    """Return what a file with this ending cannot hold of `arm`, a line each; nothing for TOML, which holds all."""
    suffix = suffix.lower()
    if suffix not in HELD_FIELDS:
        return []
    lines, where = [], " (kept in <armdyn>, which only armdyn reads)" if suffix == ".urdf" else ""
    joints: dict[str, list[str]] = {}  # what is lost -> names
    for joint in arm.joints:
        joints.setdefault(", ".join(lost_fields(joint, suffix)), []).append(f"'{joint.name}'")
    for lost, names in joints.items():
        if lost:
            subject = f"joint {names[0]}" if len(names) == 1 else f"joints {', '.join(names)}"
            lines.append(f"{'all joints' if 1 < len(names) == arm.n else subject}: {lost}{where}")
    if arm.preprocessing.changes:
        lines.append(f"treatment of logs: {arm.preprocessing}{where}")
    return [*lines, *_poses_beside_table(arm)] if suffix == ".csv" else lines


def lost_fields(joint: Joint, suffix: str) -> list[str]:
    """Names of a joint's numbers that a format has no place for."""
    if suffix not in HELD_FIELDS:
        return []
    changed = (f.name for data in (joint.friction, joint.drive) for f in fields(data) if _differs(data, f))
    lost = [name for name in changed if name not in (*HELD_FIELDS[suffix], "top_speed")]
    return lost + list(_not_in_mjcf(joint)) if suffix == ".xml" else lost


def lost_names(arm: Arm, suffix: str) -> list[str]:
    """Names of what a format has no place for, each once; the extension of a URDF holds the treatment of logs."""
    suffix = suffix.lower()
    lost = [name for joint in arm.joints for name in lost_fields(joint, suffix)]
    if suffix in HELD_FIELDS and suffix != ".urdf" and arm.preprocessing.changes:
        lost.append(f"the treatment of logs ({arm.preprocessing})")
    return list(dict.fromkeys(lost))


def plainly_read(arm: Arm, suffix: str) -> Arm:
    """The arm as programs read it that know the format alone: its drives and the nearest plain friction."""
    held = HELD_FIELDS.get(suffix.lower())
    if held is None:
        return arm
    joints = []
    for joint in arm.joints:
        viscous, coulomb = joint.friction.plain
        offset = joint.friction.offset if "offset" in held else 0.0
        drive = {f.name: getattr(joint.drive, f.name) for f in fields(joint.drive) if f.name in held}
        friction = Friction(viscous=viscous, coulomb=coulomb, offset=offset)
        joints.append(replace(joint, friction=friction, drive=Drive(**drive)))
    return arm.with_joints(joints)


def _differs(data: Any, field: Field[Any]) -> bool:
    """Whether a field is not what it is by default."""
    return getattr(data, field.name) != field.default


def _not_in_mjcf(joint: Joint) -> Iterator[str]:
    if joint.friction.static not in (None, joint.friction.coulomb):
        yield "static"
    if joint.drive.gear_ratio != 1 and joint.drive.rotor_inertia:
        yield "gear_ratio (the rotor's inertia is written as seen at the joint)"
    if np.isfinite(joint.limits.velocity):
        yield "velocity limit"


def _poses_beside_table(arm: Arm) -> Iterator[str]:
    table = dh_parameters(arm)
    for name in ("base_pose", "tool_pose"):
        if np.abs(getattr(table, name) - np.eye(4)).max() > 1e-12:  # round-off of frames that are one
            turned = np.abs(getattr(table, name)[:3, :3] - np.eye(3)).max() > 1e-12
            gravity = " and gravity= (the file has it in the table's axes)" if turned and name == "base_pose" else ""
            yield f"{name}: the table's own frame is elsewhere; give {name}={gravity} to Arm.from_dh"
