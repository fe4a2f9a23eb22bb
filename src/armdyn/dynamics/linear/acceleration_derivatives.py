"""How the accelerations of the rigid arm depend on position, velocity and torque."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.bodies.ltdl import factorized
from armdyn.dynamics.forward_dynamics import forward_dynamics
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.dynamics.movable import require_movable
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.graphs.derivative import on_symbols
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(
    q="n", qd="n", tau="n", wrench="6", theta="10*n", gravity="3",
    returns={"qdd": "n", "dq": "n, n", "dqd": "n, n", "dtau": "n, n"},
    check=require_movable,
)  # fmt: skip
def acceleration_derivatives(
    arm: Arm, q: Any, qd: Any, tau: Any, wrench: Any = None, method: str = "auto", *, theta: Any, gravity: Any
) -> Any:
    """Joint accelerations that torques produce, and their derivatives.

    Parameters
    ----------
    arm : Arm
    q, qd, tau : array_like, shape (..., n)
        Joint positions, velocities and torques [rad or m, /s, N m or N].
    wrench : array_like, shape (..., 6), optional
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    method : {"auto", "composite", "articulated"}
        By way of the inverse of M and the derivatives of the torques, or by differentiating the
        articulated-body recursion, which never forms M; "auto" takes the former.
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    qdd : ndarray, shape (..., n)
        What `forward_dynamics` gives.
    dq, dqd, dtau : ndarray, shape (..., n, n)
        d qdd/d q, d qdd/d qd and d qdd/d tau, the last being the inverse of M.

    References
    ----------
    Eindhoven (1987), equations (65)-(67).
    """
    if method == "articulated":
        return on_symbols(
            lambda *x: _differentiated(arm, *x, wrench=wrench, method=method, theta=theta, gravity=gravity),
            q, qd, tau,
        )  # fmt: skip
    qdd = forward_dynamics(arm, q, qd, tau, wrench, method=method, theta=theta, gravity=gravity)
    _, M, C, K = torque_derivatives(arm, q, qd, qdd, wrench, theta=theta, gravity=gravity)
    inverse = factorized(M).inverse()
    return qdd, -ca.mtimes(inverse, K), -ca.mtimes(inverse, C), inverse


def _differentiated(arm: Arm, q: Symbol, qd: Symbol, tau: Symbol, **given: Any) -> list[Symbol]:
    """Accelerations and their derivatives by automatic differentiation."""
    qdd = forward_dynamics(arm, q, qd, tau, **given)
    return [qdd, *(ca.jacobian(qdd, x) for x in (q, qd, tau))]
