"""Forward dynamics from n + 1 evaluations of the regressor."""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.movable import require_movable
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Tau, Theta
from armdyn.trace.formula import Matrix, Vector, ca, traced


class ForwardDynamicsRegressor(NamedTuple):
    """What `forward_dynamics_regressor` returns."""

    qdd: Vector
    M: Matrix


@traced(check=require_movable)
def forward_dynamics_regressor(
    arm: Arm, q: Q, qd: Qd, tau: Tau, *, theta: Theta = None, gravity: Gravity = None
) -> ForwardDynamicsRegressor:
    """Joint accelerations and mass matrix from the regressor and (estimated) parameters.

    The way of Lu and Meng, whose point is that an adaptive controller has the regressor at hand;
    `forward_dynamics` is the one to use otherwise.

    Parameters
    ----------
    theta
        Inertial parameters instead of the arm's, such as an estimate.

    References
    ----------
    Lu and Meng (1993), section V-B, steps 1-4.
    """
    n = arm.n

    def torque(qdd: Any) -> Any:
        return ca.mtimes(regressor(arm, q, qd, qdd, gravity=gravity), theta)

    bias = torque(ca.SX.zeros(n))  # step 1
    M = ca.horzcat(*(torque(ca.SX.eye(n)[:, i]) - bias for i in range(n)))  # steps 2, 3
    return ForwardDynamicsRegressor(factorize(M).solve(tau - bias), M)  # step 4
