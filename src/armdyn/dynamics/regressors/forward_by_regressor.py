"""Forward dynamics from n + 1 evaluations of the regressor."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.bodies.ltdl import factorized
from armdyn.dynamics.movable import require_movable
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(q="n", qd="n", tau="n", theta="10*n", gravity="3", returns={"qdd": "n", "M": "n, n"}, check=require_movable)
def forward_dynamics_regressor(arm: Arm, q: Any, qd: Any, tau: Any, *, theta: Any, gravity: Any) -> Any:
    """Joint accelerations and mass matrix from the regressor and (estimated) parameters.

    The way of Lu and Meng, whose point is that an adaptive controller has the regressor at hand;
    `forward_dynamics` is the one to use otherwise.

    Parameters
    ----------
    arm : Arm
    q, qd, tau : array_like, shape (..., n)
        Joint positions, velocities and torques [rad or m, /s, N m or N].
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's, such as an estimate.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    qdd : ndarray, shape (..., n)
    M : ndarray, shape (..., n, n)

    References
    ----------
    Lu and Meng (1993), section V-B, steps 1-4.
    """
    n = arm.n

    def torque(qdd: Any) -> Any:
        return ca.mtimes(regressor(arm, q, qd, qdd, gravity=gravity), theta)

    bias = torque(ca.SX.zeros(n))  # step 1
    M = ca.horzcat(*(torque(ca.SX.eye(n)[:, i]) - bias for i in range(n)))  # steps 2, 3
    return factorized(M).solve(tau - bias), M  # step 4
