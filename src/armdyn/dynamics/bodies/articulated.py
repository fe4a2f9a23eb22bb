"""Articulated bodies: forward dynamics whose cost grows with n only.

Featherstone (2008), section 7.3. An articulated body answers accelerations (a, wd) of its origin with
f = M a + H wd, n = H' a + J wd, while all joints beyond it move freely.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.bodies.body import Body, Wrench, link_theta, symmetric, turned_matrix, turned_tensor
from armdyn.dynamics.bodies.composite import turned_tensor_z, wrench_to_joint, wrench_to_parent
from armdyn.kinematics.motion import Motion, hand_down
from armdyn.trace.symbols import Symbol, ca


class Articulated(NamedTuple):
    """Blocks of the 6x6 articulated inertia; M and J are symmetric."""

    M: Symbol
    H: Symbol
    J: Symbol

    @classmethod
    def of(cls, theta: Symbol) -> Articulated:
        """A single rigid link: f = m a - h x wd, n = h x a + I wd."""
        m, h, I = Body.of(theta)
        return cls(m * ca.SX.eye(3), -ca.skew(h), I)

    def joined(self, other: Articulated) -> Articulated:
        """Both bodies as one."""
        return Articulated(self.M + other.M, self.H + other.H, self.J + other.J)

    def shifted(self, p: Symbol) -> Articulated:
        """The body seen from a frame in which the present origin is at `p`; the axes stay."""
        # a at the old origin is a - [p]x wd, and the moment gains p x f.
        P = ca.skew(p)
        H = self.H - ca.mtimes(self.M, P)
        J = self.J + ca.mtimes(P, H) - ca.mtimes(self.H.T, P)
        return Articulated(self.M, H, _upper(J))


class Release(NamedTuple):
    """A joint let go: force and moment of a unit joint acceleration, and what the drive adds to the bias."""

    f: Symbol
    n: Symbol
    inverse_d: Symbol
    effort: Symbol


def articulated_acceleration(
    joints: list[Motion], theta: Symbol, wrenches: list[Wrench], tips: list[Wrench | None], tau: Symbol,
    rotors: Symbol | None = None,
) -> Symbol:  # fmt: skip
    """Joint accelerations, when `wrenches` are what the links need at zero joint accelerations.

    A rotor's inertia resists the joint's acceleration alone, not that of the parent.
    """
    carried: list[Articulated | None] = [None] * len(joints)
    passed = list(tips)
    releases = []
    for i in reversed(range(len(joints))):
        m, link, beyond, outward_wrench = joints[i], Articulated.of(link_theta(theta, i)), carried[i], passed[i]
        f, n = wrenches[i]
        if outward_wrench is not None:
            f, n = outward_wrench[0] + f, outward_wrench[1] + n
        f, n = wrench_to_joint(m, f, n)
        body = _link_to_joint(m, link if beyond is None else link.joined(beyond))
        effort = tau[i] - (n[2] if m.is_revolute else f[2])
        release = _release(m, body, effort, 0 if rotors is None else rotors[i])
        releases.append(release)
        if m.parent >= 0:
            push = release.effort * release.inverse_d
            wrench = wrench_to_parent(m, f + release.f * push, n + release.n * push)
            hand_down(passed, m.parent, wrench, lambda a, b: (a[0] + b[0], a[1] + b[1]))
            rest = _joint_to_parent(m, _free(m, body, release, rotors is not None))
            hand_down(carried, m.parent, rest, Articulated.joined)
    return _outward(joints, releases[::-1])


def _release(m: Motion, body: Articulated, effort: Symbol, rotor: Symbol) -> Release:
    """The column of the articulated inertia along the joint."""
    if m.is_revolute:
        return Release(body.H[:, 2], body.J[:, 2], 1 / (body.J[2, 2] + rotor), effort)
    return Release(body.M[:, 2], body.H[2, :].T, 1 / (body.M[2, 2] + rotor), effort)


def _free(m: Motion, body: Articulated, release: Release, has_rotor: bool) -> Articulated:
    """Return what remains for the parent; without a rotor, exactly nothing along the joint, which gives way there."""
    f, n = release.f * release.inverse_d, release.n * release.inverse_d
    M = _upper(body.M - ca.mtimes(f, release.f.T))
    H = body.H - ca.mtimes(f, release.n.T)
    J = _upper(body.J - ca.mtimes(n, release.n.T))
    if has_rotor:
        return Articulated(M, H, J)
    if m.is_revolute:
        H[:, 2] = 0
        J[:, 2] = J[2, :] = 0
    else:
        H[2, :] = 0
        M[:, 2] = M[2, :] = 0
    return Articulated(M, H, J)


def _link_to_joint(m: Motion, body: Articulated) -> Articulated:
    """A body described in the link's frame, seen from the joint's point in joint axes."""
    return _turn(m.segment.R_after, body).shifted(m.offset_in_joint)


def _joint_to_parent(m: Motion, body: Articulated) -> Articulated:
    """A body described at the joint's point in joint axes, seen from the parent's link frame."""
    if m.is_revolute:
        c, s = m.cos_sin
        Z = ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        H = ca.mtimes(Z, ca.mtimes(body.H, Z.T))
        body = Articulated(turned_tensor_z(c, s, body.M), H, turned_tensor_z(c, s, body.J))
    return _turn(m.segment.R_before, body).shifted(ca.SX(m.before))


def _turn(R: Symbol, body: Articulated) -> Articulated:
    """The body in other axes: vectors v become R v."""
    return Articulated(turned_tensor(R, body.M), turned_matrix(R, body.H), turned_tensor(R, body.J))


def _upper(A: Symbol) -> Symbol:
    """A symmetric matrix from its upper half."""
    return symmetric(A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2])


def _outward(joints: list[Motion], releases: list[Release]) -> Symbol:
    """Joint accelerations from the base out; a and wd are accelerations on top of those at qdd = 0."""
    rest = (ca.SX.zeros(3), ca.SX.zeros(3))
    links: list[tuple[Symbol, Symbol]] = []
    qdd: list[Symbol] = []
    for m, release in zip(joints, releases, strict=True):
        a, wd = rest if m.parent < 0 else links[m.parent]
        a = m.parent_to_joint(a + ca.cross(wd, ca.SX(m.before)))
        wd = m.parent_to_joint(wd)
        answer = ca.dot(release.f, a) + ca.dot(release.n, wd)
        qdd.append(release.inverse_d * (release.effort - answer))
        step = ca.vertcat(0, 0, qdd[-1])
        a, wd = (a, wd + step) if m.is_revolute else (a + step, wd)
        links.append((m.joint_to_link(a + ca.cross(wd, m.offset_in_joint)), m.joint_to_link(wd)))
    return ca.vertcat(*qdd)
