"""What the arms of the library are written with: columns of a table, limits in degrees, simple bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.model.joint import Limits


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


def bodies(*links: tuple[float, Sequence[float], Sequence[float]]) -> dict[str, Sequence[Any]]:
    """Columns of a table from links: mass, centre, and Ixx, Iyy, Izz about it, or these and Ixy, Ixz, Iyz."""
    masses, centres, entries = zip(*links, strict=True)
    return {"mass": masses, "com": centres, "inertia": [_tensor(*row) for row in entries]}


def _tensor(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0) -> NDArray:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def cylinder(mass: float, centre: Sequence[float], radius: float, length: float, axis: int = 2) -> tuple[Any, ...]:
    """A solid cylinder along axis 0, 1 or 2 as a row of `bodies`; radius 0 is a slender rod."""
    moments = [mass * (3 * radius**2 + length**2) / 12] * 3
    moments[axis] = mass * radius**2 / 2
    return mass, centre, moments
