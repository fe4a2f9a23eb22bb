"""The Coriolis matrix of the Christoffel symbols, in a cheap recursion over composite bodies.

For a cloud of particles the Christoffel symbols give C = sum of m J' Jd, with J the particle's Jacobian.
Column j of a particle at p moving with u is s_j + z_j x p, and its rate sd_j + zd_j x p + z_j x u.
Summed over a composite body that is

    C_ij = S_i . (I Sd_j + B S_j),    B S_j = (z_j x l, (Id - [L]x) z_j / 2)

with the body's momentum l, angular momentum L and the rate Id of its tensor. Equal to Echeandia and
Wensing (2021), where B is a full 6x6 matrix; here it is two vectors and a symmetric tensor.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import Body, link_theta, symmetric, turned_tensor
from armdyn.dynamics.bodies.composite import carry, tensor_to_parent, turned_to_parent
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.dynamics.bodies.velocity import Twist, twists
from armdyn.dynamics.mass_matrix import along_joint, unit_wrench
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd, Theta
from armdyn.trace.formula import Array, Symbol, ca, traced


class Rates(NamedTuple):
    """How a body's moments change, seen from a point that moves along without turning."""

    l: Symbol  # rate of the first moments, which is the momentum
    Id: Symbol  # rate of the tensor
    L: Symbol  # angular momentum

    @classmethod
    def turning(cls, body: Body, w: Symbol) -> Rates:
        """Those of a body that turns with `w` about the frame's origin."""
        h, I = body.h, body.I
        x, y, z = w[0] * I[1, 2], w[1] * I[0, 2], w[2] * I[0, 1]
        # Id = [w]x I - I [w]x, grouped by entries of I
        Id = symmetric(
            2 * (y - z),
            w[2] * (I[0, 0] - I[1, 1]) + w[1] * I[1, 2] - w[0] * I[0, 2],
            w[1] * (I[2, 2] - I[0, 0]) + w[0] * I[0, 1] - w[2] * I[1, 2],
            2 * (z - x),
            w[0] * (I[1, 1] - I[2, 2]) + w[2] * I[0, 2] - w[1] * I[0, 1],
            2 * (x - y),
        )
        return cls(ca.cross(w, h), Id, ca.mtimes(I, w))

    def joined(self, other: Rates) -> Rates:
        """Those of both bodies as one."""
        return Rates(self.l + other.l, self.Id + other.Id, self.L + other.L)

    def shifted(self, body: Body, p: Symbol, v: Symbol) -> Rates:
        """Those of `body` seen from a frame in which the present origin is at `p` and moves with `v`."""
        h, l = body.h, self.l + body.m * v
        # The rate of Steiner's terms: d/dt of 2 h.p 1 - h p' - p h' and of its part in m
        x, y, z = (2 * (v[i] * h[i] + l[i] * p[i]) for i in range(3))
        xy, xz, yz = (v[i] * h[j] + v[j] * h[i] + l[i] * p[j] + l[j] * p[i] for i, j in ((0, 1), (0, 2), (1, 2)))
        Id = self.Id + symmetric(y + z, -xy, -xz, x + z, -yz, x + y)
        return Rates(l, Id, self.L + ca.cross(h, v) + ca.cross(p, l))


class Moving(NamedTuple):
    """A body and its rates."""

    body: Body
    rates: Rates

    def shifted(self, p: Symbol, v: Symbol) -> Moving:
        """Seen from a frame in which the present origin is at `p` and moves with `v`."""
        return Moving(self.body.shifted(p), self.rates.shifted(self.body, p, v))


def moving_composites(joints: list[Motion], qd: Symbol, theta: Symbol, links: list[Twist]) -> list[Moving]:
    """Every link with all it carries, at its joint's point in joint axes."""
    found: list[Moving] = []
    for i in reversed(range(len(joints))):
        body = Body.of(link_theta(theta, i))
        rates = Rates.turning(body, links[i].w)
        if found:
            carried = _to_parent(joints[i + 1], found[-1], links[i].w)
            body, rates = body.joined(carried.body), rates.joined(carried.rates)
        found.append(_to_joint(joints[i], Moving(body, rates), links[i].w, qd[i]))
    return found[::-1]


def _to_joint(m: Motion, link: Moving, w: Symbol, qd: Symbol) -> Moving:
    """From the link's frame, which turns with `w`, to its joint's point in joint axes."""
    R, p = m.segment.R_after, m.offset_in_joint
    l, Id, L = link.rates
    rates = Rates(m.link_to_joint(l), turned_tensor(R, Id), m.link_to_joint(L))
    v = ca.cross(m.link_to_joint(w), p)
    if not m.is_revolute:
        v = v + ca.vertcat(0, 0, qd)
    return Moving(link.body.turned(R), rates).shifted(p, v)


