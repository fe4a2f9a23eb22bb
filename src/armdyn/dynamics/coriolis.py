"""The Coriolis matrix of the Christoffel symbols, in a cheap recursion over composite bodies.

For a cloud of particles the Christoffel symbols give C = sum of m J' Jd, with J the particle's Jacobian.
Column j of a particle at p moving with u is s_j + z_j x p, and its rate sd_j + zd_j x p + z_j x u.
Summed over a composite body that is

    C_ij = S_i . (I Sd_j + B S_j),    B S_j = (z_j x l, (Id - [L]x) z_j / 2)

with the body's momentum l, angular momentum L and the rate Id of its tensor. Equal to Echeandia and
Wensing (2021), where B is a full 6x6 matrix; here it is two vectors and a symmetric tensor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.dynamics.composite import (
    Body,
    carry,
    composites,
    joint_to_parent,
    link_to_joint,
    wrench_to_joint,
    wrench_to_parent,
)
from armdyn.dynamics.mass_matrix import along_joint, unit_wrench
from armdyn.dynamics.newton_euler import link_theta
from armdyn.dynamics.velocity import Twist, twists
from armdyn.kinematics.motion import Motion, Symbol, motions
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


class Rates(NamedTuple):
    """How a body's moments change: momentum and tensor rate (as a `Body` without mass), angular momentum."""

    moments: Body
    L: Symbol


def own_rates(body: Body, v: Twist) -> Rates:
    """Rates of one link in its own frame."""
    h, I = body.h, body.I
    wI, vh = ca.mtimes(ca.skew(v.w), I), ca.mtimes(v.u, h.T)
    # d/dt of the tensor about the point where the origin is now: [w]x I - I [w]x + 2 (v.h) 1 - v h' - h v'
    tensor = wI + wI.T + 2 * ca.dot(v.u, h) * ca.SX.eye(3) - vh - vh.T
    return Rates(
        Body(ca.SX(0), body.m * v.u + ca.cross(v.w, h), tensor), ca.mtimes(I, v.w) + ca.cross(h, v.u)
    )


def composite_rates(joints: list[Motion], theta: Symbol, links: list[Twist]) -> list[Rates]:
    """Rates of every link with all it carries, at its joint's point in joint axes."""
    found: list[Rates] = []
    for i in reversed(range(len(joints))):
        body, L = own_rates(Body.of(link_theta(theta, i)), links[i])
        if found:
            child, carried = joints[i + 1], found[-1]
            # Angular momentum moves between frames as the moment of a force does.
            L = L + wrench_to_parent(child, carried.moments.h, carried.L)[1]
            body = body.joined(joint_to_parent(child, carried.moments))
        L = wrench_to_joint(joints[i], body.h, L)[1]
        found.append(Rates(link_to_joint(joints[i], body), L))
    return found[::-1]


class AxisRate(NamedTuple):
    """Rate of a joint's axis as a twist: of its direction, and of its velocity field at the joint's point."""

    z: Symbol
    s: Symbol


def axis_rate(m: Motion, v: Twist) -> AxisRate:
    """zd = w x z and, for a joint that turns, sd = u x z, since its point moves with u; it slides along w x z."""
    zd = ca.vertcat(v.w[1], -v.w[0], 0)
    if m.is_revolute:
        return AxisRate(zd, ca.vertcat(v.u[1], -v.u[0], 0))
    return AxisRate(ca.SX.zeros(3), zd)


def own_column(m: Motion, body: Body, rates: Rates, rate: AxisRate) -> tuple[Symbol, Symbol, Symbol]:
    """Of the moving joint and its composite body: force and moment I Sd + B S, and the couple in B' S."""
    l, L = rates.moments.h, rates.L
    f = body.m * rate.s + ca.cross(rate.z, body.h)
    n = ca.cross(body.h, rate.s) + ca.mtimes(body.I, rate.z)
    if not m.is_revolute:
        return f, n, ca.vertcat(l[1], -l[0], 0)  # l x z
    Id_z, L_z = rates.moments.I[:, 2], ca.vertcat(L[1], -L[0], 0)  # Id z, L x z
    return f + ca.vertcat(-l[1], l[0], 0), n + (Id_z - L_z) / 2, (Id_z + L_z) / 2


def coriolis_matrix_from(
    joints: list[Motion], bodies: list[Body], rates: list[Rates], axes: list[AxisRate]
) -> Symbol:
    """C from the composite bodies and their rates."""
    n = len(joints)
    C = ca.SX.zeros(n, n)
    for j in range(n):
        f, moment, couple = own_column(joints[j], bodies[j], rates[j], axes[j])
        f_unit, moment_unit = unit_wrench(joints[j], bodies[j])
        C[j, j] = along_joint(joints[j], f, moment)
        for i in reversed(range(j)):
            child, m = joints[i + 1], joints[i]
            f, moment = carry(child, m, f, moment)
            f_unit, moment_unit = carry(child, m, f_unit, moment_unit)
            couple = m.link_to_joint(child.joint_to_parent(couple))
            # C_ij = S_i.F_j and C_ji = Sd_i.(I S_j) + S_i.(B' S_j)
            C[i, j] = along_joint(m, f, moment)
            C[j, i] = (
                ca.dot(axes[i].s, f_unit)
                + ca.dot(axes[i].z, moment_unit)
                + along_joint(m, ca.SX.zeros(3), couple)
            )
    return C


@traced(q="n", qd="n", theta="10*n", returns={"C": "n, n"})
def coriolis_matrix(arm: Arm, q: Any, qd: Any, *, theta: Any) -> Any:
    """Coriolis matrix C(q, qd) of the Christoffel symbols.

    `C qd` are the centrifugal and Coriolis torques, and dM/dt - 2 C is skew at every state.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        Joint positions and velocities [rad or m, /s].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.

    Returns
    -------
    C : ndarray, shape (..., n, n)
        C_ij = sum over k of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2.

    References
    ----------
    Echeandia and Wensing (2021), algorithm 1. Eindhoven (1987), equation (18), with erratum 11: the
    coefficients h_ijk give the right C qd but not a skew dM/dt - 2 C.
    """
    joints = motions(arm, q)
    at_joints, at_links = twists(joints, qd)
    axes = [axis_rate(m, v) for m, v in zip(joints, at_joints, strict=True)]
    return coriolis_matrix_from(
        joints, composites(joints, theta), composite_rates(joints, theta, at_links), axes
    )


@traced(q="n", qd="n", theta="10*n", returns={"Md": "n, n"})
def mass_matrix_rate(arm: Arm, q: Any, qd: Any, *, theta: Any) -> Any:
    """Rate dM/dt of the mass matrix at velocities qd.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        Joint positions and velocities [rad or m, /s].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.

    Returns
    -------
    Md : ndarray, shape (..., n, n)
        C + C', which the skew symmetry of dM/dt - 2 C implies.
    """
    C = coriolis_matrix(arm, q, qd, theta=theta)
    return C + C.T
