"""How the torques of the rigid arm depend on position, velocity and acceleration: M, C, K in one pass.

Eindhoven (1987), equations (69)-(110) with errata 4-7, differentiates the Newton-Euler recursion link by
link for every joint. Here the same derivatives are written for a particle at r that moves with v, both
seen from the point of the joint that is disturbed. Whether q, qd or qdd of that joint is disturbed, every
particle it carries gains, in axes that turn with its link, an acceleration of one form,

    a + alpha x r + 2 w x v,

a `Push`. Summed over all that a joint carries, the forces need no more than the moments of one composite
body: mass, first moments and tensor for a and alpha, moments of velocity for w. Nothing but differences of
velocities matters, so no velocity relative to the base is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from numpy.typing import NDArray

from armdyn.dynamics.bodies.body import Body, Wrench, cross_z, link_theta, turned_matrix
from armdyn.dynamics.bodies.composite import carry, turned_tensor_z, turned_to_parent, wrench_to_joint, wrench_to_parent
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.dynamics.mass_matrix import along_joint, unit_wrench
from armdyn.dynamics.newton_euler import (
    LinkMotion,
    Tips,
    add_wrenches,
    base_link_motion,
    inertial_wrench,
    outward,
    tip_wrench,
)
from armdyn.kinematics.dependents import coordinate_matrix, coordinate_torques, joint_rates
from armdyn.kinematics.motion import Motion, ancestors, hand_down, motions, rotate
from armdyn.model.arm import Arm
from armdyn.model.quantities import BaseMotion, Gravity, Q, Qd, Qdd, Theta, TipWrench
from armdyn.trace.formula import Array, Matrix, Symbol, Vector, ca, on_symbols, traced


class Moments(NamedTuple):
    """Mass and velocity of a cloud of particles: L = 2 sum m v and V = 2 sum m v r', seen from the origin.

    The origin may move: v is a velocity relative to it, in axes that do not turn.
    """

    body: Body
    L: Symbol
    V: Symbol

    @classmethod
    def of(cls, theta: Symbol, w: Symbol) -> Moments:
        """A link that turns with w: v = w x r, and 2 sum m r r' = tr(I) 1 - 2 I."""
        body = Body.of(theta)
        second = ca.trace(body.I) * ca.SX.eye(3) - 2 * body.I
        return cls(body, 2 * ca.cross(w, body.h), ca.mtimes(ca.skew(w), second))

    def joined(self, other: Moments) -> Moments:
        """Both clouds as one."""
        return Moments(self.body.joined(other.body), self.L + other.L, self.V + other.V)

    def shifted(self, p: Symbol, u: Symbol) -> Moments:
        """Seen from a point from which the present origin is at p and moves with u / 2."""
        body = self.body.shifted(p)
        return Moments(body, self.L + body.m * u, self.V + ca.mtimes(self.L, p.T) + ca.mtimes(u, body.h.T))

    def turned(self, R: NDArray) -> Moments:
        """In other axes: vectors v become R v."""
        return Moments(self.body.turned(R), rotate(R, self.L), turned_matrix(R, self.V))

    def turned_to_parent(self, m: Motion) -> Moments:
        """Turn them from the joint's axes to those of the parent."""
        V = turned_tensor_z(*m.cos_sin, self.V) if m.is_revolute else self.V
        return Moments(turned_to_parent(m, self.body), m.joint_to_parent(self.L), turned_matrix(m.segment.R_before, V))


# -- what a disturbance of one joint does --------------------------------------------------------------------


class MotionColumn(NamedTuple):
    """Particles at r moving with v, seen from the joint's point, gain a + alpha x r + 2 w x v."""

    a: Symbol
    alpha: Symbol
    w: Symbol


