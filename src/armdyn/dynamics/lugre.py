"""LuGre friction: bristles that bend before a joint slides.

Source: Canudas de Wit, Olsson, Åström and Lischinsky (1995), equations (3)-(5). In steady sliding it is
`friction_torque`. A joint without bristles (stiffness zero) has the friction of `friction_torque` at once.
"""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.friction import JointFriction, joint_frictions
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


def _slide_level(joint: JointFriction) -> Symbol:
    """g(v): what the bristles hold in steady sliding, always opposing it."""
    return joint.level + joint["asymmetry"] * ca.sign(joint.v)


def _bristle_rate(joint: JointFriction, z: Symbol) -> Symbol:
    """zd = v - sigma0 |v| z / g(v); bristles that hold nothing (g = 0) follow at once and stay straight."""
    level = _slide_level(joint)
    released = ca.if_else(level > 0, joint["bristle_stiffness"] * ca.fabs(joint.v) * z / level, joint.v)
    return ca.if_else(joint["bristle_stiffness"] > 0, joint.v - released, 0)


@traced(
    q="n",
    qd="n",
    z="n",
    load="n",
    temperature="n",
    friction="n, 11 + 3*h",
    returns={"tau": "n", "zd": "n"},
)
def lugre_torque(arm: Arm, q: Any, qd: Any, z: Any, load: Any = None, temperature: Any = None, *, friction: Any) -> Any:
    """Friction torques of bent bristles, and how fast these bend.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        Joint positions and velocities [rad or m, /s].
    z : array_like, shape (..., n)
        Mean deflection of the bristles, the state [rad or m]; zero when nothing has moved yet.
    load, temperature, friction : array_like, optional
        As in `friction_torque`.

    Returns
    -------
    tau : ndarray, shape (..., n)
        sigma0 z + sigma1 zd and the viscous part and the offset of `friction_torque` [N m or N].
    zd : ndarray, shape (..., n)
        Rate of z. It is stiff near rest; `lugre_step` integrates it exactly over a step.

    References
    ----------
    Canudas de Wit et al. (1995), equations (3)-(5).
    """
    tau, rates = [], []
    for i, joint in enumerate(joint_frictions(arm, q, qd, friction, load, temperature)):
        zd, sign = _bristle_rate(joint, z[i]), ca.sign(joint.v)
        bristles = joint["bristle_stiffness"] * z[i] + joint["bristle_damping"] * zd
        dry = ca.if_else(joint["bristle_stiffness"] > 0, bristles, _slide_level(joint) * sign)
        tau.append(joint.smooth(sign) + dry)
        rates.append(zd)
    return ca.vertcat(*tau), ca.vertcat(*rates)


@traced(q="n", qd="n", z="n", dt="", load="n", friction="n, 11 + 3*h", returns={"z": "n"})
def lugre_step(arm: Arm, q: Any, qd: Any, z: Any, dt: Any, load: Any = None, *, friction: Any) -> Any:
    """Bristle deflection after a step at constant velocity, exactly and stably for any step.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        Joint positions and velocities [rad or m, /s].
    z : array_like, shape (..., n)
        Deflection before the step [rad or m].
    dt : array_like, shape (...)
        Length of the step [s].
    load, friction : array_like, optional
        As in `friction_torque`.

    Returns
    -------
    z : ndarray, shape (..., n)
        Deflection after the step.
    """
    after = []
    for i, joint in enumerate(joint_frictions(arm, q, qd, friction, load)):
        stiffness, level = joint["bristle_stiffness"], _slide_level(joint)
        # zd = v - r z with constant r: z grows by zd (1 - exp(-r dt)) / r, which tends to zd dt as r dt does to 0.
        r_dt = ca.if_else(level > 0, stiffness * ca.fabs(joint.v) / level, 0) * dt
        growth = ca.if_else(r_dt > 1e-9, -ca.expm1(-r_dt) / ca.fmax(r_dt, 1e-9), 1 - r_dt / 2)
        after.append(z[i] + growth * dt * _bristle_rate(joint, z[i]))
    return ca.vertcat(*after)
