"""Velocities of rigid bodies as screws: angular velocity, and velocity of the point at the base's origin.

In this form velocities of successive links add up, and a screw fixed in a moving body changes at the
rate of a cross product: the Jacobian's rate and accelerations follow without a case for each joint kind.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.kinematics.motion import Motion
from armdyn.trace.symbols import Symbol, ca


class Screw(NamedTuple):
    """Angular velocity `w` and the velocity `v` of the body's point at the base's origin, in base axes."""

    w: Symbol
    v: Symbol

    def at(self, p: Symbol) -> Symbol:
        """Velocity of the body's point at p."""
        return self.v + ca.cross(self.w, p)

    def plus(self, other: Screw, factor: Symbol = 1) -> Screw:
        """Sum of velocities: of link n in the base, the sum over all joints (ECE470, 1.8)."""
        return Screw(self.w + other.w * factor, self.v + other.v * factor)

    def cross(self, other: Screw) -> Screw:
        """Rate of change of a screw fixed in a body that moves with this velocity."""
        return Screw(ca.cross(self.w, other.w), ca.cross(self.w, other.v) + ca.cross(self.v, other.w))

    @classmethod
    def zero(cls) -> Screw:
        """No motion."""
        return cls(ca.SX.zeros(3), ca.SX.zeros(3))


def joint_line(m: Motion, frame: tuple[Symbol, Symbol]) -> tuple[Symbol, Symbol]:
    """Direction of the joint's axis and a point on it, in base axes, from the frame of the link it carries."""
    R, p = frame
    return ca.mtimes(R, m.axis), p - ca.mtimes(R, m.after)


def joint_screw(m: Motion, frame: tuple[Symbol, Symbol]) -> Screw:
    """Velocity of the link against its parent at unit joint velocity."""
    z, p = joint_line(m, frame)
    return Screw(z, ca.cross(p, z)) if m.is_revolute else Screw(ca.SX.zeros(3), z)
