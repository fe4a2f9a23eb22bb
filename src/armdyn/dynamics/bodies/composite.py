"""Composite bodies: a link with everything it carries, as one rigid body.

Walker and Orin (1982). A body is its mass, first moments and tensor about the origin of the frame in
which it is described, so that joining two bodies is adding them.
"""

from __future__ import annotations

from armdyn.dynamics.bodies.body import Body, is_zero, link_theta, turned_tensor
from armdyn.kinematics.motion import Motion, hand_down
from armdyn.trace.symbols import Symbol, ca


def turned_tensor_z(c: Symbol, s: Symbol, A: Symbol) -> Symbol:
    """Rz A Rz' for any A, with c, s the cosine and sine of the angle.

    Of the upper left block only what a turn about z changes is multiplied; a symmetric A stays symmetric.
    """
    k = s * (A[0, 0] - A[1, 1]) + c * (A[0, 1] + A[1, 0])
    sk, ck = s * k, c * k
    return ca.blockcat(
        [
            [A[0, 0] - sk, ck - A[1, 0], c * A[0, 2] - s * A[1, 2]],
            [ck - A[0, 1], A[1, 1] + sk, s * A[0, 2] + c * A[1, 2]],
            [c * A[2, 0] - s * A[2, 1], s * A[2, 0] + c * A[2, 1], A[2, 2]],
        ]
    )


def link_to_joint(m: Motion, body: Body) -> Body:
    """A body described in the link's frame, seen from the joint's point in joint axes."""
    return body.turned(m.segment.R_after).shifted(m.offset_in_joint)


def tensor_to_parent(m: Motion, A: Symbol) -> Symbol:
    """A symmetric tensor in joint axes, turned into parent axes."""
    return turned_tensor(m.segment.R_before, turned_tensor_z(*m.cos_sin, A) if m.is_revolute else A)


def turned_to_parent(m: Motion, body: Body) -> Body:
    """A body described in joint axes, turned into parent axes."""
    return Body(body.m, m.joint_to_parent(body.h), tensor_to_parent(m, body.I))


def joint_to_parent(m: Motion, body: Body) -> Body:
    """A body described at the joint's point in joint axes, seen from the parent's link frame."""
    return turned_to_parent(m, body).shifted(m.before)


def composites(joints: list[Motion], theta: Symbol) -> list[Body]:
    """Every link with all it carries, at its joint's point in joint axes."""
    carried: list[Body | None] = [None] * len(joints)
    bodies: list[Body] = []
    for i in reversed(range(len(joints))):
        body, beyond = Body.of(link_theta(theta, i)), carried[i]
        bodies.append(link_to_joint(joints[i], body if beyond is None else body.joined(beyond)))
        hand_down(carried, joints[i].parent, joint_to_parent(joints[i], bodies[-1]), Body.joined)
    return bodies[::-1]


def wrench_to_parent(m: Motion, f: Symbol, n: Symbol) -> tuple[Symbol, Symbol]:
    """A force and its moment about the joint's point in joint axes, seen from the parent's link frame."""
    f, n = m.joint_to_parent(f), m.joint_to_parent(n)
    return f, n if is_zero(m.before) else n + ca.cross(ca.SX(m.before), f)


def wrench_to_joint(m: Motion, f: Symbol, n: Symbol) -> tuple[Symbol, Symbol]:
    """The same from the link's frame to the joint's point in joint axes."""
    f, n = m.link_to_joint(f), m.link_to_joint(n)
    p = m.offset_in_joint
    return f, n if is_zero(p) else n + ca.cross(p, f)


def carry(m: Motion, parent: Motion, f: Symbol, n: Symbol) -> tuple[Symbol, Symbol]:
    """A force and its moment about the joint's point of `m`, seen from the joint's point of `parent`."""
    return wrench_to_joint(parent, *wrench_to_parent(m, f, n))
