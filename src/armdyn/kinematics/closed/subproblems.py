"""The questions about one or two joints that closed-form inverse kinematics is made of.

Everything here works on symbols. A `Turn` is a revolute joint's position as cosine and sine, a `Slide`
a prismatic one's; angles themselves are formed once, at the end, by atan2. Where no solution exists the
result is NaN; where every position is one, the reference position is taken.

References
----------
Murray, Li, Sastry (1994), A Mathematical Introduction to Robotic Manipulation, section 3.3.2
(the subproblems of Paden and Kahan).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.axes import Axis
from armdyn.precision import SOLUTION_ERROR
from armdyn.trace.symbols import Symbol, ca


class RevoluteSolution(NamedTuple):
    """A revolute joint's position; `angle` saves an atan2 where it follows from another one's."""

    cos: Symbol
    sin: Symbol
    angle: Symbol = None

    @property
    def position(self) -> Symbol:
        """The joint position [rad], up to whole turns."""
        return ca.atan2(self.sin, self.cos) if self.angle is None else self.angle

    def reversed(self) -> RevoluteSolution:
        """The turn back."""
        return RevoluteSolution(self.cos, -self.sin)

    def opposite(self) -> RevoluteSolution:
        """Half a turn further."""
        return RevoluteSolution(-self.cos, -self.sin, self.position + np.pi)

    def mirrored(self, at: float) -> RevoluteSolution:
        """The turn as far on the other side of the angle `at`."""
        c, s = np.cos(2 * at), np.sin(2 * at)
        return RevoluteSolution(c * self.cos + s * self.sin, s * self.cos - c * self.sin, 2 * at - self.position)


class PrismaticSolution(NamedTuple):
    """A prismatic joint's position."""

    position: Symbol

    def reversed(self) -> PrismaticSolution:
        """The shift back."""
        return PrismaticSolution(-self.position)


Place = Any  # a Turn or a Slide


def place(axis: Axis, q: Symbol) -> Place:
    """The joint at position q."""
    return RevoluteSolution(ca.cos(q), ca.sin(q)) if axis.is_revolute else PrismaticSolution(q)


def turn(z: NDArray, at: RevoluteSolution, v: Symbol) -> Symbol:
    """The vector `v` turned about the direction `z`: Rodrigues' formula."""
    along = z * ca.dot(z, v)
    return along + at.cos * (v - along) + at.sin * ca.cross(ca.SX(z), v)


def move(axis: Axis, at: Place, point: Symbol) -> Symbol:
    """The point carried along by the joint."""
    if isinstance(at, PrismaticSolution):
        return point + axis.z * at.position
    return axis.p + turn(axis.z, at, point - axis.p)


def rotate(axis: Axis, at: Place, R: Symbol) -> Symbol:
    """The columns of `R` turned by the joint."""
    if isinstance(at, PrismaticSolution):
        return R
    return ca.horzcat(*(turn(axis.z, at, R[:, k]) for k in range(R.shape[1])))


def to_height(axis: Axis, point: Symbol, normal: Symbol, height: Symbol, reference: Place) -> list[Place]:
    """Positions that carry `point` to `height` along `normal`: two for a turn, one for a shift."""
    if isinstance(reference, PrismaticSolution):
        return [PrismaticSolution((height - ca.dot(normal, point)) / ca.dot(normal, axis.z))]
    # n.R v = (z.n)(z.v) + cos (z x n).(z x v) + sin n.(z x v)
    v = point - axis.p
    along = ca.dot(axis.z, normal) * ca.dot(axis.z, v)
    return _circle(*_swing(axis.z, v, normal), height - ca.dot(normal, axis.p) - along, reference)


def to_distance(axis: Axis, point: Symbol, center: Symbol, squared: Symbol, reference: Place) -> list[Place]:
    """The two positions that carry `point` to the given squared distance from `center`."""
    if isinstance(reference, PrismaticSolution):
        # q² + 2 q z.w + w.w = d² with w = point - center
        w = point - center
        b = ca.dot(axis.z, w)
        half = root(b * b - ca.dot(w, w) + squared, squared)
        return [PrismaticSolution(-b + half), PrismaticSolution(-b - half)]
    # |E y - x|² = |y - p|² + |x - p|² - 2 (x - p).R(y - p): a height along x - p
    v, x = point - axis.p, center - axis.p
    along = ca.dot(axis.z, x) * ca.dot(axis.z, v)
    product = (ca.dot(v, v) + ca.dot(x, x) - squared) / 2
    return _circle(*_swing(axis.z, v, x), product - along, reference)


