"""LuGre friction: bristles that bend before a joint slides.

Source: Canudas de Wit, Olsson, Åström and Lischinsky (1995), equations (3)-(5). In steady sliding it is
`friction_torque`. A joint without bristles (stiffness zero) has the friction of `friction_torque` at once.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.dynamics.friction import JointFriction, joint_frictions
from armdyn.dynamics.shafts import joint_torques
from armdyn.model.arm import Arm
from armdyn.model.quantities import FrictionData, Number, Q, Qd, Tau, Temperatures, Vec
from armdyn.trace.formula import Array, Symbol, Vector, ca, traced


def _slide_level(joint: JointFriction) -> Symbol:
    """g(v): what the bristles hold in steady sliding, always opposing it."""
    return joint.level + joint["asymmetry"] * ca.sign(joint.v)


def _bristle_rate(joint: JointFriction, z: Symbol) -> Symbol:
    """zd = v - sigma0 |v| z / g(v); bristles that hold nothing (g = 0) follow at once and stay straight."""
    level = _slide_level(joint)
    released = ca.if_else(level > 0, joint["bristle_stiffness"] * ca.fabs(joint.v) * z / level, joint.v)
    return ca.if_else(joint["bristle_stiffness"] > 0, joint.v - released, 0)


class LugreTorque(NamedTuple):
    """What `lugre_torque` returns."""

    tau: Vector
    zd: Vector


@traced()
def lugre_torque(
    arm: Arm, q: Q, qd: Qd, z: Vec, load: Tau = None, temperature: Temperatures = None, *, friction: FrictionData = None
) -> LugreTorque:
    """Friction torques of LuGre's bristles, and the rate of their deflection.

    Parameters
    ----------
    z
        Mean deflection of the bristles at each drive's shaft, the state [rad or m]; zero when nothing has moved yet.
    load, temperature, friction
        As in `friction_torque`.

    Returns
    -------
    tau
        sigma0 z + sigma1 zd and the viscous part and the offset of `friction_torque` [N m or N].
    zd
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
    return LugreTorque(joint_torques(arm, ca.vertcat(*tau)), ca.vertcat(*rates))


@traced(returns={"z": "n"})
def lugre_step(arm: Arm, q: Q, qd: Qd, z: Vec, dt: Number, load: Tau = None, *, friction: FrictionData = None) -> Array:
    """Bristle deflection after a step at constant velocity, exactly and stably for any step.

    Parameters
    ----------
    z
        Deflection before the step [rad or m].
    dt
        Length of the step [s].
    load, friction
        As in `friction_torque`.

    Returns
    -------
    z
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
