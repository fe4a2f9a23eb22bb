"""Paths of the tip through space: straight lines, circles, turns on the spot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_vector
from armdyn.errors import ShapeError, expect
from armdyn.spatial.rotation import from_axis_angle, to_axis_angle
from armdyn.spatial.transform import check_transform


class PathPoint(NamedTuple):
    """Pose (..., 4, 4) at distances (...) along a path, and how it changes there.

    `tangent` (..., 6) is [velocity, angular velocity] in base axes per unit of distance, `bend` (..., 6)
    its derivative.
    """

    pose: NDArray
    tangent: NDArray
    bend: NDArray


class TipPath(Protocol):
    """A path of the tip by its distance s: `pose, tangent, bend = path(s)` for 0 <= s <= length."""

    @property
    def length(self) -> float: ...  # noqa: D102
    def __call__(self, s: ArrayLike) -> PathPoint: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Line:
    """A straight line at even pace, the orientation turning about one axis (slerp).

    Parameters
    ----------
    start, end : array_like, shape (4, 4)
        Poses in base axes. With equal positions the tip turns on the spot.
    """

    start: NDArray
    end: NDArray
    _turn: NDArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, check_transform(getattr(self, name), f"Line: {name}"))
        axis, angle = to_axis_angle(self.end[:3, :3] @ self.start[:3, :3].T)
        object.__setattr__(self, "_turn", axis * angle)
        if not self.length > 0:
            raise ShapeError("start and end are the same pose", where="Line", expected="two different ones")

    @property
    def length(self) -> float:
        """Distance [m]; the angle [rad] of a turn on the spot."""
        distance = float(np.linalg.norm(self.end[:3, 3] - self.start[:3, 3]))
        return distance if distance > 0 else float(np.linalg.norm(self._turn))

    def __call__(self, s: ArrayLike) -> PathPoint:
        """Pose and its derivatives at distances s."""
        s = np.asarray(s, float)
        direction = np.concatenate([self.end[:3, 3] - self.start[:3, 3], self._turn]) / self.length
        position = self.start[:3, 3] + s[..., None] * direction[:3]
        rotation = _rotate(direction[3:], s) @ self.start[:3, :3]
        tangent = np.broadcast_to(direction, (*s.shape, 6))
        return PathPoint(_poses(rotation, position), tangent, np.zeros_like(tangent))


@dataclass(frozen=True, eq=False)
class Circle:
    """An arc about a fixed axis.

    Parameters
    ----------
    start : array_like, shape (4, 4)
        Pose in base axes.
    center, axis : array_like, shape (3,)
        A point on the axis, and its direction.
    angle : float
        How far to go, counterclockwise about the axis [rad].
    turning : bool
        Whether the tip turns with the circle; else it keeps its orientation.
    """

    start: NDArray
    center: NDArray
    axis: NDArray
    angle: float = 2 * np.pi
    turning: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check_transform(self.start, "Circle: start"))
        for name in ("center", "axis"):
            object.__setattr__(self, name, finite_vector(getattr(self, name), 3, f"Circle: {name}", ShapeError))
        size = np.linalg.norm(self.axis)
        if not size > 0:
            raise ShapeError("the axis has length zero", where="Circle", expected="a direction")
        object.__setattr__(self, "axis", self.axis / size)
        fits = np.isfinite(self.angle) and self.angle != 0 and self.radius > 0
        expect(fits, "Circle", "an angle other than 0 and a start off the axis", got=f"{self.angle!r} rad")

    @property
    def _spoke(self) -> NDArray:
        """Vector from the axis to the start."""
        out = self.start[:3, 3] - self.center
        return out - self.axis * (self.axis @ out)

    @property
    def radius(self) -> float:
        """Distance from the axis [m]."""
        return float(np.linalg.norm(self._spoke))

    @property
    def length(self) -> float:
        """Length of the arc [m]."""
        return self.radius * abs(self.angle)

    def __call__(self, s: ArrayLike) -> PathPoint:
        """Pose and its derivatives at distances s."""
        s = np.asarray(s, float)
        rate = self.axis * (np.sign(self.angle) / self.radius)
        R = _rotate(rate, s)
        spoke = (R @ self._spoke[:, None])[..., 0]
        position = self.start[:3, 3] + spoke - self._spoke
        rotation = R @ self.start[:3, :3] if self.turning else np.broadcast_to(self.start[:3, :3], R.shape)
        w = np.broadcast_to(rate if self.turning else np.zeros(3), spoke.shape)
        tangent = np.concatenate([np.cross(rate, spoke), w], -1)
        bend = np.concatenate([-spoke / self.radius**2, np.zeros_like(w)], -1)
        return PathPoint(_poses(rotation, position), tangent, bend)


def _rotate(rate: NDArray, s: NDArray) -> NDArray:
    """Rotations (..., 3, 3) after distances s about a rotation vector per unit of distance."""
    size = np.linalg.norm(rate)
    if size == 0:
        return np.broadcast_to(np.eye(3), (*s.shape, 3, 3))
    return from_axis_angle(np.broadcast_to(rate, (*s.shape, 3)), s * size)


def _poses(rotation: NDArray, position: NDArray) -> NDArray:
    T = np.zeros((*position.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = rotation, position, 1.0
    return T
