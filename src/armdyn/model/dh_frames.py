"""Denavit-Hartenberg parameters of joint axes in space, and of any arm.

Source: ECE470 (2019), section 1.5. Consecutive axes are joined by their common
normals; along the chain screws about the axes (theta, d) and about the normals (alpha, a) take turns:

    base_pose  X_0  Z_1 X_1  Z_2 X_2 ... Z_n X_n  tool_pose,   Z = Rz(theta) Tz(d),  X = Tx(a) Rx(alpha)

The standard convention takes rows Z_i X_i (X_0 goes to the base), the modified one rows X_{i-1} Z_i
(X_n goes to the tool).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_vector, unit_vector
from armdyn.errors import ModelError, check_choice, quote
from armdyn.model.arm import Arm, Link
from armdyn.model.dh import CONVENTIONS, arm_from_dh, dh_transform
from armdyn.model.mechanism import require_chain
from armdyn.precision import ROUND_OFF, SOLUTION_ERROR
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import check_transform, inverse, transform

# Sine of the angle below which axes count as parallel. Calling axes at sine s parallel costs an error of s
# lengths, and their common normal suffers from round-off / s: the two meet at the root of 1e-16.
PARALLEL_SINE = np.sqrt(np.finfo(float).eps)


class DhRow(NamedTuple):
    """One row of a table; the joint variable is added to theta (R) or d (P). Lengths [m], angles [rad]."""

    kind: str
    a: float
    alpha: float
    d: float
    theta: float


@dataclass(frozen=True, eq=False)
class DhTable:
    """Denavit-Hartenberg parameters and the frames they stand for.

    `Arm.from_dh([row._asdict() for row in rows], convention, base_pose=..., tool_pose=...)` is the arm.
    """

    convention: str
    rows: tuple[DhRow, ...]
    base_pose: NDArray  # (4, 4), of frame 0
    tool_pose: NDArray  # (4, 4), of the tip in frame n
    frames: NDArray  # (n + 1, 4, 4), of frames 0 to n at joint positions zero
    cases: tuple[str, ...]  # how axes i and i + 1 lie: "skew", "intersecting" or "parallel"


class _Line(NamedTuple):
    """A point and a unit direction."""

    point: NDArray
    direction: NDArray


class _Normal(NamedTuple):
    """A common normal: its direction and its feet on the previous and on the next axis."""

    x: NDArray
    previous: NDArray
    next: NDArray
    case: str


def dh_frames(
    axes: Sequence[tuple[ArrayLike, ArrayLike]],
    kinds: str | Sequence[str] | None = None,
    *,
    base: ArrayLike | None = None,
    tip: ArrayLike | None = None,
    convention: str = "standard",
) -> DhTable:
    """Frames and Denavit-Hartenberg parameters of a chain of joint axes.

    Parameters
    ----------
    axes : sequence of (point, direction)
        Two vectors (3,) a joint, from the base, at joint positions zero: a point of the axis [m]
        and the direction about which the joint turns, or along which it slides, positively.
    kinds : sequence of "R" or "P"
        Default all "R".
    base, tip : array_like, shape (4, 4)
        Pose of the frame that the table should start from, and of the tip at joint positions zero.
        Default: the origin's frame, and no tool.
    convention : "standard" or "modified"

    Returns
    -------
    DhTable

    Notes
    -----
    The procedure's free choices are made so: normals of skew axes point from the previous axis to
    the next, those of intersecting axes are within a right angle of the previous normal; parallel
    axes are joined where d is zero; frame 0 is `base` and frame n is `tip` if the rules allow it,
    else they lie as near to them as the axes let them.
    """
    check_choice("dh_frames", "convention", convention, CONVENTIONS, ModelError)
    lines = [_line(axis, i) for i, axis in enumerate(axes, start=1)]
    if not lines:
        raise ModelError(where="dh_frames", expected="at least one axis", got="none")
    kinds = ["R"] * len(lines) if kinds is None else list(kinds)
    if len(kinds) != len(lines) or any(kind not in ("R", "P") for kind in kinds):
        raise ModelError(where="dh_frames", expected=f"'R' or 'P' for each of {len(lines)} axes", got=quote(kinds))
    T_base = np.eye(4) if base is None else check_transform(base, "dh_frames: base")
    size = 1.0 + max(float(np.abs(line.point - T_base[:3, 3]).max()) for line in lines)

    start, T_start = _start(T_base, lines[0], size)
    normals = [start]
    for previous, following in pairwise(lines):
        normals.append(_common_normal(previous, following, normals[-1], size))
    T_tip = None if tip is None else check_transform(tip, "dh_frames: tip")
    end, z_end = _end(T_tip, lines[-1], normals[-1], size)
    normals.append(end)

    directions = [T_start[:3, 2], *(line.direction for line in lines), z_end]
    x_screws = [
        _screw(normal.x, normal.next - normal.previous, *turn, size)
        for normal, turn in zip(normals, pairwise(directions), strict=True)
    ]
    z_screws = [
        _screw(line.direction, after.previous - before.next, before.x, after.x, size)
        for (before, after), line in zip(pairwise(normals), lines, strict=True)
    ]
    # The screws are dealt out to rows, base and tool.
    standard = convention == "standard"
    base_pose = T_start @ dh_transform(*x_screws[0], 0.0, 0.0) if standard else T_start
    x_of_rows = x_screws[1:] if standard else x_screws[:-1]
    rows = tuple(DhRow(kind, *x, *z) for kind, x, z in zip(kinds, x_of_rows, z_screws, strict=True))
    frames = [base_pose]
    for row in rows:
        frames.append(frames[-1] @ dh_transform(row.a, row.alpha, row.d, row.theta, convention))
    tool_pose = np.eye(4) if T_tip is None else inverse(frames[-1]) @ T_tip
    if np.abs(tool_pose - np.eye(4)).max() <= len(rows) * ROUND_OFF:
        tool_pose = np.eye(4)
    cases = tuple(normal.case for normal in normals[1:-1])
    return DhTable(convention, rows, base_pose, tool_pose, np.array(frames), cases)


def dh_parameters(arm: Arm, convention: str = "standard") -> DhTable:
    """Denavit-Hartenberg parameters of any arm; joint positions keep their meaning.

    Angles that were rounded in a URDF make nearly parallel axes, whose common normals lie far away:
    load such a file with `snap=1e-4`.

    Parameters
    ----------
    arm : Arm
    convention : "standard" or "modified"

    Returns
    -------
    DhTable
    """
    require_chain(arm, "dh_parameters")
    at_joint, _, tip = _at_zero(arm)
    axes = [(T[:3, 3], T[:3, :3] @ joint.axis) for T, joint in zip(at_joint, arm.joints, strict=True)]
    kinds = ["R" if joint.kind == "revolute" else "P" for joint in arm.joints]
    return dh_frames(axes, kinds, base=arm.base_pose, tip=tip, convention=convention)


def as_dh(arm: Arm, convention: str = "standard") -> Arm:
    """The same arm with its links described in Denavit-Hartenberg frames of a `convention`.

    Torques, joint positions, tip and names are those of `arm`; `theta` is expressed in the new frames.
    """
    require_chain(arm, "as_dh")
    table = dh_parameters(arm, convention)
    _, links, _ = _at_zero(arm)
    framed = arm_from_dh([row._asdict() for row in table.rows], convention=convention)
    joints = tuple(
        dataclasses.replace(joint, axis=new.axis, before=new.before, after=new.after)
        for joint, new in zip(arm.joints, framed.joints, strict=True)
    )
    moved = tuple(
        Link(link.name, link.inertia.moved(inverse(frame) @ T))
        for link, frame, T in zip(arm.links, table.frames[1:], links, strict=True)
    )
    return dataclasses.replace(
        arm, joints=joints, links=moved, base_pose=table.base_pose, tool_pose=table.tool_pose, source=None
    )


def plainest(arm: Arm, moving_zeros: bool) -> tuple[Arm, NDArray]:
    """Return the description from which formulas have the fewest operations, and angles (n,) to add to positions.

    Frames by Craig's rules turn about two axes from link to link, whatever the description; with `moving_zeros`, what
    the zero of a revolute joint adds to the first of them is added to the joint position instead. Trees, and arms with
    joints that follow others, are as they are.
    """
    zeros = np.zeros(arm.n)
    if not arm.is_chain:
        return arm, zeros
    framed, joints = as_dh(arm, "modified"), []
    for i, (joint, row) in enumerate(zip(framed.joints, dh_parameters(arm, "modified").rows, strict=True)):
        quarters = row.theta / (np.pi / 2)
        if moving_zeros and joint.kind == "revolute" and abs(quarters - round(quarters)) > ROUND_OFF:
            zeros[i] = row.theta
            joint = dataclasses.replace(joint, before=dh_transform(row.a, row.alpha, row.d, 0.0, "modified"))
        joints.append(joint)
    size = max(1.0, sum(float(np.linalg.norm(joint.before[:3, 3])) for joint in framed.joints))
    links = tuple(Link(link.name, Inertia(_without_round_off(link.inertia, size))) for link in framed.links)
    return dataclasses.replace(framed, joints=tuple(joints), links=links), zeros


def _without_round_off(body: Inertia, size: float) -> NDArray:
    """Ten parameters without the round-off that moving them within an arm of some size leaves.

    Moments that are nothing but round-off are zero, and those that differ by it are equal; others stay as they are.
    """
    theta, mass = np.array(body.theta), abs(body.mass)
    for part, lever in ((slice(1, 4), size), (slice(4, 10), size**2)):
        within = SOLUTION_ERROR * max(float(np.abs(theta[part]).max()), mass * lever)
        moments = theta[part]
        moments[np.abs(moments) < within] = 0.0
        for k in range(1, len(moments)):
            same = np.flatnonzero(np.abs(moments[:k] - moments[k]) < within)
            moments[k] = moments[same[0]] if len(same) else moments[k]
    return theta


def _at_zero(arm: Arm) -> tuple[list[NDArray], list[NDArray], NDArray]:
    """Poses of the joints' frames, of the links and of the tip at joint positions zero."""
    T = arm.base_pose
    at_joint, links = [], []
    for joint in arm.joints:
        at_joint.append(T @ joint.before)
        T = at_joint[-1] @ joint.after
        links.append(T)
    return at_joint, links, T @ arm.tool_pose


