"""Recursive Newton-Euler in link coordinates (Luh, Walker, Paul).

Sources: Eindhoven 1987 (WPA 0461), equations (45)-(58), errata 1, 3 and 10: gravity enters as a base
acceleration of -g, the angular acceleration carries w x z qd inside the rotation, and a wrench ON the
tip is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armdyn.dynamics.bodies.body import Wrench, link_theta
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.kinematics.dependents import coordinate_torques, joint_rates
from armdyn.kinematics.motion import Motion, hand_down, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import BaseMotion, Gravity, Q, Qd, Qdd, Theta, TipWrench
from armdyn.precision import ROUND_OFF
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, Symbol, ca, traced

Triple = tuple[Symbol, Symbol, Symbol]
Tips = list[Wrench | None]  # what each link passes on to the environment, about its origin


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Motion of a link's frame in link axes: angular velocity, its rate, acceleration of the origin.

    `U` is the matrix with a(p) = a + U p for points p of the link: [wd]x + [w]x [w]x.
    """

    w: Symbol
    wd: Symbol
    a: Symbol
    U: Symbol = None

    def __post_init__(self) -> None:
        if self.U is None:
            object.__setattr__(self, "U", field_matrix(self.w, self.wd))


def field_matrix(w: Symbol, wd: Symbol) -> Symbol:
    """[wd]x + [w]x [w]x."""
    squares = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    return field_of_products(squares, (w[1] * w[2], w[0] * w[2], w[0] * w[1]), wd)


def field_of_products(squares: Triple, products: Triple, wd: Symbol) -> Symbol:
    """[wd]x + S - trace(S) 1, with the diagonal xx, yy, zz and the entries yz, xz, xy of a symmetric S."""
    (xx, yy, zz), (yz, xz, xy) = squares, products
    return ca.blockcat(
        [
            [-(yy + zz), xy - wd[2], xz + wd[1]],
            [xy + wd[2], -(xx + zz), yz - wd[0]],
            [xz - wd[1], yz + wd[0], -(xx + yy)],
        ]
    )


def turned_field(m: Motion, parent: LinkMotion, w: Symbol, wd: Symbol) -> tuple[Symbol, Symbol]:
    """wd and U of a link on a revolute joint, by fewer operations where the joint's axis allows.

    Points of the joint's axis z belong to both links, so U z is the same vector for both. Where z is a
    coordinate axis k of both frames, column k of U is one of the parent's, turned. With i, j, k cyclic
    it reads w_i w_k + wd_j, w_j w_k - wd_i, -(w_i² + w_j²), which gives wd_i, wd_j and w_j².
    """
    z, z_parent = m.axis, m.segment.R_before[:, 2]
    # A vector of length 1 to all digits may still be turned by 1e-8 rad, so the other components decide.
    if max(np.sort(np.abs(axis))[1] for axis in (z, z_parent)) > ROUND_OFF:
        return wd, field_matrix(w, wd)
    k = int(np.argmax(np.abs(z)))
    i, j = (k + 1) % 3, (k + 2) % 3
    column = z[k] * m.to_link(ca.mtimes(parent.U, z_parent))
    ii, kk, ij, ik, jk = w[i] * w[i], w[k] * w[k], w[i] * w[j], w[i] * w[k], w[j] * w[k]
    wd, U = ca.SX(wd), ca.SX(3, 3)
    wd[i], wd[j] = jk - column[j], column[i] - ik
    U[i, i], U[i, j] = column[k] - (kk - ii), ij - wd[k]
    U[j, i], U[j, j] = ij + wd[k], -(ii + kk)
    U[k, i], U[k, j] = ik - wd[j], jk + wd[i]
    U[:, k] = column
    return wd, U


def outward(joints: list[Motion], qd: Symbol, qdd: Symbol, base: LinkMotion) -> list[LinkMotion]:
    """Motion of every link from the base's; `base.a` holds the base's acceleration minus gravity."""
    links: list[LinkMotion] = []
    for i, m in enumerate(joints):
        parent = base if m.parent < 0 else links[m.parent]
        w, wd, z = m.to_link(parent.w), m.to_link(parent.wd), m.axis
        # Acceleration of the joint's point, which is fixed in the parent.
        a = m.to_link(parent.a + ca.mtimes(parent.U, m.before))
        if m.is_revolute:
            # (50): wd_i = R'(wd + w x z qd + z qdd), w_i = R'(w + z qd)
            wd = wd + ca.cross(w, z * qd[i]) + z * qdd[i]
            w = w + z * qd[i]
            wd, U = turned_field(m, parent, w, wd)
        else:
            a = a + z * qdd[i] + 2 * ca.cross(w, z * qd[i])
            U = field_matrix(w, wd)
        links.append(LinkMotion(w, wd, a + ca.mtimes(U, m.offset), U))
    return links


