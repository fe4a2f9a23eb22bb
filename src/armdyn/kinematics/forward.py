"""Forward kinematics: where the links and the tip are."""

from __future__ import annotations

from typing import Any

from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.trace.formula import Array, ca, traced


def link_frames(arm: Arm, q: Any) -> list[tuple[Any, Any]]:
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


def tip_frame(arm: Arm, q: Any) -> tuple[Any, Any]:
    """Symbols: rotation and origin of the tip frame in base axes."""
    R, p = link_frames(arm, q)[-1]
    R_tool, p_tool = arm.tool
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