def velocity_push(m: Motion, parent: LinkMotion) -> MotionColumn:
    """Return the effect of a unit of qd, (83)-(92); `parent` is the parent's motion at the joint, in joint axes."""
    zero, wz = ca.SX.zeros(3), cross_z(parent.w)
    if m.is_revolute:
        return MotionColumn(zero, 2 * wz, ca.SX([0, 0, 1]))
    return MotionColumn(2 * wz, zero, zero)


def position_push(m: Motion, parent: LinkMotion) -> MotionColumn:
    """Return the effect of a unit of q, (97)-(106) with errata 4 and 6.

    For links that turn by dq the parent's motion turns by -dq; for links that slide by z dq the joint is
    elsewhere in the parent's field of accelerations.
    """
    zero = ca.SX.zeros(3)
    if not m.is_revolute:
        return MotionColumn(parent.U[:, 2], zero, zero)
    wz = cross_z(parent.w)
    return MotionColumn(cross_z(parent.a), cross_z(parent.wd) + ca.cross(parent.w, wz), wz)


# -- crossing a joint ----------------------------------------------------------------------------------------


class JointTransfer(NamedTuple):
    """One joint in motion."""

    m: Motion
    parent: LinkMotion  # the parent's motion at the joint's point, in joint axes
    u_before: Symbol  # twice the velocity of the joint's point seen from the parent's origin, in parent axes
    u_offset: Symbol  # twice the velocity of the link's origin seen from the joint's point, in joint axes

    @classmethod
    def of(cls, m: Motion, parent: LinkMotion, link: LinkMotion, qd: Symbol) -> JointTransfer:
        """Build it from the motions of the parent's and the link's frames in their own axes."""
        before, turn = ca.SX(m.before), m.parent_to_joint
        at_joint = LinkMotion(turn(parent.w), turn(parent.wd), turn(parent.a + ca.mtimes(parent.U, before)))
        u_offset = ca.cross(m.link_to_joint(link.w), m.offset_in_joint)
        if not m.is_revolute:
            u_offset = u_offset + ca.vertcat(0, 0, qd)
        return cls(m, at_joint, 2 * ca.cross(parent.w, before), 2 * u_offset)

    def to_parent(self, moments: Moments) -> Moments:
        """Moments at the joint's point in joint axes, seen from the parent's link frame."""
        return moments.turned_to_parent(self.m).shifted(ca.SX(self.m.before), self.u_before)

    def to_joint(self, moments: Moments) -> Moments:
        """Moments in the link's frame, seen from the joint's point in joint axes."""
        return moments.turned(self.m.segment.R_after).shifted(self.m.offset_in_joint, self.u_offset)


class Load(NamedTuple):
    """All that a joint carries, at the joint's point in joint axes, and the wrench that this takes."""

    moments: Moments
    wrench: Wrench

    def response(self, push: MotionColumn) -> Wrench:
        """Force and moment at the joint that the particles' gain in acceleration takes."""
        (m, h, I), L, V = self.moments
        f = m * push.a + ca.cross(push.alpha, h) + ca.cross(push.w, L)
        # sum of m r x (2 w x v) = tr(V) w - V w
        n = ca.cross(h, push.a) + ca.mtimes(I, push.alpha) + ca.trace(V) * push.w - ca.mtimes(V, push.w)
        return f, n

    def position_response(self, m: Motion, push: MotionColumn) -> Wrench:
        """The same for a change of q, which also turns or shifts the wrench itself, (107)-(110)."""
        f, n = self.response(push)
        f0, n0 = self.wrench
        if m.is_revolute:
            return f - cross_z(f0), n - cross_z(n0)
        return f, n - cross_z(f0)


