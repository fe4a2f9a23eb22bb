"""The arm's inertia as felt at the tip."""

from __future__ import annotations

from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.movable import require_movable
from armdyn.errors import ModelError
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Theta
from armdyn.trace.formula import Array, ca, traced


@traced(returns={"mobility": "6, 6"}, check=require_movable)
def tip_mobility(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """Acceleration of the resting tip per unit of force and moment on it: J M^-1 J'.

    Finite at every position and for any number of joints; its inverse, where there is one, is
    `operational_inertia`.

    Returns
    -------
    mobility
        Rows and columns as in `jacobian`: linear first, at the tip, in base axes.

    References
    ----------
    Khatib (1987), "A unified approach for motion and force control of robot manipulators", section III.
    """
    J = jacobian(arm, q)
    factors = factorize(mass_matrix(arm, q, theta=theta))
    # J M^-1 J' = (L'^-1 J')' D^-1 (L'^-1 J')
    half = ca.horzcat(*(ca.vertcat(*factors.half_solve(J[row, :])) for row in range(6)))
    scaled = half * ca.repmat(ca.vertcat(*factors.inverse_d), 1, 6)
    out = ca.SX.zeros(6, 6)
    for i in range(6):
        for j in range(i + 1):
            out[i, j] = out[j, i] = ca.dot(half[:, i], scaled[:, j])
    return out


@traced(returns={"Lambda": "6, 6"}, check=require_movable)
def operational_inertia(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """Operational-space inertia Lambda = (J M^-1 J')^-1: the inertia of the tip in every direction.

    Parameters
    ----------
    arm : Arm
        With at least six joints; fewer cannot move the tip in every direction (see `tip_mobility`).
    q
        Joint positions [rad or m], not singular: there Lambda does not exist and the numbers are huge,
        infinite or NaN.

    Returns
    -------
    Lambda
        Rows and columns as in `jacobian`: linear first, at the tip, in base axes.

    References
    ----------
    Khatib (1987), "A unified approach for motion and force control of robot manipulators", section III.
    """
    if arm.n < 6:
        raise ModelError(
            f"arm '{arm.name}' has {arm.n} joints; the tip's inertia exists from six on, tip_mobility for any number",
            where="operational_inertia",
        )
    return factorize(tip_mobility(arm, q, theta=theta)).inverse()
