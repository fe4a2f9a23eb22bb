"""Where the tip is when frames, zeros and stiffness are not those of the description.

Each joint's frame (its axis is z) has an error of six numbers, its row of `geometry`: a turn by rx about x and by ry
about the new y, a shift by x, y, z along the turned axes, a turn by rz about z. So z (sliding joints) and rz (turning
ones) are exactly errors of the joint's zero. Each joint yields under gravity by its row of `deflection`: compliance
times mass and first moments of every link, four numbers a link [rad/(N m) or m/N times kg, kg m]. The deflection is
linear in them, for gravity's torque is; so it can be fitted although no mass is known.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.gravity import first_moments
from armdyn.kinematics.forward import homogeneous
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import DeflectionData, Geometry, Gravity, Q
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, Symbol, ca, traced

MOMENTS = 4  # mass and first moments of a link


class Chain(NamedTuple):
    """Symbols of the arm with errors: the tip, and per unit of every error the axis and where it acts."""

    R: Symbol
    p: Symbol
    screws: list[tuple[bool, Symbol, Symbol]]  # whether it turns, axis, a point of it


def chain(arm: Arm, q: Symbol, geometry: Symbol) -> Chain:
    """The arm's chain with six small joints before every joint."""
    R, p = ca.SX.eye(3), ca.SX.zeros(3)
    screws: list[tuple[bool, Symbol, Symbol]] = []
    for i, segment in enumerate(arm.segments):
        x, y, z, rx, ry, rz = (geometry[i, k] for k in range(6))
        p = p + ca.mtimes(R, segment.p_before)
        R = ca.mtimes(R, segment.R_before)
        turn_x = (True, R[:, 0], p)
        R = ca.horzcat(R[:, 0], *_turn(R[:, 1], R[:, 2], rx))
        turn_y = (True, R[:, 1], p)
        side, ahead = _turn(R[:, 2], R[:, 0], ry)
        R = ca.horzcat(ahead, R[:, 1], side)
        slides = segment.kind == "prismatic"
        p = p + R[:, 0] * x + R[:, 1] * y + R[:, 2] * (z + q[i] if slides else z)
        screws += [(False, R[:, k], p) for k in range(3)] + [turn_x, turn_y, (True, R[:, 2], p)]
        R = ca.horzcat(*_turn(R[:, 0], R[:, 1], rz if slides else rz + q[i]), R[:, 2])
        p = p + ca.mtimes(R, segment.p_after)
        R = ca.mtimes(R, segment.R_after)
    R_tool, p_tool = arm.tool
    return Chain(ca.mtimes(R, R_tool), p + ca.mtimes(R, p_tool), screws)


def _turn(u: Symbol, v: Symbol, angle: Symbol) -> tuple[Symbol, Symbol]:
    """Two axes turned in their plane, u towards v."""
    c, s = ca.cos(angle), ca.sin(angle)
    return c * u + s * v, c * v - s * u


def deflections(arm: Arm, q: Symbol, deflection: Symbol, gravity: Symbol) -> Symbol:
    """Symbols: how far every joint of the arm as described yields under gravity."""
    joints, a, rows = motions(arm, q), -gravity, []
    for i, joint in enumerate(joints):
        theta = ca.SX.zeros(inertial.SIZE * arm.n)
        for link in range(i, arm.n):
            start = inertial.SIZE * link
            theta[start + inertial.MASS] = deflection[i, MOMENTS * link]
            for k, place in enumerate(range(*inertial.FIRST.indices(inertial.SIZE))):
                theta[start + place] = deflection[i, MOMENTS * link + 1 + k]
        m, h = first_moments(joints, theta)[0][i]
        a = joint.parent_to_joint(a)
        # compliance times z.(h x a), as in `gravity_torque`; it yields the way gravity pulls
        rows.append(-(h[0] * a[1] - h[1] * a[0]) if joint.is_revolute else -m * a[2])
        a = joint.joint_to_link(a)
    return ca.vertcat(*rows)


@traced(returns={"pose": "4, 4"})
def calibrated_kinematics(
    arm: Arm, q: Q, *, geometry: Geometry = None, deflection: DeflectionData = None, gravity: Gravity = None
) -> Array:
    """Pose of the tip in base axes, with errors of the joints' frames and the joints' deflection under gravity.

    Returns
    -------
    pose
        Without `geometry` and `deflection` that of `forward_kinematics`, plus the deflection that the arm's file holds.
    """
    at = chain(arm, q + deflections(arm, q, deflection, gravity), geometry)
    return homogeneous(at.R, at.p)


@traced(returns={"J": "6, 6*n"})
def geometry_regressor(arm: Arm, q: Q, *, geometry: Geometry = None) -> Array:
    """Velocity of the tip per unit of every error of the joints' frames.

    Returns
    -------
    J
        [linear; angular] in base axes, six columns a joint in the order of `geometry`.
    """
    at = chain(arm, q, geometry)
    columns = [
        ca.vertcat(ca.cross(axis, at.p - point), axis) if turns else ca.vertcat(axis, ca.SX.zeros(3))
        for turns, axis, point in at.screws
    ]
    return ca.horzcat(*columns)


@traced(returns={"Y": "n, 4*n"})
def deflection_regressor(arm: Arm, q: Q, *, gravity: Gravity = None) -> Array:
    """Deflection of every joint under gravity per unit of its row of `deflection`."""
    rows = ca.SX.sym("deflection", arm.n, MOMENTS * arm.n)
    d = deflections(arm, q, rows, gravity)
    return ca.vertcat(*(ca.jacobian(d[i], rows[i, :].T) for i in range(arm.n)))


@traced(returns={"rate": "n, n"})
def deflection_rate(arm: Arm, q: Q, *, deflection: DeflectionData = None, gravity: Gravity = None) -> Array:
    """Change of the joints' deflection under gravity per unit of their positions."""
    return ca.jacobian(deflections(arm, q, deflection, gravity), q)
