"""Lagrange's equations, built up recursively: W qdd = P + V.

Source: Vukobratovic and Potkonjak (1979), equations (11)-(54), with errata 1-3: the translation's gravity
force acts along gamma, the sum of (16) starts at k = j. It shares no recursion with Newton-Euler: here
every vector is in base axes, members are added from the base out, and energies are differentiated.

A member's frame need not lie at its mass centre as it does in the source; the terms in the first moments
h that this adds vanish there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from armdyn.dynamics.bodies.body import Body, link_theta
from armdyn.kinematics.dependents import coordinate_matrix, coordinate_torques, joint_rates
from armdyn.kinematics.motion import Motion, motions, path
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Theta
from armdyn.trace.formula import Matrix, Symbol, Vector, ca, traced


@dataclass(frozen=True, eq=False)
class JacobianColumn:
    """Effect of one coordinate on the outermost member: a column of N and M, (18)-(21), in base axes."""

    beta: Symbol  # angular velocity a unit of the coordinate's rate; zero for a translation
    alpha: Symbol  # velocity of the frame's origin; gamma of (15) for a translation
    betad: Symbol  # d beta / dt
    alphad: Symbol  # d alpha / dt
    dw: Symbol  # partial derivative of the member's angular velocity
    dv: Symbol  # partial derivative of the origin's velocity


@dataclass(frozen=True, eq=False)
class Member:
    """The outermost member: its axes, angular velocity, velocity of its origin, and a column a coordinate."""

    A: Symbol
    w: Symbol
    v: Symbol
    columns: tuple[JacobianColumn, ...]


@dataclass(frozen=True, eq=False)
class MemberStep:
    """Way from the parent's origin to the member's: -delta, fixed in the parent, and gamma x or r_ii."""

    fixed: Symbol
    reach: Symbol  # fixed in the member (rotation), or growing along gamma (translation)
    turn: Symbol  # beta_i phid_i
    slide: Symbol  # gamma_i xd_i
    parent_w: Symbol
    w: Symbol

    @property
    def rate(self) -> Symbol:
        """Velocity of the member's origin on top of its parent's, (11)."""
        return ca.cross(self.parent_w, self.fixed) + ca.cross(self.w, self.reach) + self.slide


def add_member(parent: Member, m: Motion, qd: Symbol) -> Member:
    """The chain with one more member."""
    A = ca.horzcat(*(m.to_link(parent.A[row, :].T) for row in range(3))).T
    axis, zero = ca.mtimes(A, m.axis), ca.SX.zeros(3)
    turn, slide = (axis * qd, zero) if m.is_revolute else (zero, axis * qd)
    fixed, reach = ca.mtimes(parent.A, m.before), ca.mtimes(A, m.offset)
    step = MemberStep(fixed, reach, turn, slide, parent.w, parent.w + turn)
    last = _rotation_column(step, axis) if m.is_revolute else _translation_column(step, axis)
    columns = (*(_outward(column, step) for column in parent.columns), last)
    return Member(A, step.w, parent.v + step.rate, columns)


def _outward(c: JacobianColumn, step: MemberStep) -> JacobianColumn:
    """A column of an inner coordinate, one member further out."""
    whole = step.fixed + step.reach
    dw = c.dw + ca.cross(c.beta, step.turn)  # d beta_i / d phi_s = beta_s x beta_i, (45)
    dv = (
        c.dv
        + ca.cross(c.dw, step.fixed)
        + ca.cross(step.parent_w, ca.cross(c.beta, step.fixed))  # (47)
        + ca.cross(dw, step.reach)
        + ca.cross(step.w, ca.cross(c.beta, step.reach))
        + ca.cross(c.beta, step.slide)  # (46)
    )
    alpha = c.alpha + ca.cross(c.beta, whole)  # (16), (17)
    alphad = c.alphad + ca.cross(c.betad, whole) + ca.cross(c.beta, step.rate)  # (37), (38)
    return JacobianColumn(c.beta, alpha, c.betad, alphad, dw, dv)


def _rotation_column(step: MemberStep, beta: Symbol) -> JacobianColumn:
    """The column of the member's own rotation."""
    betad = ca.cross(step.parent_w, beta)  # (34)
    alpha = ca.cross(beta, step.reach)
    alphad = ca.cross(betad, step.reach) + ca.cross(beta, ca.cross(step.w, step.reach))
    return JacobianColumn(beta, alpha, betad, alphad, ca.SX.zeros(3), ca.cross(step.w, alpha))


def _translation_column(step: MemberStep, gamma: Symbol) -> JacobianColumn:
    """The column of the member's own translation: gamma, its rate (35), and S_kk of (51)."""
    zero, gammad = ca.SX.zeros(3), ca.cross(step.w, gamma)
    return JacobianColumn(zero, gamma, zero, gammad, zero, gammad)


