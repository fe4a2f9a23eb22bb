"""Closed forms of three joints that place a point: elbow, spherical, SCARA, cylindrical and kindred structures.

Two neighbouring axes must meet or be parallel (Pieper 1968, ch. 4). Each solver returns the positions
of the three joints for all branches, in the order of the structure's `branches`:

* left, right: on which side of the first axis the arm's plane lies, seen from above along that axis and
  looking towards the point (a human's left and right arm); for a SCARA, on which side the elbow is;
* up, down: whether the elbow is above the line from shoulder to point, "above" being along the first axis.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from numpy.typing import NDArray

from armdyn.kinematics.axes import Axis, meeting_point, parallel
from armdyn.kinematics.closed.subproblems import (
    Place,
    PrismaticSolution,
    move,
    root,
    to_distance,
    to_height,
    to_point,
    two_turns,
)
from armdyn.precision import FIVE_DIGITS
from armdyn.trace.symbols import Symbol, ca

Axes = tuple[Axis, ...]
Places = list[Place]


class Structure(NamedTuple):
    """Way in which three joints place a point; `solve(axes, point, target, reference)` gives one triple a branch."""

    name: str
    branches: tuple[str, ...]
    solve: Callable[[Axes, NDArray, Symbol, Places], list[Places]]


def positioning(axes: Axes) -> Structure | None:
    """The structure of three joints, or None if it has no closed form here."""
    first, second, third = axes
    kinds = "".join("R" if axis.is_revolute else "P" for axis in axes)
    # A sliding joint must be able to change the height that the two parallel axes leave alone.
    if kinds[:2] == "RR" and parallel(first, second) and not _level(third, first):
        return SCARA if kinds[2] == "P" else SCARA_TURNING
    if kinds[1:] == "RR" and parallel(second, third) and not _level(first, second):
        return ELBOW if kinds[0] == "R" else SLIDING_ELBOW
    if kinds[:2] == "RR" and meeting_point(axes[:2]) is not None:
        return SPHERICAL if kinds[2] == "P" else SHOULDER
    if kinds[1:] == "RR" and meeting_point(axes[1:]) is not None:
        return POINTING
    if kinds == "RPP" and abs(first.z @ second.z) > FIVE_DIGITS and not parallel(second, third):
        return CYLINDRICAL
    return None


def _level(axis: Axis, normal: Axis) -> bool:
    """Whether the joint moves no point along the direction of `normal`."""
    if axis.is_revolute:
        return parallel(axis, normal)
    return bool(abs(axis.z @ normal.z) < FIVE_DIGITS)


def _side(axes: Axes, point: NDArray) -> int:
    """1 if the arm's plane is left of the first axis when the point is along z2 x z1, else -1."""
    return 1 if axes[1].z @ (point - axes[0].p) >= 0 else -1


def _same(a: Axis, b: Axis) -> int:
    """1 if two axes point the same way, else -1."""
    return 1 if a.z @ b.z > 0 else -1


def _elbow(axes: Axes, point: NDArray, target: Symbol, reference: Places) -> list[Places]:
    """Axes 2 and 3 parallel (PUMA with its shoulder offset, elbow arms)."""
    first, second, third = axes
    # Joints 2 and 3 leave the height along their axes alone: z2.E1⁻¹ target = z2.point. The first
    # solution puts the point along +z2 x z1, the second along the opposite direction.
    height = float(second.z @ point)
    backs = to_height(first, target, second.z, height, reference[0].reversed())
    fronts = list(zip(backs, (1, -1), strict=False))[:: _side(axes, point)]
    return [
        [back.reversed(), at2, at3]
        for back, front in fronts
        for at2, at3 in two_links(second, third, ca.SX(point), move(first, back, target), front, reference[1:])
    ]


def two_links(
    second: Axis, third: Axis, point: Symbol, target: Symbol, front: int, reference: Places
) -> list[tuple[Place, Place]]:
    """Positions of two joints of parallel axes that carry `point` to `target`, in the order of `UP_DOWN`.

    `front` is 1 or -1, as the arm's plane lies on either side of the first axis.
    """
    reach = target - second.p
    # The first solution has z3.((elbow - shoulder) x (point - shoulder)) >= 0.
    thirds = to_distance(third, point, second.p, ca.dot(reach, reach), reference[1])[:: front * _same(second, third)]
    return [(to_point(second, move(third, at3, point), target, reference[0]), at3) for at3 in thirds]


