"""Forward dynamics: the accelerations that torques produce."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.articulated import articulated_acceleration
from armdyn.dynamics.composite import composites
from armdyn.dynamics.mass_matrix import mass_matrix_from
from armdyn.dynamics.newton_euler import (
    base_link_motion,
    inertial_wrench,
    inward,
    link_theta,
    outward,
    tip_wrench,
)
from armdyn.kinematics.motion import Symbol, motions
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

# Up to this many joints factorising M takes fewer operations than articulated bodies.
COMPOSITE_UP_TO = 20


def solve_symmetric(M: Symbol, b: Symbol) -> Symbol:
    """x with M x = b by M = L' D L, which meets the joints from the tip as composite bodies do.

    Featherstone (2008), section 6.5. No pivoting: M is positive definite.
    """
    n = M.shape[0]
    A = [[M[i, j] for j in range(n)] for i in range(n)]
    x = [b[i] for i in range(n)]
    inverse_d = [ca.SX(0)] * n
    for k in reversed(range(n)):
        inverse_d[k] = 1 / A[k][k]
        for i in reversed(range(k)):
            a = A[k][i] * inverse_d[k]
            for j in range(i + 1):
                A[i][j] = A[i][j] - a * A[k][j]
            A[k][i] = a
        for i in range(k):
            x[i] = x[i] - A[k][i] * x[k]
    for k in range(n):
        x[k] = x[k] * inverse_d[k]
        for i in range(k):
            x[k] = x[k] - A[k][i] * x[i]
    return ca.vertcat(*x)


@traced(q="n", qd="n", tau="n", wrench="6", theta="10*n", gravity="3", returns={"qdd": "n"})
def forward_dynamics(
    arm: Arm, q: Any, qd: Any, tau: Any, wrench: Any = None, method: str = "auto", *, theta: Any, gravity: Any
) -> Any:
    """Joint accelerations that the torques `tau` produce.

    Solves M(q) qdd = tau - C(q, qd) qd - g(q) + J' w. The rigid arm only: `joint_acceleration` adds
    friction and drives. An arm without inertia about a joint gives infinity or NaN; see `massless_joints`.

    Parameters
    ----------
    arm : Arm
    q, qd, tau : array_like, shape (..., n)
        Joint positions, velocities and torques [rad or m, /s, N m or N].
    wrench : array_like, shape (..., 6), optional
        [force, moment] exerted ON the arm at the tip, in tip axes [N, N m].
    method : {"auto", "composite", "articulated"}
        Composite bodies and a factorised mass matrix, or articulated bodies, whose cost grows only with
        n; "auto" takes the former up to 20 joints.
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's.
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    qdd : ndarray, shape (..., n)
        Joint accelerations [rad/s² or m/s²].

    References
    ----------
    Walker and Orin (1982), method 3; Featherstone (2008), section 7.3.
    """
    joints = motions(arm, q)
    links = outward(joints, qd, ca.SX.zeros(arm.n), base_link_motion(gravity, None))
    wrenches = [inertial_wrench(link_theta(theta, i), link) for i, link in enumerate(links)]
    tip = tip_wrench(arm, wrench)
    if method == "articulated" or (method == "auto" and arm.n > COMPOSITE_UP_TO):
        return articulated_acceleration(joints, theta, wrenches, tip, tau)
    bias = ca.vertcat(*inward(joints, wrenches, tip))
    return solve_symmetric(mass_matrix_from(joints, composites(joints, theta)), tau - bias)
