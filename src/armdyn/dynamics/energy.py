"""Energy and momentum of the arm, and where its mass is."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import Body, Wrench, link_theta
from armdyn.dynamics.bodies.composite import wrench_to_joint, wrench_to_parent
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.dynamics.bodies.velocity import twists
from armdyn.dynamics.gravity import first_moments, gravity_torque
from armdyn.dynamics.mass_matrix import along_joint
from armdyn.dynamics.newton_euler import add_wrenches, inverse_dynamics
from armdyn.kinematics.dependents import coordinate_torques, joint_rates
from armdyn.kinematics.motion import hand_down, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Qdd, Theta
from armdyn.trace.formula import Array, Scalar, ca, traced


@traced(returns={"T": ""}, redescribable=True)
def kinetic_energy(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None) -> Array:
    """Kinetic energy of the links [J].

    Returns
    -------
    T
        qd' M qd / 2, summed over the links without forming M. Rotors are not included.

    References
    ----------
    Eindhoven (1987), equation (11).

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> round(float(armdyn.kinetic_energy(arm, [0.0, 0.0], [1.0, 0.0])), 3)  # J
    1.406
    """
    theta = regroup(arm, theta)
    energy = ca.SX(0)
    for i, (w, u) in enumerate(twists(motions(arm, q), joint_rates(arm, qd))[1]):
        m, h, I = Body.of(link_theta(theta, i))
        # T_i = m u.u / 2 + h.(u x w) + w.I w / 2, all about the link's origin
        energy += m * ca.dot(u, u) / 2 + ca.dot(h, ca.cross(u, w)) + ca.dot(w, ca.mtimes(I, w)) / 2
    return energy


@traced(returns={"U": ""})
def potential_energy(arm: Arm, q: Q, *, theta: Theta = None, gravity: Gravity = None) -> Array:
    """Potential energy of the links under gravity [J], zero when the centre of mass is at the base's origin.

    References
    ----------
    Eindhoven (1987), equation (12) with erratum 2 (its sign).

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> round(float(armdyn.potential_energy(arm, [np.pi / 2, 0.0]) - armdyn.potential_energy(arm, [0.0, 0.0])), 2)  # J
    55.16
    """
    return -ca.dot(gravity, first_moments(motions(arm, q), theta)[1].h)


class EnergyRates(NamedTuple):
    """Result of `energy_rates`."""

    kinetic: Scalar
    potential: Scalar


@traced()
def energy_rates(arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, theta: Theta = None, gravity: Gravity = None) -> EnergyRates:
    """Return how fast kinetic and potential energy change [W]; together they are the power qd.tau of the joints."""
    inertial_torque = inverse_dynamics(arm, q, qd, qdd, theta=theta, gravity=ca.SX.zeros(3))
    weight = gravity_torque(arm, q, theta=theta, gravity=gravity)
    return EnergyRates(ca.dot(qd, inertial_torque), ca.dot(qd, weight))


@traced(returns={"p": "n"}, redescribable=True)
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
    links = twists(joints, joint_rates(arm, qd))[1]
    carried: list[Wrench | None] = [None] * len(joints)
    momenta = []
    for i in reversed(range(len(joints))):
        (m, h, I), (w, u) = Body.of(link_theta(theta, i)), links[i]
        l, L = carried[i] or (ca.SX.zeros(3), ca.SX.zeros(3))
        # Momentum and angular momentum move between frames as a force and its moment do.
        l, L = wrench_to_joint(joints[i], l + m * u + ca.cross(w, h), L + ca.mtimes(I, w) + ca.cross(h, u))
        momenta.append(along_joint(joints[i], l, L))
        hand_down(carried, joints[i].parent, wrench_to_parent(joints[i], l, L), add_wrenches)
    return coordinate_torques(arm, ca.vertcat(*momenta[::-1]))


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
