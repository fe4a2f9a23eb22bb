"""Closed-form inverse kinematics of six revolute joints with three parallel axes in the middle (UR arms).

Axes 2, 3, 4 are parallel, axes 5 and 6 meet. Joints 1, 5, 6 follow from what the parallel joints leave
alone (heights and directions along their axes), the rest is a planar arm.

References
----------
Hawkins (2013), Analytic inverse kinematics for the Universal Robots UR-5/UR-10 arms, for the order of
elimination; here in terms of axes instead of DH parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import NDArray

from armdyn.kinematics.axes import AxisChain, meeting_point, parallel
from armdyn.kinematics.closed.positioning import FLIP, LEFT_RIGHT, UP_DOWN, Axes, Places, branch_names, two_links
from armdyn.kinematics.closed.subproblems import RevoluteSolution, move, rotate, to_direction, to_height, two_turns
from armdyn.kinematics.closed.wrist import perpendicular
from armdyn.trace.symbols import Symbol, ca


@dataclass(frozen=True, eq=False)
class ThreeParallel:
    """An arm with three parallel axes: all its axes, and where the last two meet."""

    axes: Axes
    center: NDArray

    family: ClassVar[str] = "three parallel axes"
    branches: ClassVar[tuple[str, ...]] = branch_names(LEFT_RIGHT, FLIP, UP_DOWN)

    def solutions(self, R: Symbol, p: Symbol, reference: Places) -> list[Places]:
        """Joint positions of all branches for the displacement (R, p) of the tip from home."""
        first, second, _, _, fifth, sixth = self.axes
        target = ca.mtimes(R, self.center) + p
        # z2.E1⁻¹ target = z2.center
        backs = to_height(first, target, second.z, float(second.z @ self.center), reference[0].reversed())
        side = 1 if second.z @ (self.center - first.p) >= 0 else -1
        solutions = []
        for back, front in list(zip(backs, (1, -1), strict=True))[::side]:
            R1, p1 = rotate(first, back, R), move(first, back, p)
            # R' z2 = R6' R5' z2, from R1' R = R_z2 R5 R6
            pairs = two_turns(
                -sixth.z, -fifth.z, ca.SX(second.z), ca.mtimes(R1.T, second.z), (reference[5], reference[4])
            )
            for at6, at5 in pairs:
                solutions += [
                    [back.reversed(), *planar, at5, at6] for planar in self._planar(R1, p1, at5, at6, front, reference)
                ]
        return solutions

    def _planar(
        self, R1: Symbol, p1: Symbol, at5: RevoluteSolution, at6: RevoluteSolution, front: int, reference: Places
    ) -> list[Places]:
        """Joints 2, 3, 4 for E2 E3 E4 = (R1, p1) E6⁻¹ E5⁻¹."""
        _, second, third, fourth, fifth, sixth = self.axes
        point, across = ca.SX(fourth.p), ca.SX(perpendicular(second.z))
        target = ca.mtimes(R1, move(sixth, at6.reversed(), move(fifth, at5.reversed(), point))) + p1
        turned = ca.mtimes(R1, rotate(sixth, at6.reversed(), rotate(fifth, at5.reversed(), across)))
        solutions = []
        for at2, at3 in two_links(second, third, point, target, front, reference[1:3]):
            left = rotate(third, at3.reversed(), rotate(second, at2.reversed(), turned))
            solutions.append([at2, at3, to_direction(fourth.z, across, left, reference[3])])
        return solutions


def three_parallel(chain: AxisChain) -> ThreeParallel | None:
    """The arm as one with three parallel axes, or None if it is not."""
    if len(chain.axes) != 6 or not all(axis.is_revolute for axis in chain.axes):
        return None
    first, second, third, fourth, fifth, sixth = chain.axes
    center = meeting_point((fifth, sixth))
    bends = not parallel(first, second) and not parallel(fourth, fifth)
    if center is None or not (bends and parallel(second, third) and parallel(third, fourth)):
        return None
    return ThreeParallel(chain.axes, center)