def loads(crossings: list[JointTransfer], links: list[LinkMotion], theta: Symbol, tips: Tips) -> list[Load]:
    """Return what every joint carries; `tips` is what links pass on to the environment."""
    carried: list[Moments | None] = [None] * len(links)
    passed = list(tips)
    at_joints: list[Load] = []
    for i in reversed(range(len(links))):
        crossing, body = crossings[i], link_theta(theta, i)
        moments, beyond, outward_wrench = Moments.of(body, links[i].w), carried[i], passed[i]
        f, n = inertial_wrench(body, links[i])
        if beyond is not None:
            moments = moments.joined(beyond)
        if outward_wrench is not None:
            f, n = f + outward_wrench[0], n + outward_wrench[1]
        load = Load(crossing.to_joint(moments), wrench_to_joint(crossing.m, f, n))
        at_joints.append(load)
        if (parent := crossing.m.parent) >= 0:
            hand_down(carried, parent, crossing.to_parent(load.moments), Moments.joined)
            hand_down(passed, parent, wrench_to_parent(crossing.m, *load.wrench), add_wrenches)
    return at_joints[::-1]


# -- what one joint feels of another -------------------------------------------------------------------------


class ForceRow(NamedTuple):
    """The torque at one joint per unit of a push (a, alpha, w) of a joint nearer the base."""

    f: Symbol
    n: Symbol
    g: Symbol

    @classmethod
    def of(cls, m: Motion, load: Load) -> ForceRow:
        """For pushes at the joint's own point."""
        (body, L, V) = load.moments
        f, n = unit_wrench(m, body)
        if m.is_revolute:
            return cls(f, n, ca.vertcat(-V[2, 0], -V[2, 1], V[0, 0] + V[1, 1]))  # tr(V) z - V' z
        return cls(f, n, cross_z(L))  # z . (w x L) = w . (L x z)

    def shifted(self, p: Symbol, u: Symbol) -> ForceRow:
        """For pushes at a point from which the present one is at p and moves with u / 2."""
        return ForceRow(self.f, self.n + ca.cross(p, self.f), self.g + ca.cross(u, self.f))

    def turned(self, turn: Callable[[Symbol], Symbol]) -> ForceRow:
        """In other axes."""
        return ForceRow(turn(self.f), turn(self.n), turn(self.g))

    def carried(self, outer: JointTransfer, inner: JointTransfer) -> ForceRow:
        """Carry it from motions at the joint `outer` to motions at `inner`, the joint of its parent."""
        at_parent = self.turned(outer.m.joint_to_parent).shifted(ca.SX(outer.m.before), outer.u_before)
        return at_parent.turned(inner.m.link_to_joint).shifted(inner.m.offset_in_joint, inner.u_offset)

    def of_push(self, push: MotionColumn) -> Symbol:
        """The torque."""
        return ca.dot(self.f, push.a) + ca.dot(self.n, push.alpha) + ca.dot(self.g, push.w)


class TorqueDerivatives(NamedTuple):
    """Torques and their derivatives with respect to qdd, qd and q."""

    tau: Vector
    M: Matrix
    C: Matrix
    K: Matrix


def torque_matrices(crossings: list[JointTransfer], carried: list[Load]) -> TorqueDerivatives:
    """Joint by joint: its own column above the diagonal, its own row below."""
    joints, n = [crossing.m for crossing in crossings], len(crossings)
    M, C, K = ca.SX.zeros(n, n), ca.SX.zeros(n, n), ca.SX.zeros(n, n)
    speed = [velocity_push(x.m, x.parent) for x in crossings]
    place = [position_push(x.m, x.parent) for x in crossings]
    for j, (joint, load) in enumerate(zip(crossings, carried, strict=True)):
        feel = ForceRow.of(joint.m, load)
        by_speed, by_place = load.response(speed[j]), load.position_response(joint.m, place[j])
        for child, i in ((j, j), *ancestors(joints, j)):
            m = joints[i]
            if i != j:
                outer, inner = crossings[child], crossings[i]
                feel = feel.carried(outer, inner)
                by_speed, by_place = (carry(outer.m, inner.m, *wrench) for wrench in (by_speed, by_place))
                C[j, i], K[j, i] = feel.of_push(speed[i]), feel.of_push(place[i])
            M[i, j] = M[j, i] = along_joint(m, feel.f, feel.n)  # (82), (81)
            C[i, j] = along_joint(m, *by_speed)  # (96), (95)
            K[i, j] = along_joint(m, *by_place)  # (110), (109)
    tau = ca.vertcat(*(along_joint(x.m, *load.wrench) for x, load in zip(crossings, carried, strict=True)))
    return TorqueDerivatives(tau, M, C, K)


