"""How vectors cross a joint: the symbols of one segment at one joint position.

A link's frame is reached from its parent's by `before`, a turn about or a shift along z, and `after`
(see `model.arm.Segment`). The constants are exact zeros and ones where the arm has right angles, so
CasADi drops those terms while it builds the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.dependents import joint_positions
from armdyn.model.arm import Arm, Segment
from armdyn.trace.symbols import Symbol, ca

IDENTITY = np.eye(3)
Item = TypeVar("Item")


def is_identity(R: NDArray) -> bool:
    """Whether a constant rotation turns nothing at all: frames of most arms have one such for every joint."""
    return bool((R == IDENTITY).all())  # entries beside the diagonal too: of turns by 1e-9 they alone tell


def rotate(R: NDArray, v: Symbol) -> Symbol:
    """R v for a constant rotation."""
    return v if is_identity(R) else ca.mtimes(R, v)


@dataclass(frozen=True, eq=False)
class Motion:
    """One segment at joint position q, seen from the parent's link frame P and the link's own frame L."""

    segment: Segment
    q: Symbol
    parent: int  # index of the link that carries the joint, -1 for the base

    @property
    def is_revolute(self) -> bool:
        """Whether the joint turns (else it slides)."""
        return self.segment.kind == "revolute"

    @cached_property
    def cos_sin(self) -> tuple[Symbol, Symbol]:
        """cos q, sin q."""
        return ca.cos(self.q), ca.sin(self.q)

    @cached_property
    def axis(self) -> NDArray:
        """The joint axis z in link axes."""
        return self.segment.R_after[2]

    @cached_property
    def after(self) -> NDArray:
        """Vector from the joint's point to the link's origin, fixed in the link, in link axes."""
        return np.asarray(self.segment.R_after.T @ self.segment.p_after)

    @property
    def offset(self) -> Symbol:
        """Vector from the joint's point (fixed in the parent) to the link's origin, in link axes."""
        return ca.SX(self.after) if self.is_revolute else self.after + self.axis * self.q

    @property
    def before(self) -> NDArray:
        """Vector from the parent's origin to the joint's point, in parent axes."""
        return self.segment.p_before

    @property
    def offset_in_joint(self) -> Symbol:
        """`offset` in joint axes: those of the joint's moving side, with z along the joint."""
        return ca.SX(self.segment.p_after) if self.is_revolute else self.segment.p_after + ca.vertcat(0, 0, self.q)

    def to_link(self, v: Symbol) -> Symbol:
        """A free vector in parent axes, turned into link axes: R_after' Rz(q)' R_before' v."""
        return self.joint_to_link(self.parent_to_joint(v))

    def to_parent(self, v: Symbol) -> Symbol:
        """A free vector in link axes, turned into parent axes: R_before Rz(q) R_after v."""
        return self.joint_to_parent(self.link_to_joint(v))

    def parent_to_joint(self, v: Symbol) -> Symbol:
        """A free vector in parent axes, turned into joint axes."""
        u = rotate(self.segment.R_before.T, v)
        if not self.is_revolute:
            return u
        c, s = self.cos_sin
        return ca.vertcat(c * u[0] + s * u[1], c * u[1] - s * u[0], u[2])

    def joint_to_parent(self, v: Symbol) -> Symbol:
        """A free vector in joint axes, turned into parent axes."""
        if self.is_revolute:
            c, s = self.cos_sin
            v = ca.vertcat(c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])
        return rotate(self.segment.R_before, v)

    def joint_to_link(self, v: Symbol) -> Symbol:
        """A free vector in joint axes, turned into link axes."""
        return rotate(self.segment.R_after.T, v)

    def link_to_joint(self, v: Symbol) -> Symbol:
        """A free vector in link axes, turned into joint axes."""
        return rotate(self.segment.R_after, v)


def motions(arm: Arm, q: Symbol) -> list[Motion]:
    """Return one `Motion` a joint, at the coordinates q."""
    at = joint_positions(arm, q)
    return [Motion(segment, at[i], arm.parents[i]) for i, segment in enumerate(arm.segments)]


def path(joints: list[Motion], link: int) -> list[int]:
    """Return the joints that move a link, from the base outward."""
    moving = []
    while link >= 0:
        moving.append(link)
        link = joints[link].parent
    return moving[::-1]


def ancestors(joints: list[Motion], link: int) -> Iterator[tuple[int, int]]:
    """Yield (child, joint) for every joint before that of a link, inward: the child is the next joint outward."""
    while (parent := joints[link].parent) >= 0:
        yield link, parent
        link = parent


def hand_down(carried: list[Item | None], parent: int, item: Item, join: Callable[[Item, Item], Item]) -> None:
    """Add what a joint hands to its parent to what the parent carries already; the base gets nothing.

    The first item is taken as it is, so that formulas of chains have no additions of zeros.
    """
    if parent >= 0:
        present = carried[parent]
        carried[parent] = item if present is None else join(present, item)


# -- velocities as screws: they add up along the chain, and a screw fixed in a moving body changes at the rate of a
# cross product. The Jacobian's rate and accelerations follow without a case for each joint kind.


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