def _line(axis: tuple[ArrayLike, ArrayLike], i: int) -> _Line:
    try:
        point, direction = axis
    except (TypeError, ValueError):
        raise ModelError(where=f"dh_frames: axis {i}", expected="a point and a direction", got=quote(axis)) from None
    where = f"dh_frames: axis {i}: the"
    return _Line(finite_vector(point, 3, f"{where} point"), unit_vector(direction, f"{where} direction"))


def _common_normal(previous: _Line, following: _Line, before: _Normal, size: float) -> _Normal:
    """The three cases of step 3: (a) not coplanar, (b) intersecting, (c) parallel."""
    z, z_next = previous.direction, following.direction
    cross = np.cross(z, z_next)
    sine = np.linalg.norm(cross)
    if sine < PARALLEL_SINE:
        # (c): through the point where the previous normal meets the axis, so that d is zero
        foot = _foot(before.next, following)
        return _Normal(_direction(foot - before.next, z, before.x, size), before.next, foot, "parallel")
    x = cross / sine
    # Feet of the common normal: p + s z, with s = ((p' - p) x z') . x / sine
    gap = following.point - previous.point
    on_previous = previous.point + z * (np.cross(gap, z_next) @ x) / sine
    on_next = following.point + z_next * (np.cross(gap, z) @ x) / sine
    if abs(gap @ x) <= SOLUTION_ERROR * size:
        # (b): of the two normals of the plane the one nearer to the previous x, so that theta is small
        x = -x if x @ before.x < -ROUND_OFF else x
        return _Normal(x, on_previous, on_next, "intersecting")
    return _Normal(x * np.sign(gap @ x), on_previous, on_next, "skew")  # (a)