@dataclass(frozen=True, eq=False)
class Terms:
    """Contribution of one member to W, Wdot, dT/dq and Y, as lists over the coordinates up to its own."""

    Z: list[list[Symbol]]
    Zd: list[list[Symbol]]
    dT: list[Symbol]
    Y: list[Symbol]


def member_terms(member: Member, theta: Symbol, gravity: Symbol) -> Terms:
    """(25), (33), (41) and (52)-(54) for one member."""
    mass, first, J = Body.of(theta)
    A, w, v = member.A, member.w, member.v
    h = ca.mtimes(A, first)
    hd = ca.cross(w, h)

    def AJA(x: Symbol) -> Symbol:
        return ca.mtimes(A, ca.mtimes(J, ca.mtimes(A.T, x)))

    Z, Zd, dT, Y = [], [], [], []
    momentum, spin = mass * v + ca.cross(w, h), AJA(w) + ca.cross(h, v)
    for j, c in enumerate(member.columns):
        # Momentum and angular momentum a unit of the coordinate's rate, and their rates, where
        # A J Bd + w x (A J B) uses Bd = A'(betad - w x beta) of (34).
        p, L = mass * c.alpha + ca.cross(c.beta, h), AJA(c.beta) + ca.cross(h, c.alpha)
        pd = mass * c.alphad + ca.cross(c.betad, h) + ca.cross(c.beta, hd)
        Ld = AJA(c.betad - ca.cross(w, c.beta)) + ca.cross(w, AJA(c.beta))
        Ld = Ld + ca.cross(hd, c.alpha) + ca.cross(h, c.alphad)
        inner = member.columns[: j + 1]
        Z.append([ca.dot(k.alpha, p) + ca.dot(k.beta, L) for k in inner])
        Zd.append([ca.dot(k.alphad, p) + ca.dot(k.alpha, pd) + ca.dot(k.betad, L) + ca.dot(k.beta, Ld) for k in inner])
        # (41): T = m v.v/2 + h.(v x w) + w.J w/2 in the member's own axes, so the turning of the whole
        # member by an inner rotation is taken off the derivatives in base axes.
        dv, dw = c.dv - ca.cross(c.beta, v), c.dw - ca.cross(c.beta, w)
        dT.append(ca.dot(momentum, dv) + ca.dot(spin, dw))
        Y.append(ca.dot(gravity, p))  # (52), (54) with erratum 1
    return Terms(Z, Zd, dT, Y)


class Lagrange(NamedTuple):
    """Result of `lagrange`."""

    W: Matrix
    V: Vector
    Wd: Matrix
    dT_dq: Vector
    Y: Vector


@traced()
def lagrange(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, gravity: Gravity = None) -> Lagrange:
    """Lagrange's equations of the rigid arm, W qdd = P + V, with P the joint torques.

    Returns
    -------
    W
        The mass matrix.
    V
        Y + dT/dq - Wd qd.
    Wd
        The rate of W.
    dT_dq
        Gradient of the kinetic energy.
    Y
        Generalised forces of gravity, minus `gravity_torque`.

    References
    ----------
    Vukobratovic and Potkonjak (1979), equations (25)-(54) with errata 1-3.
    """
    n, joints, rates = arm.n_joints, motions(arm, q), joint_rates(arm, qd)
    W, Wd, dT, Y = ca.SX.zeros(n, n), ca.SX.zeros(n, n), ca.SX.zeros(n), ca.SX.zeros(n)
    base = Member(ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3), ())
    members: list[Member] = []
    for i, m in enumerate(joints):
        members.append(add_member(base if m.parent < 0 else members[m.parent], m, rates[i]))
        terms, moving = member_terms(members[i], link_theta(theta, i), gravity), path(joints, i)
        for a, j in enumerate(moving):  # (31), (32), (39)
            dT[j] += terms.dT[a]
            Y[j] += terms.Y[a]
            for b, k in enumerate(moving[: a + 1]):
                W[j, k] += terms.Z[a][b]
                Wd[j, k] += terms.Zd[a][b]
    W, Wd = (coordinate_matrix(arm, _from_lower(X)) for X in (W, Wd))
    dT, Y = coordinate_torques(arm, dT), coordinate_torques(arm, Y)
    return Lagrange(W, Y + dT - ca.mtimes(Wd, qd), Wd, dT, Y)  # (29)


def _from_lower(A: Symbol) -> Symbol:
    """A symmetric matrix from its lower half."""
    return ca.tril2symm(ca.tril(A))
