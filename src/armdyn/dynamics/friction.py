"""Friction in the joints.

Sources: Eindhoven (1987), section 5.1, equations (111)-(114); Armstrong-Hélouvry, Dupont and Canudas de Wit
(1994) for the Stribeck curve; Canudas de Wit et al. (1995) for LuGre. All torques here are what the drives
must add for the joints to move as they do, so they have the sign of the velocity. Friction acts at the drives' shafts:
those of coupled drives turn with several joints, and all of these feel it (see `dynamics.shafts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from armdyn.dynamics.shafts import at_shafts, joint_torques, shaft_positions, shaft_torques
from armdyn.model.arm import Arm
from armdyn.model.joint import FRICTION_NAMES, STEEP_SPEED
from armdyn.model.quantities import FrictionData, Number, Q, Qd, Tau, Temperatures, Vec
from armdyn.trace.formula import Array, Symbol, Vector, ca, traced


@dataclass(frozen=True, eq=False)
class JointFriction:
    """The friction parameters of one joint's shaft as symbols, at one position, velocity, load and temperature."""

    row: Symbol  # FRICTION_NAMES, then rows of harmonics and of levels
    harmonics: int
    q: Symbol
    v: Symbol
    torque: Symbol | None = None  # of the shaft
    warmth: Symbol | None = None  # temperature above the one at which the numbers hold

    def __getitem__(self, name: str) -> Symbol:
        return self.row[FRICTION_NAMES.index(name)]

    @property
    def constant_level(self) -> Symbol:
        """Level that position and load add to Coulomb friction, in either direction."""
        level = ca.SX(0)
        for k in range(len(FRICTION_NAMES), self._first_level, 3):
            order, cosine, sine = self.row[k], self.row[k + 1], self.row[k + 2]
            level += cosine * ca.cos(order * self.q) + sine * ca.sin(order * self.q)
        if self.torque is not None:
            level += self["load"] * ca.fabs(self.torque)
        return level

    @property
    def _first_level(self) -> int:
        return len(FRICTION_NAMES) + 3 * self.harmonics

    def curve(self, direction: Symbol, width: float = 0.0) -> Symbol:
        """The levels of the friction curve; steep ones are the direction itself, unless that is smooth."""
        torque = ca.SX(0)
        for k in range(self._first_level, self.row.numel(), 2):
            level = ca.tanh(self.v / self.row[k])
            steep = 0 if width else self.row[k] <= STEEP_SPEED
            torque += self.row[k + 1] * (ca.if_else(steep, direction, level) if not width else level)
        return torque

    @property
    def level(self) -> Symbol:
        """Dry friction without asymmetry at the velocity, by Stribeck's curve."""
        falling = (self["static"] - self["coulomb"]) * ca.exp(-((self.v / self["stribeck"]) ** 2))
        return self["coulomb"] + falling + self.constant_level

    def smooth(self, direction: Symbol) -> Symbol:
        """Return what does not depend on presliding: viscous friction and the offset."""
        viscous = self["viscous"] + self["viscous_asymmetry"] * direction
        if self.warmth is not None:
            viscous = viscous * (1 + self["temperature"] * self.warmth)
        return viscous * self.v + self["offset"]

    def sliding(self, direction: Symbol, width: float = 0.0) -> Symbol:
        """Friction of a joint that moves; `direction` is the sign of the velocity, or a smooth stand-in of a width."""
        return self.smooth(direction) + self.dry(direction) + self.curve(direction, width)

    def dry(self, direction: Symbol) -> Symbol:
        """Return dry friction but for the levels of the curve."""
        return (self.level + self["asymmetry"] * direction) * direction


def joint_frictions(
    arm: Arm, q: Symbol, qd: Symbol, friction: Symbol, load: Symbol | None = None, temperature: Symbol | None = None
) -> list[JointFriction]:
    """One per shaft, from positions, velocities and torques of the joints."""
    turn, speed = shaft_positions(arm, q), at_shafts(arm, qd)
    unknown = [None] * arm.n_joints
    torque = unknown if load is None else shaft_loads(arm, load)
    warmth = unknown if temperature is None else temperature
    rows = [(friction[i, :].T, arm.trace_sizes["h"]) for i in range(arm.n_joints)]
    return [JointFriction(*rows[i], turn[i], speed[i], torque[i], warmth[i]) for i in range(arm.n_joints)]


