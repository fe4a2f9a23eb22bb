"""Closed-form inverse kinematics of seven revolute joints: spherical shoulder, elbow, spherical wrist (S-R-S).

Axes 1, 2, 3 meet in the shoulder S, axes 5, 6, 7 in the wrist W. A tip pose leaves one freedom: the elbow
may swing about the line from S to W. The swivel angle says where it is: zero when the elbow points
along the first axis (up, for an upright arm), positive counterclockwise about the direction from S to W.

References
----------
Shimizu, Kakuya, Yoon, Kitagaki, Kosuge (2008), Analytical inverse kinematic computation for 7-DOF
redundant manipulators with joint limits, IEEE Transactions on Robotics 24(5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError
from armdyn.kinematics.axes import AxisChain, chain, meeting_point
from armdyn.kinematics.closed.positioning import Axes, Places, branch_names
from armdyn.kinematics.closed.subproblems import move, place, rotate, to_distance
from armdyn.kinematics.closed.wrist import perpendicular, wrist_turns
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.precision import FIVE_DIGITS, SOLUTION_ERROR
from armdyn.trace.formula import Array, Symbol, ca, traced


@dataclass(frozen=True, eq=False)
class SrsArm:
    """An S-R-S arm: its axes (the fourth given by its point E nearest to the shoulder), S and W at home."""

    axes: Axes
    shoulder: NDArray
    wrist: NDArray

    family: ClassVar[str] = "spherical shoulder, elbow, spherical wrist"
    branches: ClassVar[tuple[str, ...]] = branch_names(
        ("elbow +", "elbow -"), ("shoulder no flip", "shoulder flip"), ("wrist no flip", "wrist flip")
    )

    def solutions(self, R: Symbol, p: Symbol, reference: Places, swivel: Symbol) -> list[Places]:
        """Joint positions of all branches for the displacement (R, p) of the tip from home."""
        elbow, S, W = self.axes[3], self.shoulder, ca.SX(self.wrist)
        reach = ca.mtimes(R, W) + p - S
        u, across = self._arm_plane(reach, swivel)
        # The first solution has z4.((W - E) x (S - E)) >= 0.
        fourths = to_distance(elbow, W, S, ca.dot(reach, reach), reference[3])
        solutions = []
        for at4, sign in zip(fourths, (1, -1), strict=True):
            # Where the plane of S, E, W is at home: y from S to W, x across it towards the elbow.
            y = _unit(move(elbow, at4, W) - S)
            x = self._towards_elbow(y, sign)
            R_03 = ca.mtimes(_frame(u, across), _frame(y, x).T)
            R_47 = rotate(elbow, at4.reversed(), ca.mtimes(R_03.T, R))
            for start in wrist_turns(self.axes[:3], R_03, reference[:3]):
                for end in wrist_turns(self.axes[4:], R_47, reference[4:]):
                    solutions.append([*start, at4, *end])
        return solutions

    def _towards_elbow(self, y: Symbol, sign: int) -> Symbol:
        """The direction across y in which the elbow is, at home."""
        elbow = self.axes[3]
        if abs(elbow.z @ (self.wrist - elbow.p)) < FIVE_DIGITS:
            # S, E and W are in a plane across the elbow's axis: this holds for a stretched arm, too.
            return sign * _unit(ca.cross(y, ca.SX(elbow.z)))
        out = elbow.p - self.shoulder
        return _unit(out - y * ca.dot(y, out))

    def _arm_plane(self, reach: Symbol, swivel: Symbol) -> tuple[Symbol, Symbol]:
        """The direction from S to W, and the one across it towards the elbow."""
        u = _unit(reach)
        up = _up(u, self.axes[0].z)
        return u, ca.cos(swivel) * up + ca.sin(swivel) * ca.cross(u, up)


def as_srs(chain: AxisChain) -> SrsArm | None:
    """The arm as an S-R-S arm, or None if it is not."""
    axes = chain.axes
    if len(axes) != 7 or not all(axis.is_revolute for axis in axes):
        return None
    S, W = meeting_point(axes[:3]), meeting_point(axes[4:])
    if S is None or W is None:
        return None
    elbow = axes[3].through(S)
    arms = np.linalg.norm(S - elbow.p), np.linalg.norm(W - axes[3].through(W).p)
    if min(arms) < FIVE_DIGITS:
        return None
    return SrsArm((*axes[:3], elbow, *axes[4:]), S, W)


@traced(returns={"swivel": ""})
def swivel_angle(arm: Arm, q: Q) -> Array:
    """Angle of the elbow of a seven-joint S-R-S arm (LWR4, iiwa) about the line from shoulder to wrist.

    Parameters
    ----------
    arm : Arm
        With axes 1, 2, 3 meeting in the shoulder and axes 5, 6, 7 in the wrist.
    q : array_like, shape (..., 7)
        Joint positions [rad].

    Returns
    -------
    swivel
        In (-pi, pi]: zero when the elbow points along the first axis, positive counterclockwise about
        the direction from shoulder to wrist. Zero for a stretched arm, whose elbow is on that line.

    Raises
    ------
    ModelError
        If the arm is not of this kind.
    """
    form = as_srs(chain(arm))
    if form is None:
        expected = "seven revolute joints with a spherical shoulder and a spherical wrist"
        raise ModelError(f"arm '{arm.name}' has no swivel angle", where="swivel_angle", expected=expected)
    E, W = ca.SX(form.axes[3].p), ca.SX(form.wrist)
    for i in (3, 2, 1, 0):
        W = move(form.axes[i], place(form.axes[i], q[i]), W)
        E = move(form.axes[i], place(form.axes[i], q[i]), E)
    u, e = _unit(W - form.shoulder), E - form.shoulder
    up = _up(u, form.axes[0].z)
    return ca.atan2(ca.dot(e, ca.cross(u, up)), ca.dot(e, up))


def _up(u: Symbol, z: NDArray) -> Symbol:
    """The unit vector across `u` nearest to `z`; any fixed one where u and z are in line."""
    x = z - u * ca.dot(z, u)
    in_line = ca.dot(x, x) < SOLUTION_ERROR**2
    return ca.if_else(in_line, perpendicular(z), _unit(ca.if_else(in_line, 1, x)))


def _unit(v: Symbol) -> Symbol:
    return v / ca.sqrt(ca.dot(v, v))


def _frame(x: Symbol, y: Symbol) -> Symbol:
    return ca.horzcat(x, y, ca.cross(x, y))
