"""The arm linearised about a motion: small deviations obey dx/dt = A(t) x + B(t) u."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.bodies.ltdl import factorized
from armdyn.dynamics.linear.full_derivatives import Balance, joint_terms
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.dynamics.movable import require_movable_with_rotors
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


def state_matrices(balance: Balance) -> tuple[Symbol, Symbol]:
    """A and B of the state [q; qd], Eindhoven (68) with erratum 9."""
    n = balance.M.shape[0]
    zero, inverse = ca.SX.zeros(n, n), factorized(balance.M).inverse()
    by_q, by_qd = -ca.mtimes(inverse, balance.K), -ca.mtimes(inverse, balance.C)
    A = ca.blockcat([[zero, ca.SX.eye(n)], [by_q, by_qd]])
    return A, ca.vertcat(zero, ca.mtimes(inverse, ca.diag(1 / balance.gain)))


@traced(
    q="n", qd="n", qdd="n", wrench="6", base_motion="3, 3",
    theta="10*n", gravity="3", friction="n, 11 + 3*h", drive="n, 4",
    returns={"M": "n, n", "C": "n, n", "K": "n, n", "A": "2*n, 2*n", "B": "2*n, n"},
    check=require_movable_with_rotors,
)  # fmt: skip
def linearize(
    arm: Arm,
    q: Any,
    qd: Any,
    qdd: Any,
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
    """Matrices of the arm's small deviations from the motion q, qd, qdd.

    dtau = M dqdd + C dqd + K dq, and with the state x = [dq; dqd] and u = dtau: dx/dt = A x + B u.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations of the motion [rad or m, /s, /s²].
    wrench : array_like, shape (..., 6), optional
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    base_motion : tuple of three array_like of shape (..., 3), optional
        Angular velocity, angular acceleration and acceleration of the base, in base axes, gravity not
        included.
    model : {"rigid", "full"}
        The links alone (`inverse_dynamics`), or with friction, rotors, damping and springs (`joint_torque`).
    width : float
        Of the full model's friction: zero for the exact sign of the velocity, whose slope is zero but at
        reversals; else the width of tanh(qd / width) in its place [rad/s or m/s].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].
    friction, drive : array_like, optional
        Instead of the arm's; see `friction_torque`, `drive_torque`.

    Returns
    -------
    M, C, K : ndarray, shape (..., n, n)
        Derivatives of the torques with respect to qdd, qd and q.
    A : ndarray, shape (..., 2 n, 2 n)
        [[0, 1], [-M^-1 K, -M^-1 C]].
    B : ndarray, shape (..., 2 n, n)
        [[0], [M^-1]].

    Raises
    ------
    ModelError
        If neither a link nor a rotor resists some joint; see `massless_joints`. If only a rotor does, the
        rigid model's A and B are infinite or NaN.

    References
    ----------
    Eindhoven (1987), equations (64)-(68) and (69)-(110) with errata 4-7 and 9.
    """
    joints = joint_terms(arm, model, "linearize", q, qd, qdd, width, friction, drive)
    rigid = torque_derivatives(arm, q, qd, qdd, wrench, base_motion, theta=theta, gravity=gravity)
    balance = joints.balance(rigid)
    return *balance.matrices, *state_matrices(balance)