def shaft_loads(arm: Arm, load: Symbol) -> list[Symbol]:
    """Torques of the drives' shafts, one per joint; a joint that follows others has none."""
    torques = shaft_torques(arm, load)
    loads: list[Symbol] = [None] * arm.n_joints
    for k, i in enumerate(arm.coordinate_indices):
        loads[i] = torques[k]
    return loads


def direction(v: Symbol, width: float) -> Symbol:
    """The sign of v, zero at rest; with a width tanh(v / width), which an optimiser can differentiate."""
    return ca.tanh(v / width) if width else ca.sign(v)


@traced(returns={"tau": "n"})
def friction_torque(
    arm: Arm, q: Q, qd: Qd, load: Tau = None, temperature: Temperatures = None, width: float = 0.0, *,
    friction: FrictionData = None,
) -> Array:  # fmt: skip
    """Torques that the drives must add to move against friction.

    At rest only the offset remains: what friction holds there is bounded by `breakaway_torque`.

    Parameters
    ----------
    load
        Joint torques [N m or N], for friction that grows with them; without it that part is left out
        (`joint_torque` includes it).
    width : float
        Zero: sign(qd), exact, for simulation, also for levels that are steeper than measured velocities tell.
        Else tanh(qd / width) stands for it, for optimisation and along measured motion [rad/s or m/s].

    Returns
    -------
    tau
        [N m or N]; see `Friction` for the formula. That of a coupled drive acts on all joints that move its shaft.

    References
    ----------
    Eindhoven (1987), equations (111)-(114).

    Examples
    --------
    >>> arm = armdyn.arms.puma560()
    >>> armdyn.friction_torque(arm, np.zeros(6), np.ones(6)).shape
    (6,)
    """
    shafts = joint_frictions(arm, q, qd, friction, load, temperature)
    return joint_torques(arm, ca.vertcat(*(shaft.sliding(direction(shaft.v, width), width) for shaft in shafts)))


class BreakawayTorque(NamedTuple):
    """Result of `breakaway_torque`."""

    forward: Vector
    backward: Vector


@traced()
def breakaway_torque(arm: Arm, q: Q, load: Tau = None, *, friction: FrictionData = None) -> BreakawayTorque:
    """Torques beyond which joints at rest begin to move, forward and backward.

    Between the two a joint sticks: friction then takes the value that keeps it at rest. Of coupled drives it is the
    shaft that sticks, and the torques are those at the shafts. Friction of joints that follow others is left out.

    Parameters
    ----------
    load
        Joint torques [N m or N], for friction that grows with them.

    Returns
    -------
    forward, backward
        [N m or N], forward above backward.

    References
    ----------
    Eindhoven (1987), section 5.1: a static value at rest, a lower dynamic one in motion.
    """
    every = joint_frictions(arm, q, ca.SX.zeros(arm.n), friction, load)
    joints = [every[i] for i in arm.coordinate_indices]
    centre = ca.vertcat(*(joint["offset"] + joint["asymmetry"] for joint in joints))
    level = ca.vertcat(*(joint["static"] + joint.constant_level + joint.curve(ca.SX(1)) for joint in joints))
    return BreakawayTorque(centre + level, centre - level)


# -- LuGre: bristles that bend before a joint slides -----------------------------------------------------------
# Canudas de Wit, Olsson, Åström and Lischinsky (1995), equations (3)-(5). In steady sliding it is `friction_torque`. A
# joint without bristles (stiffness zero) has the friction of `friction_torque` at once.


def _slide_level(joint: JointFriction) -> Symbol:
    """g(v): what the bristles hold in steady sliding, always opposing it."""
    sign = ca.sign(joint.v)
    return joint.level + joint["asymmetry"] * sign + joint.curve(sign) * sign


def _bristle_rate(joint: JointFriction, z: Symbol) -> Symbol:
    """zd = v - sigma0 |v| z / g(v); bristles that hold nothing (g = 0) follow at once and stay straight."""
    level = _slide_level(joint)
    released = ca.if_else(level > 0, joint["bristle_stiffness"] * ca.fabs(joint.v) * z / level, joint.v)
    return ca.if_else(joint["bristle_stiffness"] > 0, joint.v - released, 0)


class LugreTorque(NamedTuple):
    """Result of `lugre_torque`."""

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