@traced()
def torque_derivatives(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None, *,
    theta: Theta = None, gravity: Gravity = None,
) -> TorqueDerivatives:  # fmt: skip
    """Joint torques of the rigid arm and their derivatives, in one pass; a wrench is constant in tip axes.

    Returns
    -------
    tau
        What `inverse_dynamics` gives.
    M, C, K
        d tau/d qdd, d tau/d qd and d tau/d q. M is the mass matrix; C is not the Coriolis matrix of
        `coriolis_matrix` but, on a base at rest, twice that.

    References
    ----------
    Eindhoven (1987), equations (69)-(110) with errata 4-7.
    """
    joints, rates = motions(arm, q), joint_rates(arm, qd)
    base = base_link_motion(gravity, base_motion)
    links = outward(joints, rates, joint_rates(arm, qdd), base)
    crossings = [
        JointTransfer.of(m, base if m.parent < 0 else links[m.parent], link, rates[i])
        for i, (m, link) in enumerate(zip(joints, links, strict=True))
    ]
    tau, *matrices = torque_matrices(crossings, loads(crossings, links, regroup(arm, theta), tip_wrench(arm, wrench)))
    return TorqueDerivatives(coordinate_torques(arm, tau), *(coordinate_matrix(arm, X) for X in matrices))


def slope(X: Symbol, x: Symbol) -> list[Symbol]:
    """One matrix per row i of X: entry (j, k) is dX_ij/dx_k."""
    return [ca.jacobian(X[i, :], x) for i in range(X.shape[0])]


def mirror(H: Symbol) -> Symbol:
    """A symmetric matrix from its upper half, so that the graph never holds the other half."""
    return ca.triu(H) + ca.triu(H, False).T


class TorqueSecondDerivatives(NamedTuple):
    """Result of `torque_second_derivatives`."""

    qq: Annotated[Array, "n, n, n"]
    qqd: Annotated[Array, "n, n, n"]
    qdqd: Annotated[Array, "n, n, n"]
    qqdd: Annotated[Array, "n, n, n"]


@traced()
def torque_second_derivatives(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None, *,
    theta: Theta = None, gravity: Gravity = None,
) -> TorqueSecondDerivatives:  # fmt: skip
    """Second derivatives of the joint torques of the rigid arm.

    Those with respect to qd and qdd, and to qdd twice, are zero. A wrench is constant in tip axes.

    Returns
    -------
    qq, qqd, qdqd, qqdd
        Entry [i, j, k] is d² tau_i / dq_j dq_k, / dq_j dqd_k, / dqd_j dqd_k and / dq_j dqdd_k.
    """

    def slopes(x: Symbol) -> list[Symbol]:
        _, M, C, K = torque_derivatives(arm, x, qd, qdd, wrench, base_motion, theta=theta, gravity=gravity)
        return [*slope(M, x), *slope(C, x), *slope(K, x)]

    n, slopes_at = arm.n, on_symbols(slopes, q)
    dM, dC, dK = slopes_at[:n], slopes_at[n : 2 * n], slopes_at[2 * n :]
    blocks: list[Any] = [[mirror(H) for H in dK], [H.T for H in dC], christoffel(dM), [H.T for H in dM]]
    return TorqueSecondDerivatives(*blocks)


def christoffel(dM: list[Symbol]) -> list[Symbol]:
    """Twice the Christoffel symbols of the mass matrix: the torques' quadratic part in qd has no others."""
    joints = range(len(dM))
    return [ca.blockcat([[dM[i][j, k] + dM[i][k, j] - dM[j][k, i] for k in joints] for j in joints]) for i in joints]