def to_point(axis: Axis, point: Symbol, target: Symbol, reference: Place) -> Place:
    """The position that carries `point` nearest to `target`."""
    if isinstance(reference, PrismaticSolution):
        return PrismaticSolution(ca.dot(axis.z, target - point))
    return to_direction(axis.z, point - axis.p, target - axis.p, reference)


def to_direction(z: NDArray, v: Symbol, target: Symbol, reference: Place) -> RevoluteSolution:
    """The turn about `z` that carries the vector `v` nearest to `target`."""
    x, y = _swing(z, v, target)
    return _unit(x, y, x * x + y * y < SOLUTION_ERROR**4, reference)


def two_turns(
    z1: NDArray, z2: NDArray, v: Symbol, target: Symbol, references: tuple[Place, Place]
) -> list[tuple[RevoluteSolution, RevoluteSolution]]:
    """The two pairs of turns that carry `v` to `target` of equal length: R1 R2 v = target."""
    # z1.R2 v = z1.target. The discriminant a² + b² - c² is written with z1 x target so that it keeps
    # its digits where target and z1 are nearly parallel (the wrist's singularity).
    z1_z2, v_z2, height = z1 @ z2, ca.dot(z2, v), ca.dot(z1, target)
    a, b = _swing(z2, v, z1)
    across, length = ca.cross(ca.SX(z1), target), ca.dot(target, target)
    squared = ca.dot(across, across) - v_z2**2 - z1_z2**2 * length + 2 * z1_z2 * v_z2 * height
    half = root(squared, length)
    pairs = []
    for second in _both(a, b, height - z1_z2 * v_z2, half, references[1]):
        first = to_direction(z1, turn(z2, second, v), target, references[0])
        pairs.append((first, second))
    return pairs


def root(x: Symbol, scale: Symbol) -> Symbol:
    """Square root; zero where x is below zero by the round-off of terms of size `scale`, NaN further down.

    Such a pose lies on the workspace's edge; taking x for zero moves the tip by the same part of its distance.
    """
    return ca.sqrt(ca.if_else(x > -(SOLUTION_ERROR * scale + SOLUTION_ERROR**2), ca.fmax(x, 0), x))


def _swing(z: NDArray, v: Symbol, direction: Symbol) -> tuple[Symbol, Symbol]:
    """Return how a turn of `v` about `z` moves it along `direction`: factors of cosine and sine.

    Both vectors are turned across z before they are multiplied: no digits are lost where they are
    nearly along it.
    """
    across, towards = ca.cross(ca.SX(z), v), ca.cross(ca.SX(z), direction)
    return ca.dot(towards, across), ca.dot(z, ca.cross(across, towards))


def _circle(a: Symbol, b: Symbol, c: Symbol, reference: Place) -> list[RevoluteSolution]:
    """Solve a cos + b sin = c."""
    squared = a * a + b * b
    return _both(a, b, c, root(squared - c * c, squared), reference)


def _both(a: Symbol, b: Symbol, c: Symbol, half: Symbol, reference: Place) -> list[RevoluteSolution]:
    """The turns with a cos + b sin = c and b cos - a sin = half, then -half."""
    free = ca.logic_and(a * a + b * b < SOLUTION_ERROR**2, half >= 0)
    return [_unit(a * c + b * h, b * c - a * h, free, reference) for h in (half, -half)]


def _unit(x: Symbol, y: Symbol, free: Symbol, reference: Place) -> RevoluteSolution:
    """(x, y) scaled to length one, or the reference where the joint is free."""
    scale = 1 / ca.sqrt(x * x + y * y)
    return RevoluteSolution(ca.if_else(free, reference.cos, x * scale), ca.if_else(free, reference.sin, y * scale))
