"""Moments of mass and velocity of all that a joint carries, and how they look from other frames."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from armdyn.dynamics.bodies.body import Body, turned_matrix
from armdyn.dynamics.bodies.composite import turned_tensor_z, turned_to_parent
from armdyn.kinematics.motion import Motion, rotate
from armdyn.trace.symbols import Symbol, ca


class Moments(NamedTuple):
    """Mass and velocity of a cloud of particles: L = 2 sum m v and V = 2 sum m v r', seen from the origin.

    The origin may move: v is a velocity relative to it, in axes that do not turn.
    """

    body: Body
    L: Symbol
    V: Symbol

    @classmethod
    def of(cls, theta: Symbol, w: Symbol) -> Moments:
        """A link that turns with w: v = w x r, and 2 sum m r r' = tr(I) 1 - 2 I."""
        body = Body.of(theta)
        second = ca.trace(body.I) * ca.SX.eye(3) - 2 * body.I
        return cls(body, 2 * ca.cross(w, body.h), ca.mtimes(ca.skew(w), second))

    def joined(self, other: Moments) -> Moments:
        """Both clouds as one."""
        return Moments(self.body.joined(other.body), self.L + other.L, self.V + other.V)

    def shifted(self, p: Symbol, u: Symbol) -> Moments:
        """Seen from a point from which the present origin is at p and moves with u / 2."""
        body = self.body.shifted(p)
        return Moments(body, self.L + body.m * u, self.V + ca.mtimes(self.L, p.T) + ca.mtimes(u, body.h.T))

    def turned(self, R: NDArray) -> Moments:
        """In other axes: vectors v become R v."""
        return Moments(self.body.turned(R), rotate(R, self.L), turned_matrix(R, self.V))

    def turned_to_parent(self, m: Motion) -> Moments:
        """Turn them from the joint's axes to those of the parent."""
        V = turned_tensor_z(*m.cos_sin, self.V) if m.is_revolute else self.V
        return Moments(turned_to_parent(m, self.body), m.joint_to_parent(self.L), turned_matrix(m.segment.R_before, V))
