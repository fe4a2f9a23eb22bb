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


def moments(*principal: tuple[float, float, float]) -> list[NDArray]:
    """Diagonal tensors from rows Ixx, Iyy, Izz."""
    return [np.diag(row) for row in principal]


def cylinder(mass: float, radius: float, length: float, axis: int = 2) -> NDArray:
    """Tensor (3, 3) about its centre of a solid cylinder along axis 0, 1 or 2; radius 0 is a slender rod."""
    across = mass * (3 * radius**2 + length**2) / 12
    tensor = np.diag([across, across, across])
    tensor[axis, axis] = mass * radius**2 / 2
    return tensor
