"""Forward kinematics: where the links and the tip are."""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.errors import ShapeError, check_choice
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.trace.formula import Array, Symbol, ca, traced

AXES = ("base", "tip")
Frame = tuple[Symbol, Symbol]  # rotation and origin, in base axes


def link_frames(arm: Arm, q: Any) -> list[Frame]:
    """Symbols: rotation and origin of every link frame in base axes."""
    R, p = ca.SX.eye(3), ca.SX.zeros(3)
    frames = []
    for m in motions(arm, q):
        # T_B,i = T_B,i-1 before motion after; rows of R turn like parent vectors: R' = (to_link R_row)'
        p = p + ca.mtimes(R, m.before)
        R = ca.horzcat(*(m.to_link(R[row, :].T) for row in range(3))).T
        p = p + ca.mtimes(R, m.offset)
        frames.append((R, p))
    return frames


def tip_frame(arm: Arm, q: Any) -> Frame:
    """Symbols: rotation and origin of the tip frame in base axes."""
    return on_last_link(arm, link_frames(arm, q))


def on_last_link(arm: Arm, frames: list[Frame]) -> Frame:
    """The tip frame from those of the links."""
    (R, p), (R_tool, p_tool) = frames[-1], arm.tool
    return ca.mtimes(R, R_tool), p + ca.mtimes(R, p_tool)


def homogeneous(R: Any, p: Any) -> Any:
    """The 4x4 symbol of a rotation and a translation."""
    return ca.vertcat(ca.horzcat(R, p), ca.SX([[0, 0, 0, 1]]))


@traced(returns={"pose": "4, 4"})
def forward_kinematics(arm: Arm, q: Q) -> Array:
    """Pose of the tip in base axes.

    Returns
    -------
    pose
        `base_pose @ T_1(q_1) @ ... @ T_n(q_n) @ tool_pose`.
    """
    return homogeneous(*tip_frame(arm, q))


@traced(returns={"poses": "n, 4, 4"})
def link_poses(arm: Arm, q: Q) -> Array:
    """Poses of all link frames in base axes.

    Returns
    -------
    poses
        The tip is not among them; see `forward_kinematics`. Symbols give a list of matrices.
    """
    poses: Any = [homogeneous(R, p) for R, p in link_frames(arm, q)]
    return poses


# -- which point and axes a Jacobian or a velocity is about: the tip, or a point of a link -----------------------


class Carried(NamedTuple):
    """A point that the arm carries: axes of the tip (or the link), the point's position, and what moves it."""

    R: Symbol
    p: Symbol
    joints: list[tuple[Motion, Frame]]  # each with the frame of its link


def carried_point(arm: Arm, q: Symbol, point: Symbol | None, link: Any, what: str) -> Carried:
    """Symbols: the tip's origin, or that of a link, or a point fixed in either, in base axes."""
    index, frames = link_index(arm, link, what), link_frames(arm, q)
    R, p = on_last_link(arm, frames) if link is None else frames[index]
    moving = list(zip(motions(arm, q), frames, strict=True))[: index + 1]
    return Carried(R, p if point is None else p + ca.mtimes(R, point), moving)


def link_index(arm: Arm, link: Any, what: str) -> int:
    """The link that carries the point, counted from 0; the last one carries the tip."""
    if link is None:
        return arm.n - 1
    if isinstance(link, str):
        hint = f"arm.link_names.index({link!r})" if link in arm.link_names else f"links: {', '.join(arm.link_names)}"
        raise ShapeError(f"{what}: expected link as a number from 0 to {arm.n - 1}, got {link!r}; {hint}")
    if not isinstance(link, int) or not -arm.n <= link < arm.n:
        raise ShapeError(f"{what}: expected link from 0 to {arm.n - 1} for arm '{arm.name}', got {link!r}")
    return link % arm.n


def in_axes(R: Symbol, columns: Symbol, axes: str, what: str) -> Symbol:
    """[linear; angular] columns in base axes, turned into the axes asked for."""
    check_choice(what, "axes", axes, AXES, ShapeError)
    if axes == "base":
        return columns
    return ca.vertcat(ca.mtimes(R.T, columns[:3, :]), ca.mtimes(R.T, columns[3:, :]))