def inertial_wrench(theta: Symbol, link: LinkMotion) -> tuple[Symbol, Symbol]:
    """Force and moment about the link's origin that accelerate a body with the ten parameters `theta`.

    f = m a + U h,  n = I wd + w x (I w) + h x a, with h = m c and I about the origin. The moment is
    grouped by parameter so that differences such as Izz - Iyy are formed once and not per sample, and
    written with the entries of U, which the force needs too.
    """
    m, h = theta[inertial.MASS], theta[inertial.FIRST]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (tuple(theta[int(k)] for k in row) for row in inertial.TENSOR)
    w, wd, a, U = link.w, link.wd, link.a, link.U
    wxy, wxz, wyz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    f = m * a + ca.mtimes(U, h)
    n = ca.vertcat(
        xx * wd[0] + (zz - yy) * wyz - xy * U[2, 0] + xz * U[1, 0] + yz * (U[1, 1] - U[2, 2]),
        yy * wd[1] + (xx - zz) * wxz + xy * U[2, 1] - yz * U[0, 1] + xz * (U[2, 2] - U[0, 0]),
        zz * wd[2] + (yy - xx) * wxy - xz * U[1, 2] + yz * U[0, 2] + xy * (U[0, 0] - U[1, 1]),
    )
    return f, n + ca.cross(h, a)


def add_wrenches(a: Wrench, b: Wrench) -> Wrench:
    """Return the sum of two wrenches about one point."""
    return a[0] + b[0], a[1] + b[1]


def accumulate_wrenches(joints: list[Motion], wrenches: list[Wrench], tips: Tips) -> list[Wrench]:
    """Return what every joint passes to its link: force, and moment about the joint's point, in link axes.

    (55), (56). `wrenches` move the links and `tips` is what links pass on to the environment, each about the link's
    origin.
    """
    passed = list(tips)
    through: list[Wrench] = [(None, None)] * len(joints)
    for i in reversed(range(len(joints))):
        m, outward_wrench = joints[i], passed[i]
        f, n = wrenches[i] if outward_wrench is None else add_wrenches(outward_wrench, wrenches[i])
        n = n + ca.cross(m.offset, f)
        through[i] = (f, n)
        f, n = m.to_parent(f), m.to_parent(n)
        hand_down(passed, m.parent, (f, n + ca.cross(m.before, f)), add_wrenches)
    return through


def inward(joints: list[Motion], wrenches: list[Wrench], tips: Tips) -> list[Symbol]:
    """Joint forces: what the drives add along the joints' axes, (57), (58)."""
    return [
        ca.dot(m.axis, n if m.is_revolute else f)
        for m, (f, n) in zip(joints, accumulate_wrenches(joints, wrenches, tips), strict=True)
    ]


def base_link_motion(gravity: Symbol, base_motion: Symbol | None) -> LinkMotion:
    """The base's motion with gravity as an acceleration of -g (erratum 1)."""
    if base_motion is None:
        return LinkMotion(ca.SX.zeros(3), ca.SX.zeros(3), -gravity)
    omega, omega_dot, acc = (base_motion[row, :].T for row in range(3))
    return LinkMotion(omega, omega_dot, acc - gravity)


def tip_wrench(arm: Arm, wrench: Symbol | None) -> Tips:
    """Return what each link passes on to the environment, at its own origin: the tip's link minus the wrench on the
    tip.
    """
    tips: Tips = [None] * arm.n_joints
    if wrench is not None:
        R, p = arm.tool
        f, n = ca.mtimes(R, wrench[:3]), ca.mtimes(R, wrench[3:])
        tips[arm.tip_index] = -f, -(n + ca.cross(p, f))
    return tips


@traced(returns={"tau": "n"}, redescribable=True)
def inverse_dynamics(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None, *,
    theta: Theta = None, gravity: Gravity = None,
) -> Array:  # fmt: skip
    """Joint torques that produce the accelerations `qdd`.

    tau = M(q) qdd + C(q, qd) qd + g(q) - J' w, by recursive Newton-Euler. The rigid arm only: friction
    and drives are separate functions.

    Returns
    -------
    tau
        Joint torques or forces [N m or N], positive along the joint axis.

    References
    ----------
    Eindhoven (1987), equations (45)-(58) with errata 1, 3, 10.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.inverse_dynamics(arm, [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]).round(2)  # N m
    array([58.39,  6.65])
    >>> q, qd, qdd = np.zeros((3, 1000, 2))
    >>> armdyn.inverse_dynamics(arm, q, qd, qdd).shape
    (1000, 2)
    """
    theta = regroup(arm, theta)
    joints = motions(arm, q)
    base = base_link_motion(gravity, base_motion)
    links = outward(joints, joint_rates(arm, qd), joint_rates(arm, qdd), base)
    wrenches = [inertial_wrench(link_theta(theta, i), link) for i, link in enumerate(links)]
    return coordinate_torques(arm, ca.vertcat(*inward(joints, wrenches, tip_wrench(arm, wrench))))


@traced(returns={"wrenches": "joints, 6"})
def joint_wrenches(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None, *,
    theta: Theta = None, gravity: Gravity = None,
) -> Array:  # fmt: skip
    """Force and moment that every joint transmits to its link: what bearings and structure must carry.

    Returns
    -------
    wrenches
        [force, moment] exerted by the link before (or the base) on link i, in the axes of link i, the moment
        about the joint's point: where `before` leads, on the joint's axis [N, N m]. The component along
        the axis is what the drive gives, `inverse_dynamics`.

    References
    ----------
    Eindhoven (1987), equations (55), (56).
    """
    joints = motions(arm, q)
    base = base_link_motion(gravity, base_motion)
    links = outward(joints, joint_rates(arm, qd), joint_rates(arm, qdd), base)
    wrenches = [inertial_wrench(link_theta(theta, i), link) for i, link in enumerate(links)]
    accumulated = accumulate_wrenches(joints, wrenches, tip_wrench(arm, wrench))
    return ca.vertcat(*(ca.horzcat(f.T, n.T) for f, n in accumulated))
