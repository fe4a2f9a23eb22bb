"""The arm linearised about a motion: small deviations obey dx/dt = A(t) x + B(t) u."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.ltdl import factorized
from armdyn.dynamics.torque_derivatives import torque_derivatives
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


def state_matrices(M: Symbol, C: Symbol, K: Symbol) -> tuple[Symbol, Symbol]:
    """A and B of the state [q; qd], Eindhoven (68) with erratum 9."""
    n = M.shape[0]
    zero, inverse = ca.SX.zeros(n, n), factorized(M).inverse()
    A = ca.blockcat([[zero, ca.SX.eye(n)], [-ca.mtimes(inverse, K), -ca.mtimes(inverse, C)]])
    return A, ca.vertcat(zero, inverse)


@traced(
    q="n", qd="n", qdd="n", wrench="6", base_motion="3, 3", theta="10*n", gravity="3",
    returns={"M": "n, n", "C": "n, n", "K": "n, n", "A": "2*n, 2*n", "B": "2*n, n"},
)  # fmt: skip
def linearize(
    arm: Arm,
    q: Any,
    qd: Any,
    qdd: Any,
    wrench: Any = None,
    base_motion: Any = None,
    *,
    theta: Any,
    gravity: Any,
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
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    M, C, K : ndarray, shape (..., n, n)
        Derivatives of the torques with respect to qdd, qd and q.
    A : ndarray, shape (..., 2 n, 2 n)
        [[0, 1], [-M^-1 K, -M^-1 C]].
    B : ndarray, shape (..., 2 n, n)
        [[0], [M^-1]].

    References
    ----------
    Eindhoven (1987), equations (64)-(68) and (69)-(110) with errata 4-7 and 9.
    """
    _, M, C, K = torque_derivatives(arm, q, qd, qdd, wrench, base_motion, theta=theta, gravity=gravity)
    return M, C, K, *state_matrices(M, C, K)
