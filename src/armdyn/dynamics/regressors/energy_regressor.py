"""Energy, power and momentum of the arm, linear in its inertial parameters.

They need no accelerations (power apart), so they serve identification from positions and velocities,
and the filtered regressor is built from them.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, NamedTuple

from armdyn.dynamics.bodies.body import parameter_row
from armdyn.dynamics.bodies.velocity import Twist, twists
from armdyn.dynamics.newton_euler import base_link_motion, outward
from armdyn.dynamics.regressors.regressor import AccelerationField, carry_twist, own_screw, regressor_matrix, screws
from armdyn.kinematics.dependents import coordinate_torques, joint_rates
from armdyn.kinematics.forward import link_frames
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Qdd
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, Symbol, ca, traced


def momentum_row(link: Twist, screw: Twist) -> Symbol:
    """A link's momentum along a screw, by parameter: u_s.(m u + w x h) + w_s.(I w + h x u)."""
    first = ca.cross(screw.u, link.w) + ca.cross(link.u, screw.w)
    return parameter_row(ca.dot(screw.u, link.u), first, screw.w, link.w)


def weight_row(g: Symbol, screw: Twist) -> Symbol:
    """Power of a link's weight on a screw, by parameter: u_s.(m g) + w_s.(h x g), g in link axes."""
    return parameter_row(ca.dot(screw.u, g), ca.cross(g, screw.w), ca.SX.zeros(3), ca.SX.zeros(3))


class EnergyRegressor(NamedTuple):
    """Result of `energy_regressor`."""

    kinetic: Annotated[Array, "10*joints"]
    potential: Annotated[Array, "10*joints"]


@traced()
def energy_regressor(arm: Arm, q: Q, qd: Qd, *, gravity: Gravity = None) -> EnergyRegressor:
    """Kinetic and potential energy as rows: `kinetic_energy = kinetic @ theta`, likewise `potential`.

    Along a motion the work of the joint torques is the difference of the total energy.

    Returns
    -------
    kinetic, potential
        The potential is zero for mass at the base origin.
    """
    _, links = twists(motions(arm, q), joint_rates(arm, qd))
    kinetic = [momentum_row(link, link) / 2 for link in links]
    potential = []
    for R, p in link_frames(arm, q):
        # U = -g.(m p + R h)
        row = ca.SX(1, inertial.SIZE)
        row[inertial.MASS] = -ca.dot(gravity, p)
        row[inertial.FIRST] = -ca.mtimes(R.T, gravity).T
        potential.append(row)
    return EnergyRegressor(ca.horzcat(*kinetic).T, ca.horzcat(*potential).T)


@traced(returns={"row": "10*joints"})
def power_regressor(arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, gravity: Gravity = None) -> Array:
    """Power of the joint torques as a row: `qd @ tau = row @ theta`, the rate of the total energy."""
    joints, rates = motions(arm, q), joint_rates(arm, qd)
    _, velocities = twists(joints, rates)
    links = outward(joints, rates, joint_rates(arm, qdd), base_link_motion(gravity, None))
    rows = [AccelerationField.of(link).row(v) for link, v in zip(links, velocities, strict=True)]
    return ca.horzcat(*rows).T


@traced(returns={"P": "n, 10*joints"})
def momentum_regressor(arm: Arm, q: Q, qd: Qd) -> Array:
    """Generalised momentum: `M(q) qd = P @ theta`."""
    joints = motions(arm, q)
    _, links = twists(joints, joint_rates(arm, qd))
    return coordinate_torques(arm, regressor_matrix(joints, [partial(momentum_row, link) for link in links]))


@traced(returns={"D": "n, 10*joints"})
def lagrangian_regressor(arm: Arm, q: Q, qd: Qd, *, gravity: Gravity = None) -> Array:
    """Gradient of the Lagrangian: `d(T - U)/dq = D @ theta`, so that tau = d/dt(P theta) - D theta."""
    joints = motions(arm, q)
    _, links = twists(joints, joint_rates(arm, qd))
    D = ca.SX(arm.n_joints, inertial.SIZE * arm.n_joints)
    weights: list[Symbol] = []  # gravity in axes of each link
    turned: list[dict[int, Twist]] = []  # how link j's velocity changes with each q_i
    for j, (m, link, path_screws) in enumerate(zip(joints, links, screws(joints), strict=True)):
        weights.append(m.to_link(gravity if m.parent < 0 else weights[m.parent]))
        parent = turned[m.parent] if m.parent >= 0 else {}
        turned.append({i: carry_twist(m, twist) for i, twist in parent.items()} | {j: commutator(link, own_screw(m))})
        for i, screw in path_screws.items():
            D[i, inertial.entries(j)] = momentum_row(link, turned[j][i]) + weight_row(weights[j], screw)
    return coordinate_torques(arm, D)


def commutator(a: Twist, b: Twist) -> Twist:
    """The motion cross product a x b: how b's field changes when it is carried along by a."""
    return Twist(ca.cross(a.w, b.w), ca.cross(a.w, b.u) + ca.cross(a.u, b.w))
