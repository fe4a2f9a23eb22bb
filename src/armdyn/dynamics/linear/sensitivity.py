"""How the linearised arm changes with its inertial parameters, an unknown payload above all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.bodies.ltdl import factorized
from armdyn.dynamics.linear.full_derivatives import joint_terms
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.dynamics.movable import require_movable_with_rotors
from armdyn.model.arm import Arm
from armdyn.spatial.inertia import SIZE, Inertia
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


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


@traced(
    q="n", qd="n", qdd="n", direction="10*n", wrench="6", base_motion="3, 3",
    theta="10*n", gravity="3", friction="n, 11 + 3*h", drive="n, 4",
    returns={"dM": "n, n", "dC": "n, n", "dK": "n, n", "dA": "2*n, 2*n", "dB": "2*n, n"},
    check=require_movable_with_rotors,
)  # fmt: skip
def linearize_sensitivity(
    arm: Arm,
    q: Any,
    qd: Any,
    qdd: Any,
    direction: Any,
    wrench: Any = None,
    base_motion: Any = None,
    model: str = "rigid",
    width: float = 0.0,
    *,
    theta: Any,
    gravity: Any,
    friction: Any,
    drive: Any,
) -> Any:
    """Derivatives of what `linearize` gives, along a direction of `theta`.

    The motion q, qd, qdd is kept; the rigid arm's torques along it change by `regressor(...) @ direction`.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations of the motion [rad or m, /s, /s²].
    direction : array_like, shape (..., 10 n)
        Change of the inertial parameters, such as `unit_payload(arm)`.
    wrench : array_like, shape (..., 6), optional
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    base_motion : tuple of three array_like of shape (..., 3), optional
        Angular velocity, angular acceleration and acceleration of the base, in base axes, gravity not
        included.
    model, width, theta, gravity, friction, drive
        As in `linearize`.

    Returns
    -------
    dM, dC, dK : ndarray, shape (..., n, n)
    dA : ndarray, shape (..., 2 n, 2 n)
    dB : ndarray, shape (..., 2 n, n)
    """
    n, state = arm.n, (q, qd, qdd)
    joints = joint_terms(arm, model, "linearize_sensitivity", *state, width, friction, drive)
    rigid = torque_derivatives(arm, *state, wrench, base_motion, theta=theta, gravity=gravity)
    # The rigid arm's torques are linear in theta but for the wrench, which does not depend on theta.
    slope = torque_derivatives(arm, *state, None, base_motion, theta=direction, gravity=gravity)
    (gain, M, C, K), change = joints.balance(rigid), joints.change(rigid, slope)
    inverse = factorized(M).inverse()
    # d(M^-1 X) = M^-1 (dX - dM M^-1 X)
    turn = ca.mtimes(inverse, change.M)
    by_q, by_qd = (
        ca.mtimes(turn, ca.mtimes(inverse, X)) - ca.mtimes(inverse, dX) for X, dX in ((K, change.K), (C, change.C))
    )
    dA = ca.vertcat(ca.SX.zeros(n, 2 * n), ca.horzcat(by_q, by_qd))
    by_tau = -ca.mtimes(turn, ca.mtimes(inverse, ca.diag(1 / gain)))
    return *change.matrices, dA, ca.vertcat(ca.SX.zeros(n, n), by_tau)
