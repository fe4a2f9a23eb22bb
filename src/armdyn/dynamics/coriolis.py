"""The Coriolis matrix of the Christoffel symbols, in a cheap recursion over composite bodies.

For a cloud of particles the Christoffel symbols give C = sum of m J' Jd, with J the particle's Jacobian.
Column j of a particle at p moving with u is s_j + z_j x p, and its rate sd_j + zd_j x p + z_j x u.
Summed over a composite body that is

    C_ij = S_i . (I Sd_j + B S_j),    B S_j = (z_j x l, tr(G) z_j - G' z_j),    G = sum of m p u'

with the body's momentum l. Equal to Echeandia and Wensing (2021), where B is a full 6x6 matrix; here it is a vector
and the moments G of velocities. Of both only what the body does beside turning with its link is carried along: the
link's angular velocity w adds w x h and P [w]x', with the second moments P = sum of m p p'.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import Body, cross_z, is_zero, link_theta, symmetric, turned_matrix, turned_tensor
from armdyn.dynamics.bodies.composite import carry, tensor_to_parent, turned_tensor_z
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.dynamics.bodies.velocity import Twist, twists
from armdyn.dynamics.mass_matrix import along_joint
from armdyn.kinematics.dependents import coordinate_matrix, joint_rates
from armdyn.kinematics.motion import Motion, ancestors, hand_down, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd, Theta
from armdyn.trace.formula import Array, Symbol, ca, traced


class Moving(NamedTuple):
    """A body's moments about a frame's origin, and those of its velocities as the frame sees them."""

    m: Symbol
    h: Symbol  # sum of m p
    P: Symbol  # sum of m p p'
    l: Symbol  # sum of m u
    G: Symbol  # sum of m p u'

    @classmethod
    def resting(cls, body: Body) -> Moving:
        """A body that turns with the frame."""
        I = body.I
        # P = tr(I)/2 1 - I; in this order thin rods along z have no round-off
        d = I[1, 1] - I[0, 0]
        xx, yy, zz = (I[2, 2] + d) / 2, (I[2, 2] - d) / 2, (I[0, 0] + I[1, 1] - I[2, 2]) / 2
        P = symmetric(xx, -I[0, 1], -I[0, 2], yy, -I[1, 2], zz)
        return cls(body.m, body.h, P, ca.SX.zeros(3), ca.SX.zeros(3, 3))

    def joined(self, other: Moving) -> Moving:
        """Both bodies as one."""
        return Moving(*(a + b for a, b in zip(self, other, strict=True)))

    def shifted(self, p: Symbol, v: Symbol) -> Moving:
        """Seen from a frame in which the present origin is at `p` and moves with `v`."""
        if is_zero(p) and is_zero(v):
            return self
        h, k, l = self.h, self.h + self.m * p, self.l + self.m * v
        x, y, z = ca.vertsplit((h + k) * p)
        A = ca.mtimes(k, p.T) + ca.mtimes(p, h.T)
        G = self.G + ca.mtimes(h, v.T) + ca.mtimes(p, l.T)
        return Moving(self.m, k, self.P + symmetric(x, A[0, 1], A[0, 2], y, A[1, 2], z), l, G)

    def turning(self, rate: Symbol) -> Moving:
        """Seen from a frame with the same axes now, about whose z the present one turns with `rate`."""
        h, P = self.h, self.P
        l = self.l + ca.vertcat(-rate * h[1], rate * h[0], 0)
        G = self.G + ca.horzcat(-rate * P[:, 1], rate * P[:, 0], ca.SX.zeros(3))
        return Moving(self.m, h, P, l, G)


def moving_composites(joints: list[Motion], qd: Symbol, theta: Symbol) -> list[Moving]:
    """Every link with all it carries, at its joint's point in joint axes, as one who turns with the link sees it."""
    carried: list[Moving | None] = [None] * len(joints)
    bodies: list[Moving] = []
    for i in reversed(range(len(joints))):
        body, beyond = Moving.resting(Body.of(link_theta(theta, i))), carried[i]
        bodies.append(_to_joint(joints[i], body if beyond is None else body.joined(beyond), qd[i]))
        hand_down(carried, joints[i].parent, _to_parent(joints[i], bodies[-1], qd[i]), Moving.joined)
    return bodies[::-1]


def _to_joint(m: Motion, link: Moving, qd: Symbol) -> Moving:
    """Move a body from the link's frame to its joint's point, which is fixed in the parent, in joint axes."""
    R, (mass, h, P, l, G) = m.segment.R_after, link
    h, l = m.link_to_joint(h), m.link_to_joint(l)
    turned = Moving(mass, h, turned_tensor(R, P), l, turned_matrix(R, G))
    return turned.shifted(m.offset_in_joint, ca.SX.zeros(3) if m.is_revolute else ca.vertcat(0, 0, qd))


