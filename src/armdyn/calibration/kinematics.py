"""Where the tip is when frames, zeros and stiffness are not those of the description.

Each joint's frame (its axis is z) has an error of six numbers, its row of `geometry`: a turn by rx about x and by ry
about the new y, a shift by x, y, z along the turned axes, a turn by rz about z. So z (sliding joints) and rz (turning
ones) are exactly errors of the joint's zero. Each joint yields under gravity by its row of `deflection`: compliance
times mass and first moments of every link, four numbers a link [rad/(N m) or m/N times kg, kg m]. The deflection is
linear in them, for gravity's torque is; so it can be fitted although no mass is known.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.kinematics.damped_step import DAMPING_PER_SQUARED_ERROR, DampedStep, damped_correction
from armdyn.kinematics.error import error_sizes, pose_error
from armdyn.kinematics.forward import homogeneous
from armdyn.model.arm import Arm
from armdyn.model.quantities import DeflectionData, Geometry, Gravity, Pose, Q
from armdyn.precision import SOLUTION_ERROR
from armdyn.trace.formula import Array, Symbol, ca, traced

MOMENTS = 4  # mass and first moments of a link


class JointFrame(NamedTuple):
    """Symbols of a joint of the arm with errors, in base axes: its axis, a point of it, and the frame behind it."""

    slides: bool
    axis: Symbol
    point: Symbol
    R: Symbol
    p: Symbol


class ErrorChain(NamedTuple):
    """Symbols of the arm with errors: the tip, the joints, and per unit of every error the axis and where it acts."""

    R: Symbol
    p: Symbol
    joints: list[JointFrame]
    screws: list[tuple[bool, Symbol, Symbol]]  # whether it turns, axis, a point of it


def chain(arm: Arm, q: Symbol, geometry: Symbol) -> ErrorChain:
    """The arm's chain with six small joints before every joint."""
    R, p = ca.SX.eye(3), ca.SX.zeros(3)
    joints: list[JointFrame] = []
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
        axis, point = R[:, 2], p
        R = ca.horzcat(*_turn(R[:, 0], R[:, 1], rz if slides else rz + q[i]), R[:, 2])
        p = p + ca.mtimes(R, segment.p_after)
        R = ca.mtimes(R, segment.R_after)
        joints.append(JointFrame(slides, axis, point, R, p))
    R_tool, p_tool = arm.tool
    return ErrorChain(ca.mtimes(R, R_tool), p + ca.mtimes(R, p_tool), joints, screws)


def _turn(u: Symbol, v: Symbol, angle: Symbol) -> tuple[Symbol, Symbol]:
    """Two axes turned in their plane, u towards v."""
    c, s = ca.cos(angle), ca.sin(angle)
    return c * u + s * v, c * v - s * u


def deflection_rows(arm: Arm, q: Symbol, geometry: Symbol, gravity: Symbol) -> list[list[Symbol]]:
    """Symbols (n, n) of four numbers each: how far every joint yields per unit of a link's mass and first moments."""
    joints = chain(arm, q, geometry).joints
    rows = [[ca.SX.zeros(1, MOMENTS) for _ in joints] for _ in joints]
    for i, joint in enumerate(joints):
        # It yields the way gravity pulls: z.(r x g) for mass at r from the axis, z.g where the joint slides.
        pull = ca.cross(gravity, joint.axis)
        for k, link in enumerate(joints[i:], start=i):
            moments = (ca.dot(link.p - joint.point, pull), ca.mtimes(pull.T, link.R))
            rows[i][k] = ca.horzcat(*((ca.dot(joint.axis, gravity), 0, 0, 0) if joint.slides else moments))
    return rows


def deflected(arm: Arm, q: Symbol, geometry: Symbol, deflection: Symbol, gravity: Symbol) -> Symbol:
    """Symbols of the joints' positions as they are under gravity."""
    rows = deflection_rows(arm, q, geometry, gravity)
    return q + ca.vertcat(*(ca.dot(ca.horzcat(*row), deflection[i, :]) for i, row in enumerate(rows)))


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
    at = chain(arm, deflected(arm, q, geometry, deflection, gravity), geometry)
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
def deflection_regressor(arm: Arm, q: Q, *, geometry: Geometry = None, gravity: Gravity = None) -> Array:
    """Deflection of every joint under gravity per unit of its row of `deflection`."""
    return ca.vertcat(*(ca.horzcat(*row) for row in deflection_rows(arm, q, geometry, gravity)))


@traced()
def command_steps(
    arm: Arm,
    q: Q,
    pose: Pose,
    task: str = "pose",
    steps: int = 1,
    *,
    geometry: Geometry = None,
    deflection: DeflectionData = None,
    gravity: Gravity = None,
) -> DampedStep:
    """Joint positions to send for a pose, after Newton steps, and the distance and angle that are left.

    Damped by the squared error: quick also where the arm is singular (Yamashita, Fukushima 2001). How the deflection
    itself changes is left out: a thousandth, so that a step leaves a thousandth of the error.
    """
    for _ in range(steps):
        at = chain(arm, deflected(arm, q, geometry, deflection, gravity), geometry)
        e = pose_error(at.R, at.p, pose, task)
        J = ca.horzcat(*(_velocity(at, joint)[: e.shape[0]] for joint in at.joints))
        damping = DAMPING_PER_SQUARED_ERROR / 2 * ca.dot(e, e) + SOLUTION_ERROR
        q = q + damped_correction(J, ca.SX.ones(e.shape[0]), ca.SX.ones(arm.n), damping, e)
    at = chain(arm, deflected(arm, q, geometry, deflection, gravity), geometry)
    return DampedStep(q, error_sizes(at.R, at.p, pose, task))


def _velocity(at: ErrorChain, joint: JointFrame) -> Symbol:
    """Velocity of the tip, [linear; angular], per unit of a joint's."""
    if joint.slides:
        return ca.vertcat(joint.axis, ca.SX.zeros(3))
    return ca.vertcat(ca.cross(joint.axis, at.p - joint.point), joint.axis)