def _start(T_base: NDArray, first: _Line, size: float) -> tuple[_Normal, NDArray]:
    """Normal 0 and the frame it starts from: the base itself if its x axis meets the first axis squarely."""
    origin, x = T_base[:3, 3], T_base[:3, 0]
    if (foot := _square_foot(origin, x, first, size)) is not None:
        return _Normal(x, origin, foot, "base"), T_base
    foot = _foot(origin, first)
    x = _across(first.direction, x, T_base[:3, 1])
    return _Normal(x, foot, foot, "base"), _frame(x, first.direction, foot)


def _end(T_tip: NDArray | None, last: _Line, before: _Normal, size: float) -> tuple[_Normal, NDArray]:
    """Normal n and the direction of z_n: the tip's if its x axis meets the last axis squarely."""
    if T_tip is None:
        return _Normal(before.x, before.next, before.next, "tip"), last.direction
    origin, x = T_tip[:3, 3], T_tip[:3, 0]
    if (foot := _square_foot(origin, x, last, size)) is not None:
        return _Normal(x, foot, origin, "tip"), T_tip[:3, 2]
    foot = _foot(origin, last)
    return _Normal(_across(last.direction, x, before.x), foot, foot, "tip"), last.direction


def _square_foot(origin: NDArray, x: NDArray, line: _Line, size: float) -> NDArray | None:
    """The point of `line` that lies on the line through `origin` along `x`, if they meet at a right angle."""
    foot = _foot(origin, line)
    to_line = foot - origin
    meets = np.abs(to_line - (to_line @ x) * x).max() <= ROUND_OFF * size
    return foot if meets and abs(x @ line.direction) <= ROUND_OFF else None


