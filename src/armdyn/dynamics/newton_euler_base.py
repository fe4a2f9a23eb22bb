"""Newton-Euler with every vector in base axes, as it was before link coordinates were found to be cheaper.

Source: Eindhoven (1987), equations (31)-(44), i running from 0 to n - 1 (erratum 12).
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import Body, link_theta
from armdyn.kinematics.forward import link_frames
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.mechanism import require_chain
from armdyn.model.quantities import Gravity, Q, Qd, Qdd, Theta
from armdyn.trace.formula import Array, Symbol, ca, traced


class BaseMotion(NamedTuple):
    """A link's angular velocity, its rate and the acceleration of its origin, in base axes."""

    w: Symbol
    wd: Symbol
    a: Symbol


class JointGeometry(NamedTuple):
    """A joint's axis, and the way from the parent's origin to the joint's point and on to the link's origin."""

    b: Symbol
    to_joint: Symbol
    to_link: Symbol


def _next(parent: BaseMotion, m: Motion, reach: JointGeometry, qd: Symbol, qdd: Symbol) -> BaseMotion:
    """Forward equations; the velocities v are not needed for torques."""
    (w, wd, a), (b, p, r) = parent, reach
    a = a + ca.cross(wd, p) + ca.cross(w, ca.cross(w, p))
    if m.is_revolute:
        wd = wd + qdd * b + ca.cross(w, qd * b)  # (36)
        w = w + qd * b  # (35)
    else:
        a = a + qdd * b + 2 * ca.cross(w, qd * b)  # (34)
    return BaseMotion(w, wd, a + ca.cross(wd, r) + ca.cross(w, ca.cross(w, r)))  # (34), (38)


@traced(returns={"tau": "n"})
def inverse_dynamics_base(arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, theta: Theta = None, gravity: Gravity = None) -> Array:
    """Joint torques by Newton-Euler in base axes; see `inverse_dynamics` for the one to use.

    References
    ----------
    Eindhoven (1987), equations (31)-(44).
    """
    require_chain(arm, "inverse_dynamics_base")
    joints, frames = motions(arm, q), link_frames(arm, q)
    R_parent, zero = ca.SX.eye(3), ca.SX.zeros(3)
    links, ways = [BaseMotion(zero, zero, zero)], []
    for i, (m, (R, _)) in enumerate(zip(joints, frames, strict=True)):
        ways.append(JointGeometry(ca.mtimes(R, m.axis), ca.mtimes(R_parent, m.before), ca.mtimes(R, m.offset)))
        links.append(_next(links[-1], m, ways[-1], qd[i], qdd[i]))
        R_parent = R
    F, N, tau = zero, zero, []
    for i in reversed(range(arm.n)):
        f, n = _link_wrench(link_theta(theta, i), frames[i][0], links[i + 1], gravity)
        F, N = F + f, N + n  # (41), (42), about the link's origin
        N = N + ca.cross(ways[i].to_link, F)
        tau.append(ca.dot(ways[i].b, N if joints[i].is_revolute else F))  # (43), (44)
        N = N + ca.cross(ways[i].to_joint, F)
    return ca.vertcat(*tau[::-1])


def _link_wrench(theta: Symbol, R: Symbol, link: BaseMotion, gravity: Symbol) -> tuple[Symbol, Symbol]:
    """M (vd_c - g) and the moment about the link's origin, with the tensor turned into base axes."""
    w, wd, a = link
    m, first, I = Body.of(theta)
    h, I = ca.mtimes(R, first), ca.mtimes(R, ca.mtimes(I, R.T))
    a = a - gravity
    f = m * a + ca.cross(wd, h) + ca.cross(w, ca.cross(w, h))  # (40)
    return f, ca.mtimes(I, wd) + ca.cross(w, ca.mtimes(I, w)) + ca.cross(h, a)
