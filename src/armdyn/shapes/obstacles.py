"""What stands around an arm: boxes, half-spaces and spheres, in base axes.

A small TOML file holds them, the same for exciting motions, simulation and the studio:

    [[box]]
    name = "cabinet"
    center = [0.8, 0.0, 0.4]      # m
    size = [0.4, 1.0, 0.8]        # m
    rpy = [0.0, 0.0, 0.3]         # rad; may be left out

    [[half_space]]
    name = "wall"
    point = [0.0, -0.7, 0.0]      # on its surface
    normal = [0.0, 1.0, 0.0]      # into the free side

    [[sphere]]
    name = "lamp"
    center = [0.3, 0.3, 1.5]
    radius = 0.2
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, LimitError, ReadError, quote, reads_file
from armdyn.files import read_text
from armdyn.model.arm import Arm
from armdyn.model.dh import reject_unknown
from armdyn.model.toml_format import parse_toml
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

STEEPEST_FLOOR_COSINE = np.cos(np.deg2rad(30))  # cosine of the largest slope that is still a floor or a ceiling


@dataclass(frozen=True, eq=False)
class Box:
    """A box of edges `size` (3,) [m] whose centre and axes are those of the pose `T` (4, 4)."""

    T: NDArray
    size: NDArray
    name: str = "box"

    def distance(self, p: ArrayLike) -> tuple[NDArray, NDArray]:
        """Signed distance (...) of points (..., 3) from the surface, and the unit vector (..., 3) that leads away."""
        R = self.T[:3, :3]
        local = (np.asarray(p, float) - self.T[:3, 3]) @ R
        beyond = np.abs(local) - self.size / 2
        outside = np.maximum(beyond, 0.0)
        far = np.linalg.norm(outside, axis=-1)
        inside = far == 0
        nearest_wall = np.eye(3)[beyond.argmax(-1)]
        away = np.where(inside[..., None], nearest_wall, outside / np.where(inside, 1.0, far)[..., None])
        away = away * np.where(local < 0, -1.0, 1.0)
        return np.where(inside, beyond.max(-1), far), away @ R.T


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """All points p with `normal . p < offset`; the unit vector `normal` (3,) leads into the free side."""

    normal: NDArray
    offset: float
    name: str = "half-space"

    def distance(self, p: ArrayLike) -> tuple[NDArray, NDArray]:
        """Signed distance (...) of points (..., 3) from the surface, and the unit vector (..., 3) that leads away."""
        p = np.asarray(p, float)
        return p @ self.normal - self.offset, np.broadcast_to(self.normal, p.shape)


@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball."""

    center: NDArray
    radius: float
    name: str = "sphere"

    def distance(self, p: ArrayLike) -> tuple[NDArray, NDArray]:
        """Signed distance (...) of points (..., 3) from the surface, and the unit vector (..., 3) that leads away."""
        gap = np.asarray(p, float) - self.center
        far = np.linalg.norm(gap, axis=-1)
        somewhere = np.array([0.0, 0.0, 1.0])
        away = np.where((far > 0)[..., None], gap / np.where(far > 0, far, 1.0)[..., None], somewhere)
        return far - self.radius, away


Obstacle = Box | HalfSpace | Sphere


class _Entry(NamedTuple):
    """Rule by which a table of the file becomes an obstacle: its keys with the count of their numbers, and who makes
    it.
    """

    needed: Mapping[str, int]
    make: Callable[..., Obstacle]
    optional: Mapping[str, int] = MappingProxyType({})


def _box(name: str, center: NDArray, size: NDArray, rpy: NDArray | None = None) -> Box:
    return Box(transform(None if rpy is None else from_rpy(rpy), center), size, name)


def _half_space(name: str, point: NDArray, normal: NDArray) -> HalfSpace:
    length = float(np.linalg.norm(normal))
    return HalfSpace(normal / length, float(point @ normal) / length, name)


def _sphere(name: str, center: NDArray, radius: NDArray) -> Sphere:
    return Sphere(center, float(radius[0]), name)


ENTRIES = {
    "box": _Entry({"center": 3, "size": 3}, _box, {"rpy": 3}),
    "half_space": _Entry({"point": 3, "normal": 3}, _half_space),
    "sphere": _Entry({"center": 3, "radius": 1}, _sphere),
}
POSITIVE = ("size", "radius")


@reads_file
def read_obstacles(path: str | os.PathLike[str]) -> tuple[Obstacle, ...]:
    """The obstacles of a TOML file with tables [[box]], [[half_space]] and [[sphere]].

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ReadError
        If the file holds something else, or numbers that mean nothing.
    """
    return obstacles_from(parse_toml(read_text(path), str(path)), str(path))


