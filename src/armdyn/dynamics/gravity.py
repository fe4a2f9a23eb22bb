"""What gravity asks of the joints."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import link_theta
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.kinematics.dependents import coordinate_torques
from armdyn.kinematics.motion import Motion, hand_down, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Theta
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, Symbol, ca, traced


class FirstMoments(NamedTuple):
    """Mass and first moments of a link with all it carries."""

    m: Symbol
    h: Symbol

    def joined(self, other: FirstMoments) -> FirstMoments:
        """Both bodies as one."""
        return FirstMoments(self.m + other.m, self.h + other.h)


def first_moments(joints: list[Motion], theta: Symbol) -> tuple[list[FirstMoments], FirstMoments]:
    """Those of every link at its joint's point in joint axes, and of the whole arm in the base frame."""
    carried: list[FirstMoments | None] = [None] * len(joints)
    whole: list[FirstMoments | None] = [None]
    at_joints = []
    for i in reversed(range(len(joints))):
        joint, link, beyond = joints[i], link_theta(theta, i), carried[i]
        m, h = link[inertial.MASS], link[inertial.FIRST]
        if beyond is not None:
            m, h = beyond.m + m, beyond.h + h
        h = joint.link_to_joint(h) + m * joint.offset_in_joint
        at_joints.append(FirstMoments(m, h))
        handed = FirstMoments(m, joint.joint_to_parent(h) + m * joint.before)
        hand_down(*((whole, 0) if joint.parent < 0 else (carried, joint.parent)), handed, FirstMoments.joined)
    assert whole[0] is not None  # some joint is on the base
    return at_joints[::-1], whole[0]


@traced(returns={"tau": "n"}, redescribable=True)
def gravity_torque(arm: Arm, q: Q, *, theta: Theta = None, gravity: Gravity = None) -> Array:
    """Joint torques g(q) that hold the rigid arm still against gravity.

    Returns
    -------
    tau
        The gradient of `potential_energy` [N m or N].

    References
    ----------
    Eindhoven (1987), equation (19) with erratum 2 (its sign).

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.gravity_torque(arm, [0.0, 0.0]).round(2)  # N m
    array([55.16,  6.13])
    """
    joints = motions(arm, q)
    tau: list[Symbol] = []
    links: list[Symbol] = []
    for joint, (m, h) in zip(joints, first_moments(joints, regroup(arm, theta))[0], strict=True):
        a = joint.parent_to_joint(-gravity if joint.parent < 0 else links[joint.parent])
        # z.(h x a) for a joint that turns, m z.a for one that slides
        tau.append(h[0] * a[1] - h[1] * a[0] if joint.is_revolute else m * a[2])
        links.append(joint.joint_to_link(a))
    return coordinate_torques(arm, ca.vertcat(*tau))