def _to_parent(m: Motion, child: Moving, w: Symbol) -> Moving:
    """From the joint's point to the frame of the parent, which turns with `w`."""
    p = ca.SX(m.before)
    l, Id, L = child.rates
    rates = Rates(m.joint_to_parent(l), tensor_to_parent(m, Id), m.joint_to_parent(L))
    return Moving(turned_to_parent(m, child.body), rates).shifted(p, ca.cross(w, p))


class AxisRate(NamedTuple):
    """Rate of a joint's axis as a twist: of its direction, and of its velocity field at the joint's point."""

    z: Symbol
    s: Symbol


def axis_rate(m: Motion, v: Twist) -> AxisRate:
    """A turning joint has zd = w x z and sd = u x z, as its point moves with u; a sliding one sd = w x z."""
    zd = ca.vertcat(v.w[1], -v.w[0], 0)
    if m.is_revolute:
        return AxisRate(zd, ca.vertcat(v.u[1], -v.u[0], 0))
    return AxisRate(ca.SX.zeros(3), zd)


def own_column(m: Motion, moving: Moving, v: Twist) -> tuple[Symbol, Symbol, Symbol]:
    """Of a joint and what it carries: force and moment I Sd + B S, and the couple B' S.

    Force and moment are the same seen from any moving point, so from the joint's own; the couple is not.
    """
    (mass, h, I), (l, Id, L) = moving.body, moving.rates
    zd = ca.vertcat(v.w[1], -v.w[0], 0)  # w x z
    if not m.is_revolute:
        l = l + mass * v.u
        return mass * zd, ca.cross(h, zd), ca.vertcat(l[1], -l[0], 0)  # l x z
    Id_z, L_z = Id[:, 2], ca.vertcat(L[1], -L[0], 0)  # Id z, L x z
    f = ca.cross(zd, h) + ca.vertcat(-l[1], l[0], 0)  # + z x l
    n = ca.mtimes(I, zd) + (Id_z - L_z) / 2
    return f, n, (Id_z + L_z) / 2 + ca.cross(v.u, ca.vertcat(-h[1], h[0], 0))


def coriolis_matrix_from(joints: list[Motion], carried: list[Moving], velocities: list[Twist]) -> Symbol:
    """C from the composite bodies and their rates."""
    axes = [axis_rate(m, v) for m, v in zip(joints, velocities, strict=True)]
    n = len(joints)
    C = ca.SX.zeros(n, n)
    for j in range(n):
        f, moment, couple = own_column(joints[j], carried[j], velocities[j])
        f_unit, moment_unit = unit_wrench(joints[j], carried[j].body)
        C[j, j] = along_joint(joints[j], f, moment)
        for i in reversed(range(j)):
            child, m = joints[i + 1], joints[i]
            f, moment = carry(child, m, f, moment)
            f_unit, moment_unit = carry(child, m, f_unit, moment_unit)
            couple = m.link_to_joint(child.joint_to_parent(couple))
            # C_ij = S_i.F_j and C_ji = Sd_i.(I S_j) + S_i.(B' S_j)
            C[i, j] = along_joint(m, f, moment)
            C[j, i] = ca.dot(axes[i].s, f_unit) + ca.dot(axes[i].z, moment_unit)
            if m.is_revolute:
                C[j, i] += couple[2]
    return C


@traced(returns={"C": "n, n"})
def coriolis_matrix(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None) -> Array:
    """Coriolis matrix C(q, qd) of the Christoffel symbols.

    `C qd` are the centrifugal and Coriolis torques, and dM/dt - 2 C is skew at every state.

    Returns
    -------
    C
        C_ij = sum over k of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2.

    References
    ----------
    Echeandia and Wensing (2021), algorithm 1. Eindhoven (1987), equation (18), with erratum 11: the
    coefficients h_ijk give the right C qd but not a skew dM/dt - 2 C.
    """
    joints = motions(arm, q)
    at_joints, at_links = twists(joints, qd)
    return coriolis_matrix_from(joints, moving_composites(joints, qd, regroup(arm, theta), at_links), at_joints)


@traced(returns={"Md": "n, n"})
def mass_matrix_rate(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None) -> Array:
    """Rate dM/dt of the mass matrix at velocities qd.

    Returns
    -------
    Md
        C + C', which the skew symmetry of dM/dt - 2 C implies.
    """
    C = coriolis_matrix(arm, q, qd, theta=theta)
    return C + C.T
