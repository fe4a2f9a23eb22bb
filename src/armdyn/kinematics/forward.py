"""Forward kinematics: where the links and the tip are."""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.errors import ShapeError, check_choice
from armdyn.kinematics.motion import Motion, motions, path
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.precision import ROUND_OFF
from armdyn.spatial.transform import exact
from armdyn.trace.formula import Array, Symbol, ca, traced

AXES = ("base", "tip")
Frame = tuple[Symbol, Symbol]  # rotation and origin, in base axes


def link_frames(arm: Arm, q: Any) -> list[Frame]:
    """Symbols: rotation and origin of every link frame in base axes."""
    base = (ca.SX.eye(3), ca.SX.zeros(3))
    frames: list[Frame] = []
    for m in motions(arm, q):
        R, p = base if m.parent < 0 else frames[m.parent]
        # T_B,i = T_B,i-1 before motion after; rows of R turn like parent vectors: R' = (to_link R_row)'
        p = p + ca.mtimes(R, m.before)
        R = ca.horzcat(*(m.to_link(R[row, :].T) for row in range(3))).T
        p = p + ca.mtimes(R, m.offset)
        frames.append((R, p))
    return frames


def tip_frame(arm: Arm, q: Any) -> Frame:
    """Symbols: rotation and origin of the tip frame in base axes."""
    return at_tip(arm, link_frames(arm, q))


def at_tip(arm: Arm, frames: list[Frame]) -> Frame:
    """The tip frame from those of the links."""
    (R, p), (R_tool, p_tool) = frames[arm.tip_index], arm.tool
    return ca.mtimes(R, R_tool), p + ca.mtimes(R, p_tool)


def named_frame(arm: Arm, frames: list[Frame], name: str | None) -> Frame:
    """The frame `name` from those of the links; None is the tip."""
    if name is None:
        return at_tip(arm, frames)
    index, pose = arm.frame(name)
    R, p = frames[index]
    return ca.mtimes(R, exact(pose[:3, :3], ROUND_OFF)), p + ca.mtimes(R, exact(pose[:3, 3], ROUND_OFF))


def homogeneous(R: Any, p: Any) -> Any:
    """The 4x4 symbol of a rotation and a translation."""
    return ca.vertcat(ca.horzcat(R, p), ca.SX([[0, 0, 0, 1]]))


@traced(returns={"pose": "4, 4"})
def forward_kinematics(arm: Arm, q: Q, frame: str | None = None) -> Array:
    """Pose of the tip, or of another frame, in base axes.

    Parameters
    ----------
    frame : str, optional
        Name of a frame of the arm (`arm.frames`), or of a link; default the tip.

    Returns
    -------
    pose
        Of a chain's tip `base_pose @ T_1(q_1) @ ... @ T_n(q_n) @ tool_pose`.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.forward_kinematics(arm, [0.0, 0.0])[:3, 3].round(3)
    array([0.75, 0.  , 0.  ])
    >>> armdyn.forward_kinematics(arm, np.zeros((1000, 2))).shape
    (1000, 4, 4)
    """
    return homogeneous(*named_frame(arm, link_frames(arm, q), frame))


@traced(returns={"poses": "joints, 4, 4"})
def link_poses(arm: Arm, q: Q) -> Array:
    """Poses of all link frames in base axes.

    Returns
    -------
    poses
        The tip is not among them; see `forward_kinematics`. Symbols give a list of matrices.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.link_poses(arm, [0.0, 0.0]).shape
    (2, 4, 4)
    """
    poses: Any = [homogeneous(R, p) for R, p in link_frames(arm, q)]
    return poses


# -- which point and axes a Jacobian or a velocity is about: the tip, or a point of a link -----------------------


class Carried(NamedTuple):
    """A point that the arm carries: axes of the tip (or the link), the point's position, and what moves it."""

    R: Symbol
    p: Symbol
    joints: dict[int, tuple[Motion, Frame]]  # by index, from the base outward, each with the frame of its link


def carried_point(arm: Arm, q: Symbol, point: Symbol | None, link: Any, what: str, frame: str | None = None) -> Carried:
    """Symbols: the origin of the tip, of a frame or of a link, or a point fixed in it, in base axes."""
    if frame is not None and link is not None:
        raise ShapeError(where=what, expected="a link or a frame", got=f"link={link!r} and frame={frame!r}")
    index = arm.frame(frame)[0] if frame is not None else link_index(arm, link, what)
    joints, frames = motions(arm, q), link_frames(arm, q)
    R, p = frames[index] if link is not None else named_frame(arm, frames, frame)
    moving = {i: (joints[i], frames[i]) for i in path(joints, index)}
    return Carried(R, p if point is None else p + ca.mtimes(R, point), moving)


def link_index(arm: Arm, link: Any, what: str) -> int:
    """The link that carries the point, counted from 0; by default the one that carries the tip."""
    last = arm.n_joints - 1
    if link is None:
        return arm.tip_index
    if isinstance(link, str):
        hint = f"arm.link_names.index({link!r})" if link in arm.link_names else f"links: {', '.join(arm.link_names)}"
        raise ShapeError(where=what, expected=f"link as a number from 0 to {last}", got=repr(link), remedy=hint)
    if not isinstance(link, int) or not -last <= link + 1 <= last + 1:
        raise ShapeError(where=what, expected=f"link from 0 to {last} for arm '{arm.name}'", got=f"{link!r}")
    return link % arm.n_joints


def in_axes(R: Symbol, columns: Symbol, axes: str, what: str) -> Symbol:
    """[linear; angular] columns in base axes, turned into the axes asked for."""
    check_choice(what, "axes", axes, AXES, ShapeError)
    if axes == "base":
        return columns
    return ca.vertcat(ca.mtimes(R.T, columns[:3, :]), ca.mtimes(R.T, columns[3:, :]))
