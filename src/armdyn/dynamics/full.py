"""The whole arm: links, friction, drives and what else acts on the joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armdyn.dynamics.drive import drive_column, drive_inertia, drive_torque
from armdyn.dynamics.forward_dynamics import accelerations
from armdyn.dynamics.friction import direction, friction_torque, joint_frictions
from armdyn.dynamics.movable import require_movable_with_rotors
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.shafts import drive_torques, shaft_torques
from armdyn.model.arm import Arm
from armdyn.model.quantities import (
    BaseMotion,
    DriveData,
    FrictionData,
    Gravity,
    Q,
    Qd,
    Qdd,
    Tau,
    Temperatures,
    Theta,
    TipWrench,
)
from armdyn.trace.formula import Array, Symbol, ca, traced

# What a user's device exerts on the joints: (arm, q) -> n torques, over CasADi symbols.
Counterbalance = Callable[[Arm, Any], Any]


def _balance(arm: Arm, q: Symbol, counterbalance: Counterbalance | None) -> Symbol:
    """Torques of the user's device, zero without one."""
    if counterbalance is None:
        return ca.SX.zeros(arm.n)
    torques = counterbalance(arm, q)
    return ca.vertcat(*torques) if isinstance(torques, (list, tuple)) else torques


@traced(returns={"tau": "n"}, redescribable=True)
def joint_torque(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None,
    temperature: Temperatures = None, width: float = 0.0, counterbalance: Counterbalance | None = None, *,
    theta: Theta = None, gravity: Gravity = None, friction: FrictionData = None, drive: DriveData = None,
) -> Array:  # fmt: skip
    """Torques that the drives must give for the motion: rigid arm, friction, rotors, damping and springs.

    Parameters
    ----------
    width : float
        Zero for exact friction; else the width of its smooth stand-in, as in `friction_torque`.
    counterbalance : callable, optional
        Torques (n,) that a balancing device exerts on the joints: a function of (arm, q) over CasADi
        symbols, or a traced one.

    Returns
    -------
    tau
        Joint torques at the gears' outputs [N m or N]; motors give `G'^-1 tau`, see `transmission_matrix`.

    References
    ----------
    Eindhoven (1987), equation (115), with friction that grows with the load.

    Examples
    --------
    >>> arm = armdyn.arms.puma560()
    >>> armdyn.joint_torque(arm, np.zeros(6), np.ones(6), np.zeros(6)).shape
    (6,)
    """
    rigid = inverse_dynamics(arm, q, qd, qdd, wrench=wrench, base_motion=base_motion, theta=theta, gravity=gravity)
    unloaded = friction_torque(arm, q, qd, temperature=temperature, width=width, friction=friction)
    rest = rigid + unloaded + drive_torque(arm, q, qd, qdd, drive=drive) - _balance(arm, q, counterbalance)
    # Friction grows with the very torque sought: at a shaft tau = rest + load |tau| s, and |load| < 1 keeps the sign.
    rest, loaded = shaft_torques(arm, rest), []
    shafts = joint_frictions(arm, q, qd, friction)
    for k, i in enumerate(arm.coordinate_indices):
        share = shafts[i]["load"] * direction(shafts[i].v, width)
        loaded.append(rest[k] / (1 - share * ca.sign(rest[k])))
    return drive_torques(arm, ca.vertcat(*loaded))


@traced(returns={"qdd": "n"}, check=require_movable_with_rotors, redescribable=True)
def joint_acceleration(
    arm: Arm, q: Q, qd: Qd, tau: Tau, wrench: TipWrench = None, temperature: Temperatures = None,
    width: float = 0.0, counterbalance: Counterbalance | None = None, *,
    theta: Theta = None, gravity: Gravity = None, friction: FrictionData = None, drive: DriveData = None,
) -> Array:  # fmt: skip
    """Joint accelerations that the drives' torques produce in the whole arm; the inverse of `joint_torque`.

    Friction here is that of moving joints: at qd = 0 it exerts its offset only. Whether a joint at rest
    sticks is for who integrates to decide, with `breakaway_torque`.

    Parameters
    ----------
    q, qd, tau
        Joint positions, velocities and drive torques [rad or m, /s, N m or N].
    temperature, width, counterbalance, theta, gravity, friction, drive
        As in `joint_torque`.

    Returns
    -------
    qdd
        Joint accelerations [rad/s² or m/s²].

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.joint_acceleration(arm, [0.0, 0.0], [0.0, 0.0], [60.0, 7.0]).shape
    (2,)
    """
    lost = friction_torque(arm, q, qd, load=tau, temperature=temperature, width=width, friction=friction)
    still = drive_torque(arm, q, qd, ca.SX.zeros(arm.n), drive=drive)
    net = tau - lost - still + _balance(arm, q, counterbalance)
    rotors = drive_inertia(arm, drive) if arm.shafts is not None else drive_column(drive, "inertia")
    return accelerations(arm, q, qd, net, wrench, theta, gravity, rotors)
