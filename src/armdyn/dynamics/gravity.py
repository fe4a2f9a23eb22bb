"""What gravity asks of the joints."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import link_theta
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Theta
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, Symbol, ca, traced


class FirstMoments(NamedTuple):
    """Mass and first moments of a link with all it carries."""

    m: Symbol
    h: Symbol


def first_moments(joints: list[Motion], theta: Symbol) -> tuple[list[FirstMoments], FirstMoments]:
    """Those of every link at its joint's point in joint axes, and of the whole arm in the base frame."""
    m, h = ca.SX(0), ca.SX.zeros(3)
    found = []
    for i in reversed(range(len(joints))):
        joint, own = joints[i], link_theta(theta, i)
        m, h = m + own[inertial.MASS], h + own[inertial.FIRST]
        h = joint.link_to_joint(h) + m * joint.offset_in_joint
        found.append(FirstMoments(m, h))
        h = joint.joint_to_parent(h) + m * joint.before
    return found[::-1], FirstMoments(m, h)


@traced(returns={"tau": "n"})
def gravity_torque(arm: Arm, q: Q, *, theta: Theta = None, gravity: Gravity = None) -> Array:
    """Joint torques g(q) that hold the rigid arm still against gravity.

    Returns
    -------
    tau
        The gradient of `potential_energy` [N m or N].

    References
    ----------
    Eindhoven (1987), equation (19) with erratum 2 (its sign).
    """
    joints = motions(arm, q)
    a = -gravity
    tau = []
    for joint, (m, h) in zip(joints, first_moments(joints, regroup(arm, theta))[0], strict=True):
        a = joint.parent_to_joint(a)
        # z.(h x a) for a joint that turns, m z.a for one that slides
        tau.append(h[0] * a[1] - h[1] * a[0] if joint.is_revolute else m * a[2])
        a = joint.joint_to_link(a)
    return ca.vertcat(*tau)
