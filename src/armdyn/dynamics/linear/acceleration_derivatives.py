"""How the accelerations of the rigid arm depend on position, velocity and torque."""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.forward_dynamics import forward_dynamics
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.dynamics.movable import require_movable
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Tau, Theta, TipWrench
from armdyn.trace.formula import Matrix, Symbol, Vector, ca, on_symbols, traced


class AccelerationDerivatives(NamedTuple):
    """Result of `acceleration_derivatives`."""

    qdd: Vector
    dq: Matrix
    dqd: Matrix
    dtau: Matrix


@traced(check=require_movable)
def acceleration_derivatives(
    arm: Arm, q: Q, qd: Qd, tau: Tau, wrench: TipWrench = None, method: str = "auto", *,
    theta: Theta = None, gravity: Gravity = None,
) -> AccelerationDerivatives:  # fmt: skip
    """Joint accelerations that torques produce, and their derivatives.

    Parameters
    ----------
    wrench
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    method : {"auto", "composite", "articulated"}
        By way of the inverse of M and the derivatives of the torques, or by differentiating the
        articulated-body recursion, which never forms M; "auto" takes the former.

    Returns
    -------
    qdd
        What `forward_dynamics` gives.
    dq, dqd, dtau
        d qdd/d q, d qdd/d qd and d qdd/d tau, the last being the inverse of M.

    References
    ----------
    Eindhoven (1987), equations (65)-(67).
    """
    if method == "articulated":
        options = {"wrench": wrench, "method": method, "theta": theta, "gravity": gravity}
        return AccelerationDerivatives(*on_symbols(lambda *x: _differentiate(arm, *x, **options), q, qd, tau))
    qdd = forward_dynamics(arm, q, qd, tau, wrench, method=method, theta=theta, gravity=gravity)
    _, M, C, K = torque_derivatives(arm, q, qd, qdd, wrench, theta=theta, gravity=gravity)
    inverse = factorize(M).inverse()
    return AccelerationDerivatives(qdd, -ca.mtimes(inverse, K), -ca.mtimes(inverse, C), inverse)


def _differentiate(arm: Arm, q: Symbol, qd: Symbol, tau: Symbol, **parameters: Any) -> list[Symbol]:
    """Accelerations and their derivatives by automatic differentiation."""
    qdd = forward_dynamics(arm, q, qd, tau, **parameters)
    return [qdd, *(ca.jacobian(qdd, x) for x in (q, qd, tau))]
