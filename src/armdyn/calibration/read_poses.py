"""Measured poses from files: CSV, NPZ and JSON, columns by name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.pose_columns import ANGLES, LENGTHS, PoseColumn, pose_columns
from armdyn.calibration.poses import Poses
from armdyn.calibration.start import as_points, linear_start
from armdyn.errors import ArmdynError, ReadError, check_choice, reads_file
from armdyn.files import parse_json, read_arrays, read_text
from armdyn.identification.logs.guess_columns import numbered
from armdyn.identification.logs.read_csv import read_csv
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.spatial.rotation import from_axis_angle, from_quaternion, from_rpy, from_zyz
from armdyn.spatial.transform import inverse
from armdyn.trace.backend import interpreting

TEXT = (".csv", ".txt", ".tsv", ".dat")
CAMERAS = ("fixed", "tool")


def _from_vector(v: NDArray) -> NDArray:
    angle = np.linalg.norm(v, axis=-1)
    axis = np.where(angle[:, None] > 0, v, (0.0, 0.0, 1.0))
    return from_axis_angle(axis, angle)


class Convention(NamedTuple):
    """Names of columns for a rotation, and what they mean."""

    names: tuple[str, ...]
    rotation: Callable[[NDArray], NDArray]
    angles: bool = True


CONVENTIONS = {
    "quaternion": Convention(("qx", "qy", "qz", "qw"), lambda x: from_quaternion(x[:, [3, 0, 1, 2]]), False),
    "roll, pitch, yaw about fixed axes": Convention(("roll", "pitch", "yaw"), from_rpy),
    "rotation vector": Convention(("rx", "ry", "rz"), _from_vector),
}
# Names that say nothing of the convention: it is the one of these with which the poses fit the arm.
UNNAMED = (("a", "b", "c"), ("phix", "phiy", "phiz"), ("alpha", "beta", "gamma"), ("ex", "ey", "ez"))
CANDIDATES = {
    "roll, pitch, yaw about fixed axes": from_rpy,
    "turns about x, then the new y, then the new z": lambda v: from_rpy(-v).swapaxes(-1, -2),
    "turns about z, then the new y, then the new x": lambda v: from_rpy(v[:, ::-1]),
    "turns about z, then the new y, then the new z": from_zyz,
    "rotation vector": _from_vector,
}


@reads_file
def read_poses(
    path: str | os.PathLike[str],
    arm: Arm | None = None,
    *,
    angle: str = "rad",
    length: str = "m",
    camera: str = "fixed",
) -> Poses:
    """Read joint positions and what was measured there.

    Parameters
    ----------
    path : str or path
        `.csv` (.txt, .tsv, .dat), `.npz` or `.json`. Columns: the joints' names or q1..qn, or positions as `read_log`
        understands them; then x, y, z (one point), x1, y1, z1, x2, ... (several), or x, y, z with qx, qy, qz, qw,
        with roll, pitch, yaw or with rx, ry, rz (a rotation vector). Units may stand behind names: `q1_deg`,
        `x [mm]`. An empty cell is a marker that was not seen. NPZ and JSON also take arrays q (K, n) with points
        (K, M, 3) or poses (K, 4, 4).
    arm : Arm, optional
        Tells the joints' names, and which convention angles have whose names do not tell (a, b, c).
    angle : {"rad", "deg"}
        Unit of joints and angles in columns without a unit.
    length : {"m", "cm", "mm", "um", "in"}
        Unit of points and sliding joints in columns without a unit.
    camera : {"fixed", "tool"}
        "tool": the poses are those of something fixed seen from the hand, and are inverted.

    Returns
    -------
    Poses
    """
    check_choice("read_poses", "angle", angle, ANGLES)
    check_choice("read_poses", "length", length, LENGTHS)
    check_choice("read_poses", "camera", camera, CAMERAS)
    if not isinstance(path, str | os.PathLike):
        remedy = "Poses(q, points) takes arrays"
        raise ArmdynError(where="read_poses", expected="the path of a file", got=f"{path!r:.60}", remedy=remedy)
    path = Path(path)
    columns, arrays, notes = _columns(path, () if arm is None else arm.joint_names)
    units = (ANGLES[angle], LENGTHS[length])
    slides = np.array([joint.kind == "prismatic" for joint in arm.joints]) if arm is not None else np.zeros(0, bool)
    if arrays:
        q, points, poses = _whole_arrays(arrays, units, slides, path)
    else:
        joints = () if arm is None else arm.joint_names
        table = _Table(pose_columns(columns, joints, str(path)), units, path)
        q = table.joints(arm, slides)
        points, poses = table.measurements(arm, q, notes)
    if camera == "tool":
        if poses is None:
            cause = "a camera on the tool measures poses, but the file holds points"
            raise ReadError(cause, path=path, remedy="name the angles' columns")
        known = np.isfinite(poses).all((1, 2))
        poses = np.where(known[:, None, None], inverse(np.where(known[:, None, None], poses, np.eye(4))), np.nan)
    return Poses(q, points, poses, path.name, path, tuple(notes))


def _columns(path: Path, joints: tuple[str, ...]) -> tuple[dict[str, NDArray], dict[str, NDArray], list[str]]:
    """Columns by name, or whole arrays where the file holds q as a matrix, and notes."""
    suffix = path.suffix.lower()
    if suffix in TEXT:
        columns, notes = read_csv(path, joints, ())
        return columns, {}, notes
    if suffix == ".npz":
        arrays = read_arrays(path)
    elif suffix == ".json":
        arrays = _json_arrays(path)
    else:
        raise ReadError(path=path, expected="measured poses as .csv, .npz or .json", got=f"'{suffix}'")
    return (arrays, {}, []) if np.ndim(arrays.get("q", 0)) != 2 else ({}, arrays, [])


def _json_arrays(path: Path) -> dict[str, NDArray]:
    try:
        document: Any = parse_json(read_text(path))
        if isinstance(document, list):  # one object a pose
            document = {name: [row.get(name) for row in document] for name in document[0]}
        return {name: np.array(x, dtype=float) for name, x in document.items() if isinstance(x, list)}
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise ReadError(path=path, expected=f"arrays of numbers by name, or a list of poses ({error})") from None


def _whole_arrays(
    arrays: Mapping[str, NDArray], units: tuple[float, float], slides: NDArray, path: Path
) -> tuple[NDArray, NDArray | None, NDArray | None]:
    q = np.asarray(arrays["q"], float)
    slides = slides if len(slides) == q.shape[1] else np.zeros(q.shape[1], bool)
    q = q * np.where(slides, units[1], units[0])
    if "poses" in arrays:
        poses = np.array(arrays["poses"], float)
        if poses.shape != (len(q), 4, 4):
            raise ReadError(path=path, expected=f"poses of shape ({len(q)}, 4, 4)", got=poses.shape)
        poses[:, :3, 3] *= units[1]
        return q, None, poses
    if "points" not in arrays:
        raise ReadError(path=path, expected="points or poses beside q", got=", ".join(arrays))
    points = np.asarray(arrays["points"], float)
    return q, points.reshape(len(q), -1, 3) * units[1], None


class _Table:
    """Columns by plain name, in SI units."""

    def __init__(self, columns: Mapping[str, PoseColumn], units: tuple[float, float], path: Path) -> None:
        self.path, self.units, self.columns = path, units, columns

    def take(self, name: str, factor: float) -> NDArray:
        column = self.columns[name]
        return column.values * (factor if column.factor is None else column.factor)

    def joints(self, arm: Arm | None, slides: NDArray) -> NDArray:
        """Joint positions (K, n) by the arm's names, or q1..qn."""
        numbers = sorted(int(name[1:]) for name in self.columns if re.fullmatch(r"q\d+", name))
        if arm is not None and all(name in self.columns for name in arm.joint_names):
            names = list(arm.joint_names)
        elif numbers and numbers[0] < 2 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            names = [f"q{k}" for k in numbers]
        else:
            wanted = "q1..qn" if arm is None else f"q1..q{arm.n} or {', '.join(arm.joint_names)}"
            there = [column.name for column in self.columns.values()]
            got = "a table without names" if there == numbered(len(there)) else ", ".join(there)
            raise ReadError(path=self.path, expected=f"columns {wanted}", got=got, remedy="name them in the first line")
        slides = slides if len(slides) == len(names) else np.zeros(len(names), bool)
        pairs = zip(names, slides, strict=True)
        return np.stack([self.take(name, self.units[1 if slide else 0]) for name, slide in pairs], axis=1)

    def measurements(self, arm: Arm | None, q: NDArray, notes: list[str]) -> tuple[NDArray | None, NDArray | None]:
        """Points (K, M, 3) or poses (K, 4, 4)."""
        if not {"x", "y", "z"} <= set(self.columns):
            numbers = sorted(int(name[1:]) for name in self.columns if re.fullmatch(r"x\d+", name))
            triples = [[f"{axis}{k}" for axis in "xyz"] for k in numbers]
            lacking = [name for triple in triples for name in triple if name not in self.columns]
            if lacking or not triples:
                missing = ", ".join(lacking) or "x, y, z"
                expected = "x, y, z (one point) or x1, y1, z1, x2, ... (several points)"
                raise ReadError(f"no columns {missing}", path=self.path, expected=expected)
            return np.stack([self._triple(triple) for triple in triples], axis=1), None
        position = self._triple(["x", "y", "z"])
        for convention in CONVENTIONS.values():
            if set(convention.names) <= set(self.columns):
                factor = self.units[0] if convention.angles else 1.0
                numbers_ = np.stack([self.take(name, factor) for name in convention.names], axis=1)
                return None, _assemble(position, numbers_, convention.rotation)
        for names in UNNAMED:
            if set(names) <= set(self.columns):
                angles = np.stack([self.take(name, self.units[0]) for name in names], axis=1)
                return None, self._by_fit(arm, q, position, angles, notes)
        return position[:, None], None

    def _triple(self, names: list[str]) -> NDArray:
        return np.stack([self.take(name, self.units[1]) for name in names], axis=1)

    def _by_fit(self, arm: Arm | None, q: NDArray, position: NDArray, angles: NDArray, notes: list[str]) -> NDArray:
        """Poses in the convention with which they fit the arm best."""
        if arm is None:
            cause = "the names of the angles do not tell their convention"
            raise ReadError(cause, path=self.path, remedy="give the arm, or rename them")
        poses = {name: _assemble(position, angles, rotation) for name, rotation in CANDIDATES.items()}
        known = np.isfinite(next(iter(poses.values()))).all((1, 2)) & np.isfinite(q).all(1)
        with interpreting():
            tips = np.asarray(forward_kinematics(arm, q[known]))
        rms = {name: linear_start(tips, as_points(Poses(q[known], poses=T[known]))).rms for name, T in poses.items()}
        best = min(rms, key=lambda name: rms[name])
        notes.append(f"the angles are read as {best}: so the poses fit the arm best")
        return poses[best]


def _assemble(position: NDArray, numbers: NDArray, rotation: Callable[[NDArray], NDArray]) -> NDArray:
    known = np.isfinite(position).all(1) & np.isfinite(numbers).all(1)
    poses = np.full((len(position), 4, 4), np.nan)
    poses[known] = np.eye(4)
    poses[known, :3, 3] = position[known]
    poses[known, :3, :3] = rotation(numbers[known])
    return poses
