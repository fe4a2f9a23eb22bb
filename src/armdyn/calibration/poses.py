"""Measured poses: joint positions, and what an instrument saw of the tip there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats, read_only
from armdyn.errors import DataError, ShapeError
from armdyn.frozen import Frozen
from armdyn.identification.logs.log import STILL_TRAVEL
from armdyn.model.arm import Arm
from armdyn.model.mechanism import require_chain
from armdyn.spatial.rotation import nearest_rotation


@dataclass(frozen=True, eq=False)
class Poses(Frozen):
    """Joint positions `q` (K, n), and at each of them `points` (K, M, 3) of the tool, or the tool's `poses` (K, 4, 4).

    Points and poses are in the axes of the instrument [m]; a marker that was not seen is NaN. Rows without joint
    positions or without any measurement are left out, and `rows` (K,) says which are left, from 0.
    """

    q: NDArray
    points: NDArray | None = None
    poses: NDArray | None = None
    name: str = "poses"
    path: Path | None = None
    notes: tuple[str, ...] = ()
    rows: NDArray | None = None
    sides: NDArray | None = None  # (K, n) from which each joint came to the pose: -1, 1, or 0 where it did not move

    def __post_init__(self) -> None:
        q = as_floats(self.q)
        if q.ndim != 2:
            raise ShapeError(where=self.name, expected="joint positions of shape (K, n)", got=q.shape)
        if (self.points is None) == (self.poses is None):
            expected = "points or poses"
            raise ShapeError(where=self.name, expected=expected, got="both" if self.points is not None else "none")
        points = None if self.points is None else _points(self.points, len(q), self.name)
        poses = None if self.poses is None else _poses(self.poses, len(q), self.name)
        is_measured = (
            np.isfinite(points).all(2).any(1) if points is not None else np.isfinite(np.asarray(poses)).all((1, 2))
        )
        keep = np.isfinite(q).all(1) & is_measured
        notes = self.notes
        if not keep.all():
            dropped = ", ".join(str(k + 1) for k in np.flatnonzero(~keep)[:8])
            notes = (
                *notes,
                f"{np.sum(~keep)} of {len(q)} poses lack joint positions or any measurement: left out (row {dropped})",
            )
        rows = np.arange(len(q)) if self.rows is None else np.asarray(self.rows)
        sides = _sides(q) if self.sides is None else as_floats(self.sides)
        self._set(
            q=read_only(q[keep]),
            points=None if points is None else read_only(points[keep]),
            poses=None if poses is None else read_only(poses[keep]),
            notes=notes,
            rows=read_only(rows[keep]),
            sides=read_only(sides[keep]),
        )

    def __len__(self) -> int:
        return len(self.q)

    @property
    def n_markers(self) -> int:
        """Number of points that are measured; 0 where poses are."""
        return 0 if self.points is None else self.points.shape[1]

    def select(self, which: ArrayLike) -> Poses:
        """Return some of the poses: a mask or indices (...,)."""
        which = np.asarray(which)
        points, poses = (None if x is None else x[which] for x in (self.points, self.poses))
        rows, sides = np.asarray(self.rows)[which], np.asarray(self.sides)[which]
        return Poses(self.q[which], points, poses, self.name, self.path, (), rows, sides)

    def require(self, arm: Arm) -> None:
        """Raise where these cannot be poses of the arm, or are of no use."""
        require_chain(arm, "calibration")
        if self.q.shape[1] != arm.n:
            cause = f"the poses have {self.q.shape[1]} joints, but arm '{arm.name}' has {arm.n}"
            remedy = "use the description of the arm that was measured, or name its base and tip"
            raise DataError(cause, where=self.name, remedy=remedy)
        if not len(self):
            cause = "no row has both joint positions and a measurement"
            remedy = "write what was measured into its columns, such as x, y, z"
            raise DataError(cause, where=self.name, remedy=remedy)
        if len(self) > 1 and not (np.ptp(self.q, axis=0) > STILL_TRAVEL).any():
            cause = "all poses are the same"
            raise DataError(cause, where=self.name, remedy="measure poses in which every joint moves")


def _sides(q: NDArray) -> NDArray:
    """Signs (K, n) of the joints' way from the row before."""
    way = np.nan_to_num(np.diff(q, axis=0, prepend=q[:1]))
    return np.where(np.abs(way) > STILL_TRAVEL, np.sign(way), 0.0)


def _points(points: ArrayLike, count: int, name: str) -> NDArray:
    array = as_floats(points)
    array = array[:, None] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[0] != count or array.shape[2] != 3:
        raise ShapeError(where=name, expected=f"points of shape ({count}, M, 3)", got=array.shape)
    return np.where(np.isfinite(array).all(2)[..., None], array, np.nan)


def _poses(poses: ArrayLike, count: int, name: str) -> NDArray:
    array = as_floats(poses)
    if array.shape != (count, 4, 4):
        raise ShapeError(where=name, expected=f"poses of shape ({count}, 4, 4)", got=array.shape)
    array = np.array(array)
    known = np.isfinite(array).all((1, 2))
    R = array[known, :3, :3]
    if (
        np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max(initial=0.0) > ROTATION_TOLERANCE
        or (np.linalg.det(R) < 0).any()
    ):
        raise ShapeError(where=name, expected="rotations", got="matrices that are not orthogonal with determinant 1")
    array[known, :3, :3] = nearest_rotation(R)
    array[~known] = np.nan
    return array


ROTATION_TOLERANCE = 1e-3  # matrices printed with four digits are rotations all the same
