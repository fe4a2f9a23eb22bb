"""Friction in the joints.

Sources: Eindhoven (1987), section 5.1, equations (111)-(114); Armstrong-Hélouvry, Dupont and Canudas de Wit
(1994) for the Stribeck curve; Canudas de Wit et al. (1995) for LuGre. All torques here are what the drives
must add for the joints to move as they do, so they have the sign of the velocity. Friction acts at the drives' shafts:
those of coupled drives turn with several joints, and all of these feel it (see `dynamics.shafts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from armdyn.dynamics.shafts import at_shafts, joint_torques, shaft_torques
from armdyn.model.arm import Arm
from armdyn.model.joint import FRICTION_NAMES
from armdyn.model.quantities import FrictionData, Q, Qd, Tau, Temperatures
from armdyn.trace.formula import Array, Symbol, Vector, ca, traced


@dataclass(frozen=True, eq=False)
class JointFriction:
    """The friction parameters of one joint's shaft as symbols, at one position, velocity, load and temperature."""

    row: Symbol  # FRICTION_NAMES, then rows of harmonics
    q: Symbol
    v: Symbol
    torque: Symbol | None = None  # of the shaft
    warmth: Symbol | None = None  # temperature above the one at which the numbers hold

    def __getitem__(self, name: str) -> Symbol:
        return self.row[FRICTION_NAMES.index(name)]

    @property
    def constant_level(self) -> Symbol:
        """What position and load add to Coulomb friction, in either direction."""
        level = ca.SX(0)
        for k in range(len(FRICTION_NAMES), self.row.numel(), 3):
            order, cosine, sine = self.row[k], self.row[k + 1], self.row[k + 2]
            level += cosine * ca.cos(order * self.q) + sine * ca.sin(order * self.q)
        if self.torque is not None:
            level += self["load"] * ca.fabs(self.torque)
        return level

    @property
    def level(self) -> Symbol:
        """Dry friction without asymmetry at the velocity, by Stribeck's curve."""
        falling = (self["static"] - self["coulomb"]) * ca.exp(-((self.v / self["stribeck"]) ** 2))
        return self["coulomb"] + falling + self.constant_level

    def smooth(self, direction: Symbol) -> Symbol:
        """What does not depend on presliding: viscous friction and the offset."""
        viscous = self["viscous"] + self["viscous_asymmetry"] * direction
        if self.warmth is not None:
            viscous = viscous * (1 + self["temperature"] * self.warmth)
        return viscous * self.v + self["offset"]

    def sliding(self, direction: Symbol) -> Symbol:
        """Friction of a joint that moves; `direction` is the sign of the velocity, or a smooth stand-in."""
        return self.smooth(direction) + (self.level + self["asymmetry"] * direction) * direction


def joint_frictions(
    arm: Arm, q: Symbol, qd: Symbol, friction: Symbol, load: Symbol | None = None, temperature: Symbol | None = None
) -> list[JointFriction]:
    """One per shaft, from positions, velocities and torques of the joints."""
    turn, speed = at_shafts(arm, q), at_shafts(arm, qd)
    torque = None if load is None else shaft_torques(arm, load)
    return [
        JointFriction(
            friction[i, :].T,
            turn[i],
            speed[i],
            None if torque is None else torque[i],
            None if temperature is None else temperature[i],
        )
        for i in range(arm.n)
    ]


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
        Zero: sign(qd), exact, for simulation. Else tanh(qd / width) stands for it, for optimisation
        [rad/s or m/s].

    Returns
    -------
    tau
        [N m or N]; see `Friction` for the formula. That of a coupled drive acts on all joints that move its shaft.

    References
    ----------
    Eindhoven (1987), equations (111)-(114).
    """
    shafts = joint_frictions(arm, q, qd, friction, load, temperature)
    return joint_torques(arm, ca.vertcat(*(shaft.sliding(direction(shaft.v, width)) for shaft in shafts)))


class BreakawayTorque(NamedTuple):
    """What `breakaway_torque` returns."""

    forward: Vector
    backward: Vector


@traced()
def breakaway_torque(arm: Arm, q: Q, load: Tau = None, *, friction: FrictionData = None) -> BreakawayTorque:
    """Torques beyond which joints at rest begin to move, forward and backward.

    Between the two a joint sticks: friction then takes the value that keeps it at rest. Of coupled drives it is the
    shaft that sticks, and the torques are those at the shafts.

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
    joints = joint_frictions(arm, q, ca.SX.zeros(arm.n), friction, load)
    centre = ca.vertcat(*(joint["offset"] + joint["asymmetry"] for joint in joints))
    level = ca.vertcat(*(joint["static"] + joint.constant_level for joint in joints))
    return BreakawayTorque(centre + level, centre - level)