def _foot(point: NDArray, line: _Line) -> NDArray:
    """The point of a line nearest to `point`."""
    return line.point + ((point - line.point) @ line.direction) * line.direction


def _direction(step: NDArray, z: NDArray, otherwise: NDArray, size: float) -> NDArray:
    """The direction of `step`, across z; another direction if the step is nothing."""
    length = np.linalg.norm(step)
    return _across(z, otherwise, otherwise) if length <= SOLUTION_ERROR * size else _across(z, step, step)


def _across(z: NDArray, x: NDArray, otherwise: NDArray) -> NDArray:
    """The unit vector across z nearest to x, or to `otherwise` if x lies along z."""
    for v in (x, otherwise, np.eye(3)[np.argmin(np.abs(z))]):
        across = v - (v @ z) * z
        if np.linalg.norm(across) > PARALLEL_SINE * np.linalg.norm(v):
            across = across / np.linalg.norm(across)
            across = across - (across @ z) * z  # once more: the first pass may cancel digits
            return across / np.linalg.norm(across)
    raise AssertionError("an axis of the frame lies across any direction")


def _frame(x: NDArray, z: NDArray, origin: NDArray) -> NDArray:
    return transform(np.column_stack([x, np.cross(z, x), z]), origin)


def _screw(about: NDArray, step: NDArray, u: NDArray, v: NDArray, size: float) -> tuple[float, float]:
    """Length of a step along a direction, and the angle from u to v about it: a and alpha, or d and theta."""
    length = float(step @ about)
    return 0.0 if abs(length) <= ROUND_OFF * size else length, _angle(u, v, about)


def _angle(u: NDArray, v: NDArray, about: NDArray) -> float:
    """The angle from u to v about a direction across both, in (-pi, pi]; right angles are exact."""
    angle = float(np.arctan2(np.cross(u, v) @ about, u @ v))
    right = round(angle / (np.pi / 2)) * (np.pi / 2)
    angle = right if abs(angle - right) < ROUND_OFF else angle
    return angle + 2 * np.pi if angle <= -np.pi else angle + 0.0