def _to_parent(m: Motion, child: Moving, qd: Symbol) -> Moving:
    """Move a body from the joint's point in joint axes to the frame of the parent."""
    if m.is_revolute:
        child = child.turning(qd)
    R, (mass, h, P, l, G) = m.segment.R_before, child
    G = turned_tensor_z(*m.cos_sin, G) if m.is_revolute else G
    h, l = m.joint_to_parent(h), m.joint_to_parent(l)
    turned = Moving(mass, h, tensor_to_parent(m, P), l, turned_matrix(R, G))
    return turned.shifted(ca.SX(m.before), ca.SX.zeros(3))


class AxisRate(NamedTuple):
    """Rate of a joint's axis as a twist: of its direction, and of its velocity field at the joint's point."""

    z: Symbol
    s: Symbol


def axis_rate(m: Motion, v: Twist) -> AxisRate:
    """A turning joint has zd = w x z and sd = u x z, as its point moves with u; a sliding one sd = w x z."""
    zd = cross_z(v.w)
    if m.is_revolute:
        return AxisRate(zd, cross_z(v.u))
    return AxisRate(ca.SX.zeros(3), zd)


class CoriolisColumn(NamedTuple):
    """Effect of another joint's column on a joint: force and moment I S and I Sd + B S, and the couple B' S.

    Forces and moments are the same seen from any moving point, so from the joint's own; the couple is not.
    """

    force: Symbol
    moment: Symbol
    rate_force: Symbol
    rate_moment: Symbol
    couple: Symbol

    @classmethod
    def of_joint(cls, m: Motion, body: Moving, v: Twist) -> CoriolisColumn:
        """Build the column of a joint that moves with `v`, and of what it carries."""
        (mass, h, P, l, G), w, u = body, v.w, v.u
        zd = cross_z(w)  # w x z
        if not m.is_revolute:
            couple = cross_z(l + ca.cross(w, h) + mass * u)
            return cls(ca.vertcat(0, 0, mass), cross_z(h), mass * zd, ca.cross(h, zd), couple)
        force, moment = -cross_z(h), ca.vertcat(-P[0, 2], -P[1, 2], P[0, 0] + P[1, 1])  # z x h, I z
        # zd x h + z x (w x h) = w x (z x h), I zd - w x P z = P w x z, and tr(P [w]x') = 0
        t = G[0, 0] + G[1, 1]
        rate_moment = cross_z(ca.mtimes(P, w)) + ca.vertcat(-G[2, 0], -G[2, 1], t)
        couple = ca.mtimes(P, zd) + ca.vertcat(-G[0, 2], -G[1, 2], t) + ca.cross(u, force)
        return cls(force, moment, ca.cross(w, force) - cross_z(l), rate_moment, couple)

    def carried(self, child: Motion, m: Motion) -> CoriolisColumn:
        """Carry it from the joint `child` to the one before it, `m`."""
        unit, rate = (carry(child, m, *wrench) for wrench in (self[:2], self[2:4]))
        return CoriolisColumn(*unit, *rate, m.link_to_joint(child.joint_to_parent(self.couple)))


def coriolis_matrix_from(joints: list[Motion], carried: list[Moving], velocities: list[Twist]) -> Symbol:
    """C from the composite bodies and their rates."""
    axes = [axis_rate(m, v) for m, v in zip(joints, velocities, strict=True)]
    n = len(joints)
    C = ca.SX.zeros(n, n)
    for j in range(n):
        column = CoriolisColumn.of_joint(joints[j], carried[j], velocities[j])
        C[j, j] = along_joint(joints[j], column.rate_force, column.rate_moment)
        for child, i in ancestors(joints, j):
            m = joints[i]
            column = column.carried(joints[child], m)
            # C_ij = S_i.F_j and C_ji = Sd_i.(I S_j) + S_i.(B' S_j)
            C[i, j] = along_joint(m, column.rate_force, column.rate_moment)
            C[j, i] = ca.dot(axes[i].s, column.force) + ca.dot(axes[i].z, column.moment)
            if m.is_revolute:
                C[j, i] += column.couple[2]
    return C


@traced(returns={"C": "n, n"}, redescribable=True)
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

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.coriolis_matrix(arm, [0.0, 0.5], [1.0, 1.0]).round(3)
    array([[-0.15, -0.3 ],
           [ 0.15,  0.  ]])
    """
    joints, rates = motions(arm, q), joint_rates(arm, qd)
    at_joints, _ = twists(joints, rates)
    C = coriolis_matrix_from(joints, moving_composites(joints, rates, regroup(arm, theta)), at_joints)
    return coordinate_matrix(arm, C)


@traced(returns={"Md": "n, n"}, redescribable=True)
def mass_matrix_rate(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None) -> Array:
    """Rate dM/dt of the mass matrix at velocities qd.

    Returns
    -------
    Md
        C + C', which the skew symmetry of dM/dt - 2 C implies.
    """
    C = coriolis_matrix(arm, q, qd, theta=theta)
    return C + C.T