def obstacles_from(document: Mapping[str, Any], where: str) -> tuple[Obstacle, ...]:
    """The obstacles of a parsed file."""
    unknown = [key for key in document if key not in ENTRIES]
    if unknown or not document:
        got = ", ".join(unknown)[:80] or "nothing"
        raise ReadError(where=where, expected="tables [[box]], [[half_space]] or [[sphere]]", got=got)
    obstacles: list[Obstacle] = []
    for kind, tables in document.items():
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            raise ReadError(where=where, expected=f"[[{kind}]] with two brackets", got=quote(tables))
        obstacles += [_obstacle(kind, table, f"{kind} {k}", where) for k, table in enumerate(tables, 1)]
    return tuple(obstacles)


def _obstacle(kind: str, table: Mapping[str, Any], default: str, file: str) -> Obstacle:
    entry, where = ENTRIES[kind], f"{file}: {default}"
    known = {**entry.needed, **entry.optional}
    reject_unknown(table, ("name", *known), where, ReadError)
    for key in entry.needed:
        if key not in table:
            raise ReadError(f"lacks '{key}'", where=where, expected=", ".join(entry.needed), names=(key,))
    name = table.get("name", default)
    if not isinstance(name, str) or not name:
        raise ReadError(where=f"{where}: name", expected="text", got=quote(name))
    values = {key: _numbers(table[key], count, key, where) for key, count in known.items() if key in table}
    return entry.make(name, **values)


def _numbers(value: Any, count: int, key: str, where: str) -> NDArray:
    row = value if isinstance(value, list) else [value]
    plain = all(isinstance(x, int | float) and not isinstance(x, bool) and np.isfinite(x) for x in row)
    if len(row) != count or not plain:
        raise ReadError(where=f"{where}: {key}", expected=f"{count} number{'s' if count > 1 else ''}", got=quote(value))
    numbers = np.array(row, float)
    if key in POSITIVE and not (numbers > 0).all():
        raise ReadError(where=f"{where}: {key}", expected="numbers > 0", got=quote(value))
    if key == "normal" and not numbers.any():
        raise ReadError(where=f"{where}: normal", expected="a vector that is not zero")
    return numbers


# -- what an arm is mounted on ---------------------------------------------------------------------------------


def obstacles_of(obstacles: Any) -> tuple[Obstacle, ...]:
    """Read obstacles from a file, from corners of boxes (B, 2, 3), or take them as they are."""
    if isinstance(obstacles, str | os.PathLike):
        return read_obstacles(obstacles)
    if not isinstance(obstacles, Iterable):
        expected = "a file, or boxes, half-spaces and spheres"
        raise ArmdynError(where="obstacles", expected=expected, got=f"{obstacles!r:.60}")
    return tuple(one if isinstance(one, Box | HalfSpace | Sphere) else _box_between(one) for one in obstacles)


def _box_between(corners: Any) -> Box:
    try:
        low, high = np.asarray(corners, float).reshape(2, 3)
    except (TypeError, ValueError):
        raise LimitError(where="boxes", expected="two corners of three numbers", got=f"{corners!r:.60}") from None
    if not (np.isfinite([low, high]).all() and (low < high).all()):
        raise LimitError(where="boxes", expected="finite corners with lower < upper", got=f"{low} and {high}")
    return Box(transform(None, (low + high) / 2), high - low)


def mounting_plane(arm: Arm, floor: float | None = None) -> HalfSpace | None:
    """The half-space beyond the arm's mounting plane, named as gravity tells; None where the plane is unknown.

    Parameters
    ----------
    arm : Arm
    floor : float, optional
        Height of the plane along z of the base axes [m], in place of the arm's own.
    """
    if floor is not None:
        if isinstance(floor, bool) or not isinstance(floor, int | float | np.number) or not np.isfinite(floor):
            raise ArmdynError(where="floor", expected="a height in metres", got=f"{floor!r}")
        arm = arm.with_floor(float(floor))
    if arm.mounting_plane is None:
        return None
    x, y, z, offset = arm.mounting_plane
    normal = np.array([x, y, z])
    return HalfSpace(normal, offset, kind_of_mount(arm, normal))


def kind_of_mount(arm: Arm, normal: np.ndarray) -> str:
    """Floor, wall, ceiling, or plainly the mounting plane where there is no gravity."""
    g = np.linalg.norm(arm.gravity)
    if g == 0:
        return "mounting plane"
    up = -float(normal @ arm.gravity) / g
    return "floor" if up > STEEPEST_FLOOR_COSINE else "ceiling" if up < -STEEPEST_FLOOR_COSINE else "wall"
