"""What file formats cannot hold of an arm."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.dh_frames import dh_parameters
from armdyn.model.dh_table import COLUMNS
from armdyn.model.joint import Drive, Friction


def not_held(arm: Arm, suffix: str) -> list[str]:
    """What a file with this ending cannot hold of `arm`, a line each; nothing for TOML, which holds all."""
    if suffix.lower() == ".xml":
        from armdyn.model.mjcf.write import not_held as not_in_mjcf

        return not_in_mjcf(arm)
    if suffix.lower() == ".csv":
        return _not_in_table(arm)
    if suffix.lower() == ".urdf":
        return _only_in_extension(arm)
    return []


def _only_in_extension(arm: Arm) -> list[str]:
    """What other programs do not see of a URDF: it stands in the element `<armdyn>`."""
    plain = {"viscous", "coulomb"}
    lines = []
    for joint in arm.joints:
        if set(_set(joint.friction, Friction())) - plain or _set(joint.drive, Drive()):
            names = [*(n for n in _set(joint.friction, Friction()) if n not in plain), *_set(joint.drive, Drive())]
            lines.append(f"joint '{joint.name}': {', '.join(names)} (kept in <armdyn>, which only armdyn reads)")
    return lines


def _not_in_table(arm: Arm) -> list[str]:
    lines = []
    for joint in arm.joints:
        lost = [n for n in _set(joint.friction, Friction()) if n not in COLUMNS]
        lost += [n for n in _set(joint.drive, Drive()) if n not in COLUMNS]
        if lost:
            lines.append(f"joint '{joint.name}': {', '.join(lost)}")
    table = dh_parameters(arm)
    for name in ("base_pose", "tool_pose"):
        T = getattr(table, name)
        if np.abs(T - np.eye(4)).max() > 1e-12:  # round-off of frames that are one
            lines.append(f"{name}: the table's own frame is elsewhere; give {name}= to Arm.from_dh")
    return lines


def _set(data: Friction | Drive, plain: Friction | Drive) -> list[str]:
    """Names of the fields that differ from what they are by default."""
    return [name for name in vars(plain) if getattr(data, name) != getattr(plain, name)]