def _scara(axes: Axes, point: NDArray, target: Symbol, reference: Places) -> list[Places]:
    """Axes 1 and 2 parallel: joint 3 sets the height, then two circles meet in the plane."""
    first, second, third = axes
    solutions = []
    for at3 in to_height(third, ca.SX(point), first.z, ca.dot(first.z, target), reference[2]):
        y = move(third, at3, ca.SX(point))
        reach = target - first.p
        seconds = to_distance(second, y, first.p, ca.dot(reach, reach), reference[1])
        for at2 in seconds[:: -_same(first, second)]:
            at1 = to_point(first, move(second, at2, y), target, reference[0])
            solutions.append([at1, at2, at3])
    return solutions


def _shoulder(axes: Axes, point: NDArray, target: Symbol, reference: Places) -> list[Places]:
    """Axes 1 and 2 meet (Stanford arm with its offset, spherical arms): joint 3 sets the distance."""
    first, second, third = axes
    center = meeting_point(axes[:2])
    reach = target - center
    solutions = []
    for at3 in to_distance(third, ca.SX(point), center, ca.dot(reach, reach), reference[2]):
        y = move(third, at3, ca.SX(point)) - center
        # The first pair puts the point along -z2 x z1.
        pairs = two_turns(first.z, second.z, y, reach, (reference[0], reference[1]))
        solutions += [[at1, at2, at3] for at1, at2 in pairs[:: -_side(axes, point)]]
    return solutions


def _pointing(axes: Axes, point: NDArray, target: Symbol, reference: Places) -> list[Places]:
    """Axes 2 and 3 meet: joint 1 sets the distance from their crossing."""
    first, second, third = axes
    center = meeting_point(axes[1:])
    v = ca.SX(point - center)
    solutions = []
    for back in to_distance(first, target, center, ca.dot(v, v), reference[0].reversed()):
        y = move(first, back, target) - center
        pairs = two_turns(second.z, third.z, v, y, (reference[1], reference[2]))
        solutions += [[back.reversed(), at2, at3] for at2, at3 in pairs]
    return solutions


def _cylindrical(axes: Axes, point: NDArray, target: Symbol, reference: Places) -> list[Places]:
    """A turn and two shifts: joint 2 sets the height, joint 3 the distance from the first axis."""
    first, second, third = axes
    # z1.(point + q2 z2 + q3 z3) = z1.target gives q2 = rise - slope q3 and a point that moves along w.
    lift = float(first.z @ second.z)
    rise, slope = (ca.dot(first.z, target) - first.z @ point) / lift, float(first.z @ third.z) / lift
    w = third.z - slope * second.z
    start = point + rise * second.z - first.p
    reach = target - first.p
    # |start + q3 w|² = |reach|²
    ww, b = float(w @ w), ca.dot(w, start)
    gap = ca.dot(start, start) - ca.dot(reach, reach)
    half = root(b * b - ww * gap, ww * ca.dot(reach, reach))
    solutions: list[Places] = []
    for q3 in ((-b + half) / ww, (-b - half) / ww):
        y = first.p + start + q3 * w
        at1 = to_point(first, y, target, reference[0])
        solutions.append([at1, PrismaticSolution(rise - slope * q3), PrismaticSolution(q3)])
    return solutions


def branch_names(*choices: tuple[str, ...]) -> tuple[str, ...]:
    """Names of all combinations of choices, those of the last following each other."""
    return tuple(map(", ".join, product(*choices)))


LEFT_RIGHT, UP_DOWN, FRONT_BACK = ("left", "right"), ("up", "down"), ("front", "back")
EXTENDED, FLIP = ("extended", "retracted"), ("no flip", "flip")

ELBOW = Structure("elbow", branch_names(LEFT_RIGHT, UP_DOWN), _elbow)
SLIDING_ELBOW = Structure("sliding elbow", ("right", "left"), _elbow)
SCARA = Structure("SCARA", LEFT_RIGHT, _scara)
SCARA_TURNING = Structure("turning SCARA", branch_names(FRONT_BACK, LEFT_RIGHT), _scara)
SPHERICAL = Structure("spherical", branch_names(EXTENDED, LEFT_RIGHT), _shoulder)
SHOULDER = Structure("shoulder", branch_names(EXTENDED, LEFT_RIGHT), _shoulder)
POINTING = Structure("pointing", branch_names(FRONT_BACK, UP_DOWN), _pointing)
CYLINDRICAL = Structure("cylindrical", FRONT_BACK, _cylindrical)
