"""How fast the links move: velocities in their own axes, and of their joints."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.kinematics.motion import Motion
from armdyn.trace.symbols import Symbol, ca


class Twist(NamedTuple):
    """Angular velocity of a body and velocity of one of its points."""

    w: Symbol
    u: Symbol


def twists(joints: list[Motion], qd: Symbol) -> tuple[list[Twist], list[Twist]]:
    """Return the twist of every link twice: at its joint's point in joint axes, and at its origin in link axes.

    The joint's point is fixed in the parent; at a sliding joint its velocity is the parent's.
    """
    rest = Twist(ca.SX.zeros(3), ca.SX.zeros(3))
    at_joints: list[Twist] = []
    at_links: list[Twist] = []
    for i, m in enumerate(joints):
        w, u = rest if m.parent < 0 else at_links[m.parent]
        u = m.parent_to_joint(u + ca.cross(w, ca.SX(m.before)))
        w = m.parent_to_joint(w)
        rate = ca.vertcat(0, 0, qd[i])
        if m.is_revolute:
            w = w + rate
        at_joints.append(Twist(w, u))
        u = u + ca.cross(w, m.offset_in_joint)
        if not m.is_revolute:
            u = u + rate
        w, u = m.joint_to_link(w), m.joint_to_link(u)
        at_links.append(Twist(w, u))
    return at_joints, at_links
