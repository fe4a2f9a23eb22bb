"""Velocity and acceleration of the tip or of any point of the arm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError
from armdyn.kinematics.dependents import joint_rates
from armdyn.kinematics.forward import carried_point, in_axes
from armdyn.kinematics.motion import Screw, joint_screw
from armdyn.model.arm import Arm
from armdyn.model.quantities import Point, Q, Qd, Qdd
from armdyn.trace.formula import Array, ca, traced


@traced(returns={"velocity": "6"})
def point_velocity(
    arm: Arm, q: Q, qd: Qd, point: Point = None, link: int | None = None, axes: str = "base", frame: str | None = None
) -> Array:
    """Velocity of the tip or of any point, and angular velocity of its link: `[v; w] = J qd`.

    Parameters
    ----------
    point, link, axes, frame
        As for `jacobian`.

    Returns
    -------
    velocity
        [v, w] [m/s, rad/s].
    """
    R, p, moving = carried_point(arm, q, point, link, "point_velocity", frame)
    velocity, speeds = Screw.zero(), joint_rates(arm, qd)
    for i, (m, link_frame) in moving.items():
        velocity = velocity.plus(joint_screw(m, link_frame), speeds[i])
    return in_axes(R, ca.vertcat(velocity.at(p), velocity.w), axes, "point_velocity")


@traced(returns={"acceleration": "6"})
def point_acceleration(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, point: Point = None, link: int | None = None, axes: str = "base",
    frame: str | None = None,
) -> Array:  # fmt: skip
    """Acceleration of the tip or of any point, and angular acceleration of its link: `[a; wd] = J qdd + J_rate qd`.

    Parameters
    ----------
    point, link, axes, frame
        As for `jacobian`. Gravity is not included.

    Returns
    -------
    acceleration
        [a, wd] [m/s², rad/s²].
    """
    R, p, moving = carried_point(arm, q, point, link, "point_acceleration", frame)
    velocity, rate = Screw.zero(), Screw.zero()
    speeds, accelerations = joint_rates(arm, qd), joint_rates(arm, qdd)
    for i, (m, link_frame) in moving.items():
        screw = joint_screw(m, link_frame)
        # d/dt (S qd) = S qdd + V x S qd
        rate = rate.plus(screw, accelerations[i]).plus(velocity.cross(screw), speeds[i])
        velocity = velocity.plus(screw, speeds[i])
    # d/dt (v + w x p) = vd + wd x p + w x pd
    acceleration = rate.at(p) + ca.cross(velocity.w, velocity.at(p))
    return in_axes(R, ca.vertcat(acceleration, rate.w), axes, "point_acceleration")


def add_angular_velocities(rotations: ArrayLike, velocities: ArrayLike) -> NDArray:
    """Angular velocity of frame n in frame 0 from those of each frame in the one before it.

    Parameters
    ----------
    rotations : array_like, shape (..., n, 3, 3)
        R_01, R_12, ...: each frame's orientation in the one before it (the last one plays no part).
    velocities : array_like, shape (..., n, 3)
        Angular velocity of frame k+1 in frame k, in the axes of frame k [rad/s].

    Returns
    -------
    w : ndarray, shape (..., 3)
        In the axes of frame 0: sum of R_0k w_k,k+1.

    References
    ----------
    ECE470 (2019), section 1.8.
    """
    R, w = np.asarray(rotations, float), np.asarray(velocities, float)
    if R.shape[-2:] != (3, 3) or w.shape[-1:] != (3,) or R.shape[-3:-2] != w.shape[-2:-1]:
        expected = "rotations (..., n, 3, 3) and velocities (..., n, 3)"
        raise ShapeError(where="add_angular_velocities", expected=expected, got=f"{R.shape} and {w.shape}")
    total = np.zeros(3)
    # Inwards: w_k,n = w_k,k+1 + R_k,k+1 w_k+1,n
    for k in reversed(range(w.shape[-2])):
        total = w[..., k, :] + (R[..., k, :, :] @ total[..., None])[..., 0]
    return total
