"""Kinetic and potential energy, and how fast they change."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.base.regroup import regrouped
from armdyn.dynamics.bodies.body import Body, link_theta
from armdyn.dynamics.bodies.velocity import twists
from armdyn.dynamics.gravity import first_moments, gravity_torque
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(q="n", qd="n", theta="10*n", returns={"T": ""})
def kinetic_energy(arm: Arm, q: Any, qd: Any, *, theta: Any) -> Any:
    """Kinetic energy of the links [J].

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        Joint positions and velocities [rad or m, /s].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.

    Returns
    -------
    T : ndarray, shape (...)
        qd' M qd / 2, summed over the links without forming M. Rotors are not included.

    References
    ----------
    Eindhoven (1987), equation (11).
    """
    theta = regrouped(arm, theta)
    energy = ca.SX(0)
    for i, (w, u) in enumerate(twists(motions(arm, q), qd)[1]):
        m, h, I = Body.of(link_theta(theta, i))
        # T_i = m u.u / 2 + h.(u x w) + w.I w / 2, all about the link's origin
        energy += m * ca.dot(u, u) / 2 + ca.dot(h, ca.cross(u, w)) + ca.dot(w, ca.mtimes(I, w)) / 2
    return energy


@traced(q="n", theta="10*n", gravity="3", returns={"U": ""})
def potential_energy(arm: Arm, q: Any, *, theta: Any, gravity: Any) -> Any:
    """Potential energy of the links under gravity [J], zero when the centre of mass is at the base's origin.

    Parameters
    ----------
    arm : Arm
    q : array_like, shape (..., n)
        Joint positions [rad or m].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    U : ndarray, shape (...)

    References
    ----------
    Eindhoven (1987), equation (12) with erratum 2 (its sign).
    """
    return -ca.dot(gravity, first_moments(motions(arm, q), theta)[1].h)


@traced(q="n", qd="n", qdd="n", theta="10*n", gravity="3", returns={"kinetic": "", "potential": ""})
def energy_rates(arm: Arm, q: Any, qd: Any, qdd: Any, *, theta: Any, gravity: Any) -> Any:
    """How fast kinetic and potential energy change [W]; together they are the power qd.tau of the joints.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    kinetic, potential : ndarray, shape (...)
    """
    inertial_torque = inverse_dynamics(arm, q, qd, qdd, theta=theta, gravity=ca.SX.zeros(3))
    return ca.dot(qd, inertial_torque), ca.dot(qd, gravity_torque(arm, q, theta=theta, gravity=gravity))
