"""Momentum of the arm and where its mass is."""

from __future__ import annotations

from armdyn.dynamics.bodies.body import Body, link_theta
from armdyn.dynamics.bodies.composite import wrench_to_joint, wrench_to_parent
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.dynamics.bodies.velocity import twists
from armdyn.dynamics.gravity import first_moments
from armdyn.dynamics.mass_matrix import along_joint
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd, Theta
from armdyn.trace.formula import Array, ca, traced


@traced(returns={"p": "n"})
def generalized_momentum(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None) -> Array:
    """Generalised momentum p = M(q) qd of the rigid arm, without forming M.

    Its rate is dp/dt = tau + C' qd - g, which disturbance observers use.

    Returns
    -------
    p
        [N m s or N s]
    """
    theta = regroup(arm, theta)
    joints = motions(arm, q)
    links = twists(joints, qd)[1]
    l, L = ca.SX.zeros(3), ca.SX.zeros(3)
    found = []
    for i in reversed(range(arm.n)):
        (m, h, I), (w, u) = Body.of(link_theta(theta, i)), links[i]
        # Momentum and angular momentum move between frames as a force and its moment do.
        l, L = wrench_to_joint(joints[i], l + m * u + ca.cross(w, h), L + ca.mtimes(I, w) + ca.cross(h, u))
        found.append(along_joint(joints[i], l, L))
        l, L = wrench_to_parent(joints[i], l, L)
    return ca.vertcat(*found[::-1])


@traced(returns={"com": "3"})
def center_of_mass(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """Centre of mass of all links in base axes.

    Returns
    -------
    com
        [m]; NaN for an arm without mass.
    """
    m, h = first_moments(motions(arm, q), theta)[1]
    return h / m
