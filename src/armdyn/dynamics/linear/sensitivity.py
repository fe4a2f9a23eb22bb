"""How the linearised arm changes with its inertial parameters, an unknown payload above all."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.linear.full_derivatives import joint_terms
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.dynamics.movable import require_movable_with_rotors
from armdyn.model.arm import Arm
from armdyn.model.quantities import BaseMotion, DriveData, FrictionData, Gravity, Q, Qd, Qdd, Theta, TipWrench
from armdyn.spatial.inertia import SIZE, Inertia
from armdyn.trace.formula import Array, Matrix, ca, traced


def unit_payload(arm: Arm, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None) -> NDArray:
    """The change of `arm.theta` per kilogram of payload.

    Parameters
    ----------
    arm : Arm
    com : array_like, shape (3,), optional
        Centre of the payload in the tip frame [m].
    inertia : array_like, shape (3, 3), optional
        Its tensor about the centre per kilogram [m²]; left out for a point mass.

    Returns
    -------
    direction : ndarray, shape (10 n,)
        For `linearize_sensitivity`, or to be multiplied by the torque regressor.
    """
    direction = np.zeros(SIZE * arm.n)
    direction[-SIZE:] = Inertia.from_com(1.0, com, inertia).moved(arm.tool_pose).theta
    return direction


class LinearizeSensitivity(NamedTuple):
    """What `linearize_sensitivity` returns."""

    dM: Matrix
    dC: Matrix
    dK: Matrix
    dA: Annotated[Array, "2*n, 2*n"]
    dB: Annotated[Array, "2*n, n"]


@traced(check=require_movable_with_rotors)
def linearize_sensitivity(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, direction: Annotated[Any, "10*n"], wrench: TipWrench = None,
    base_motion: BaseMotion = None, model: str = "rigid", width: float = 0.0, *,
    theta: Theta = None, gravity: Gravity = None, friction: FrictionData = None, drive: DriveData = None,
) -> LinearizeSensitivity:  # fmt: skip
    """Derivatives of the results of `linearize`, along a direction of `theta`.

    The motion q, qd, qdd is kept; the rigid arm's torques along it change by `regressor(...) @ direction`.

    Parameters
    ----------
    q, qd, qdd
        Joint positions, velocities, accelerations of the motion [rad or m, /s, /s²].
    direction
        Change of the inertial parameters, such as `unit_payload(arm)`.
    wrench
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    model, width, theta, gravity, friction, drive
        As in `linearize`.
    """
    n, state = arm.n, (q, qd, qdd)
    joints = joint_terms(arm, model, "linearize_sensitivity", *state, width, friction, drive)
    rigid = torque_derivatives(arm, *state, wrench, base_motion, theta=theta, gravity=gravity)
    # The rigid arm's torques are linear in theta but for the wrench, which does not depend on theta.
    slope = torque_derivatives(arm, *state, None, base_motion, theta=direction, gravity=gravity)
    balance, change = joints.balance(rigid), joints.change(rigid, slope)
    M, C, K = balance.M, balance.C, balance.K
    inverse = factorize(M).inverse()
    # d(M^-1 X) = M^-1 (dX - dM M^-1 X)
    turn = ca.mtimes(inverse, change.M)
    by_q, by_qd = (
        ca.mtimes(turn, ca.mtimes(inverse, X)) - ca.mtimes(inverse, dX) for X, dX in ((K, change.K), (C, change.C))
    )
    dA = ca.vertcat(ca.SX.zeros(n, 2 * n), ca.horzcat(by_q, by_qd))
    by_tau = -ca.mtimes(turn, ca.mtimes(inverse, balance.inverse_gain))
    return LinearizeSensitivity(*change.matrices, dA, ca.vertcat(ca.SX.zeros(n, n), by_tau))
