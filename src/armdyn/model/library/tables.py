"""What the arms of the library are written with: tables in TOML files, limits in degrees, simple bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.files import read_text
from armdyn.model.arm import Arm
from armdyn.model.dh import JOINT_DATA
from armdyn.model.joint import Limits
from armdyn.model.toml_format import parse_toml
from armdyn.spatial.rotation import from_quaternion
from armdyn.spatial.transform import transform


def library_arm(name: str, **more: Iterable[Any]) -> Arm:
    """The arm of the table `<name>.toml` beside this file, with more of its columns; lengths in m, masses in kg."""
    options = library_table(name)
    options.pop("source", None)  # numbers as their source has them, of which columns are computed
    columns = options.pop("columns") | more
    if links := [*options.pop("bodies", ()), *(cylinder(*row) for row in options.pop("cylinders", ()))]:
        columns |= bodies(*links)
    columns |= {
        part: [kind(**row) for row in rows(**options.pop(part))] for part, kind in JOINT_DATA.items() if part in options
    }
    if "limits_in_degrees" in options:
        columns["limits"] = limits_in_degrees(**options.pop("limits_in_degrees"))
    if "tip" in options:
        options["tool_pose"] = transform(translation=options.pop("tip"))
    floor = options.pop("floor", None)
    arm = Arm.from_dh(rows(**columns), name=name, **options)
    return arm if floor is None else arm.with_floor(floor)


def library_table(name: str) -> dict[str, Any]:
    """The table of an arm of the library."""
    return parse_toml(read_text(Path(__file__).parent / f"{name}.toml"), name)


def rows(**columns: Iterable[Any]) -> list[dict[str, Any]]:
    """Rows for `Arm.from_dh` from its columns, all of one length."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def limits_in_degrees(
    lower: Sequence[float],
    upper: Sequence[float],
    velocity: Sequence[float] | None = None,
    effort: Sequence[float] | None = None,
) -> list[Limits]:
    """Limits of revolute joints from degrees, degrees per second and N m, as data sheets give them."""
    unlimited = [np.inf] * len(lower)
    angles = (np.deg2rad(lower), np.deg2rad(upper), np.deg2rad(velocity or unlimited), effort or unlimited)
    return [Limits(*numbers) for numbers in zip(*angles, strict=True)]


def bodies(*links: Sequence[Any]) -> dict[str, Sequence[Any]]:
    """Columns of a table from links: mass, centre, Ixx, Iyy, Izz about it, and perhaps Ixy, Ixz, Iyz.

    A quaternion behind these turns the axes of the tensor.
    """
    masses, centres, *tensors = zip(*links, strict=True)
    return {"mass": masses, "com": centres, "inertia": [_tensor(*row) for row in zip(*tensors, strict=True)]}


def _tensor(entries: Sequence[float], quaternion: Sequence[float] | None = None) -> NDArray:
    xx, yy, zz, xy, xz, yz = (*entries, 0.0, 0.0, 0.0)[:6]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if quaternion is None:
        return tensor
    R = from_quaternion(quaternion)
    return np.asarray(R @ tensor @ R.T)


def cylinder(mass: float, centre: Sequence[float], radius: float, length: float, axis: int = 2) -> tuple[Any, ...]:
    """A solid cylinder along axis 0, 1 or 2 as a row of `bodies`; radius 0 is a slender rod."""
    moments = [mass * (3 * radius**2 + length**2) / 12] * 3
    moments[axis] = mass * radius**2 / 2
    return mass, centre, moments
