"""What the joints' bearings carry."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.bodies.body import link_theta
from armdyn.dynamics.newton_euler import (
    base_link_motion,
    inertial_wrench,
    outward,
    passed_on,
    tip_wrench,
)
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(
    q="n",
    qd="n",
    qdd="n",
    wrench="6",
    base_motion="3, 3",
    theta="10*n",
    gravity="3",
    returns={"wrenches": "n, 6"},
)
def joint_wrenches(
    arm: Arm,
    q: Any,
    qd: Any,
    qdd: Any,
    wrench: Any = None,
    base_motion: Any = None,
    *,
    theta: Any,
    gravity: Any,
) -> Any:
    """Force and moment that every joint passes to its link: what bearings and structure must carry.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    wrench : array_like, shape (..., 6), optional
        [force, moment] exerted ON the arm at the tip, in tip axes [N, N m].
    base_motion : tuple of three array_like of shape (..., 3), optional
        Angular velocity, angular acceleration and acceleration of the base, in base axes, gravity not
        included.
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    wrenches : ndarray, shape (..., n, 6)
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
