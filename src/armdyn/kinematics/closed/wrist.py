"""Closed-form inverse kinematics by decoupling: three joints place the wrist's centre, the rest turn about it.

The wrist has three axes that meet (PUMA, Stanford), or fewer on arms with fewer joints (a SCARA's last
axis, none on a bare positioning arm).

References
----------
ECE470 (2019), section 1.7, kinematic decoupling.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.axes import AxisChain, meeting_point
from armdyn.kinematics.closed.positioning import FLIP, Axes, Places, Structure, branch_names, positioning
from armdyn.kinematics.closed.subproblems import rotate, to_direction, two_turns
from armdyn.precision import FIVE_DIGITS
from armdyn.trace.symbols import Symbol, ca


@dataclass(frozen=True, eq=False)
class Decoupled:
    """An arm that decouples: its axes, the structure of the first three joints, the centre of the wrist.

    The first `placing` joints place the centre, the others turn about it.
    """

    axes: Axes
    structure: Structure
    center: NDArray
    placing: int

    @property
    def family(self) -> str:
        """Kind of arm."""
        wrist = ("no wrist", "a one-axis wrist", "a two-axis wrist", "a spherical wrist")[len(self.axes) - 3]
        return f"{self.structure.name} arm with {wrist}"

    @property
    def branches(self) -> tuple[str, ...]:
        """Names of the solutions in order."""
        if len(self.axes) - self.placing < 3:
            return self.structure.branches
        return branch_names(self.structure.branches, FLIP)

    def solutions(self, R: Symbol, p: Symbol, reference: Places) -> list[Places]:
        """Joint positions of all branches for the displacement (R, p) of the tip from home."""
        arm, k = self.axes[:3], self.placing
        # ECE470 1.7: the wrist's centre moves with the first three joints only.
        target = ca.mtimes(R, self.center) + p
        solutions = []
        for places in self.structure.solve(arm, self.center, target, reference[:3]):
            # R_36 = R_03' R_06
            left = R
            for axis, at in zip(arm[:k], places[:k], strict=True):
                left = rotate(axis, at.reversed(), left)
            solutions += [[*places[:k], *turns] for turns in wrist_turns(self.axes[k:], left, reference[k:])]
        return solutions


def decouple(chain: AxisChain) -> Decoupled | None:
    """Return how the arm decouples, or None if it does not."""
    arm, wrist = chain.axes[:3], chain.axes[3:]
    if len(arm) < 3 or len(wrist) > 3 or not all(axis.is_revolute for axis in wrist):
        return None
    tip = chain.home[:3, 3]
    center = meeting_point(wrist) if len(wrist) > 1 else wrist[0].through(tip).p if wrist else tip
    structure = positioning(arm)
    if structure is None or center is None:
        return None
    # Joint 3 of a bare elbow turns about the centre (the tip) and does not place it: it belongs to the wrist.
    turns = arm[2].is_revolute and np.linalg.norm(arm[2].through(center).p - center) < FIVE_DIGITS
    placing = 2 if turns else 3
    if len(chain.axes) - placing > 3:
        return None
    return Decoupled(chain.axes, structure, center, placing)


def wrist_turns(axes: Axes, R: Symbol, reference: Places) -> list[Places]:
    """Turns of axes that meet whose product is R: two triples for three axes, one for fewer.

    Three axes at right angles are ZYZ Euler angles; the two triples are its branches. In the singular
    case (the outer axes in line) the first of them keeps its reference position. The product of one or
    two turns comes as near to R as it can.
    """
    if not axes:
        return [[]]
    starts: list[Places] = [[]]
    if len(axes) == 3:
        z = [axis.z for axis in axes]
        pairs = two_turns(z[0], z[1], z[2], ca.mtimes(R, z[2]), (reference[0], reference[1]))
        starts = [list(pair) for pair in pairs]
        if z[0] @ z[1] == 0 and z[1] @ z[2] == 0:
            # ZYZ: the other branch is (phi + pi, -theta, psi + pi), theta being measured from outer axes in line.
            first, middle, last = _with_last(axes, starts[0], R, reference)
            in_line = float(np.arctan2(z[0] @ np.cross(z[1], z[2]), z[0] @ z[2]))
            return [[first, middle, last], [first.opposite(), middle.mirrored(in_line), last.opposite()]]
    elif len(axes) == 2:
        starts = [[to_direction(axes[0].z, axes[1].z, ca.mtimes(R, axes[1].z), reference[0])]]
    return [_with_last(axes, places, R, reference) for places in starts]


def _with_last(axes: Axes, places: Places, R: Symbol, reference: Places) -> Places:
    """The turns of all axes but the last, completed by the last."""
    across = perpendicular(axes[-1].z)
    target = ca.mtimes(R, across)
    for axis, at in zip(axes, places, strict=False):
        target = rotate(axis, at.reversed(), target)
    return [*places, to_direction(axes[-1].z, ca.SX(across), target, reference[-1])]


def perpendicular(z: NDArray) -> NDArray:
    """A unit vector across `z`, along a coordinate axis where possible."""
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - z * (z @ x)
    return x / np.linalg.norm(x)
