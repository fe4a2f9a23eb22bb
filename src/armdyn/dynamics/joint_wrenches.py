"""What the joints' bearings carry."""

from __future__ import annotations

from armdyn.dynamics.bodies.body import link_theta
from armdyn.dynamics.newton_euler import base_link_motion, inertial_wrench, outward, passed_on, tip_wrench
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import BaseMotion, Gravity, Q, Qd, Qdd, Theta, TipWrench
from armdyn.trace.formula import Array, ca, traced


@traced(returns={"wrenches": "n, 6"})
def joint_wrenches(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None, *,
    theta: Theta = None, gravity: Gravity = None,
) -> Array:  # fmt: skip
    """Force and moment that every joint transmits to its link: what bearings and structure must carry.

    Returns
    -------
    wrenches
        [force, moment] exerted by link i - 1 (or the base) on link i, in the axes of link i, the moment
        about the joint's point: where `before` leads, on the joint's axis [N, N m]. The component along
        the axis is what the drive gives, `inverse_dynamics`.

    References
    ----------
    Eindhoven (1987), equations (55), (56).
    """
    joints = motions(arm, q)
    links = outward(joints, qd, qdd, base_link_motion(gravity, base_motion))
    wrenches = [inertial_wrench(link_theta(theta, i), link) for i, link in enumerate(links)]
    found = passed_on(joints, wrenches, tip_wrench(arm, wrench))
    return ca.vertcat(*(ca.horzcat(f.T, n.T) for f, n in found))
