"""Which closed form of inverse kinematics an arm has, if any, and all its solutions."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from armdyn.errors import ModelError
from armdyn.frozen import compute_once
from armdyn.kinematics.axes import AxisChain, chain
from armdyn.kinematics.closed.parallel import ThreeParallel, three_parallel
from armdyn.kinematics.closed.srs import SrsArm, as_srs
from armdyn.kinematics.closed.subproblems import place
from armdyn.kinematics.closed.wrist import Decoupled, decouple
from armdyn.kinematics.error import error_sizes
from armdyn.kinematics.forward import tip_frame
from armdyn.model.arm import Arm
from armdyn.model.quantities import Number, Pose, Vec
from armdyn.precision import NEGLIGIBLE
from armdyn.spatial.transform import inverse
from armdyn.trace.formula import Array, Scalar, Symbol, Vector, ca, traced

ClosedForm = Decoupled | ThreeParallel | SrsArm

BRANCHES = 8  # the most that any family has

# A branch of an arm with fewer than six joints whose tip is off by more than this [m, rad] places the
# wrist, but not the tip; smaller errors come from descriptions that round.
MAX_TIP_ERROR = 1e-4
# Added to the squared distance from the reference: any solution within limits beats any other.
OUTSIDE_PENALTY = 1e12


@compute_once
def closed_form(arm: Arm) -> ClosedForm | None:
    """The closed form of an arm's inverse kinematics, or None if only iteration can solve it.

    Decided from the joint axes alone, so it does not matter how the arm was described. Axes count as
    parallel or meeting within 1e-5 rad or m, because files round; `inverse_kinematics` corrects what
    that leaves by iteration.

    Returns
    -------
    form : object or None
        `form.family` says what kind of arm it is, `form.branches` names the solutions in order.
    """
    return _form(chain(arm)) if arm.is_chain else None


def _form(axes: AxisChain) -> ClosedForm | None:
    return decouple(axes) or three_parallel(axes) or as_srs(axes)


class ClosedSolutions(NamedTuple):
    """Result of `closed_solutions`."""

    solutions: Annotated[Array, "8, n"]
    within: Annotated[Array, "8"]
    q: Vector
    inside: Scalar
    error: Annotated[Array, "2"]


@traced()
def closed_solutions(
    arm: Arm, pose: Pose, q_ref: Vec, swivel: Number = None, task: str = "pose", *, lower: Vec = None, upper: Vec = None
) -> ClosedSolutions:
    """All solutions of an arm with a closed form, and the one to take.

    Parameters
    ----------
    q_ref
        Solutions are turned by whole turns to lie near it, and joints without influence stay there.
    swivel
        Swivel angle of an S-R-S arm [rad].
    task : {"pose", "position"}

    Returns
    -------
    solutions
        NaN for branches that do not exist.
    within
        1 where a solution is within the joint limits, else 0.
    q
        The solution nearest to q_ref, if possible within the limits.
    inside
        1 where it is within the limits, else 0.
    error
        Its distance [m] and angle [rad] from the pose.
    """
    solutions = [_turn_near(arm, q, q_ref, lower, upper) for q in _branches(arm, pose, q_ref, swivel)]
    if arm.n < 6:
        solutions = [ca.if_else(_is_off(arm, q, pose, task), np.nan, q) for q in solutions]
    # The sum is NaN, and so fails the comparison, where any entry is.
    inside = [ca.logic_and(_inside(q, lower, upper), ca.sum1(q) < ca.inf) for q in solutions]
    q = _nearest(solutions, inside, q_ref)
    missing = BRANCHES - len(solutions)
    rows = ca.horzcat(*solutions, ca.SX(ca.DM.nan(arm.n, missing))).T
    error = error_sizes(*tip_frame(arm, q), pose, task)
    within = ca.vertcat(*inside, ca.SX.zeros(missing))
    return ClosedSolutions(rows, within, q, ca.mmax(ca.vertcat(*inside)), error)


def _branches(arm: Arm, pose: Symbol, q_ref: Symbol, swivel: Symbol | None) -> list[Symbol]:
    """Joint positions of all branches."""
    axes = chain(arm)
    form = _form(axes)
    if form is None:
        cause = f"arm '{arm.name}' has no closed form"
        raise ModelError(cause, where="closed_solutions", remedy="use inverse_kinematics")
    # base E_1 ... E_n home = pose
    displacement = ca.mtimes([inverse(axes.base), pose, inverse(axes.home)])
    R, p = displacement[:3, :3], displacement[:3, 3]
    reference = [place(axis, q_ref[i]) for i, axis in enumerate(axes.axes)]
    if isinstance(form, SrsArm):
        solutions = form.solutions(R, p, reference, 0 if swivel is None else swivel)
    else:
        solutions = form.solutions(R, p, reference)
    return [ca.vertcat(*(at.position for at in places)) for places in solutions]


def _turn_near(arm: Arm, q: Symbol, q_ref: Symbol, lower: Symbol, upper: Symbol) -> Symbol:
    """The same configuration with angles near the reference, and within the limits where a turn achieves that."""
    entries = []
    for i, joint in enumerate(arm.joints):
        x = q[i]
        if joint.kind == "revolute":
            x = x + 2 * np.pi * ca.floor((q_ref[i] - x) * (0.5 / np.pi) + 0.5)
            low, high = lower[i] - NEGLIGIBLE, upper[i] + NEGLIGIBLE
            more, less = x + 2 * np.pi, x - 2 * np.pi
            half = q_ref[i] + np.pi + NEGLIGIBLE  # beyond the limits either way, half a turn is a positive one
            x = ca.if_else(ca.logic_and(x < low, more <= ca.fmax(high, half)), more, x)
            x = ca.if_else(ca.logic_and(x > high, less >= low), less, x)
        entries.append(x)
    return ca.vertcat(*entries)


def _is_off(arm: Arm, q: Symbol, pose: Symbol, task: str) -> Symbol:
    sizes = error_sizes(*tip_frame(arm, q), pose, task)
    return ca.logic_or(sizes[0] > MAX_TIP_ERROR, sizes[1] > MAX_TIP_ERROR)


def _inside(q: Symbol, lower: Symbol, upper: Symbol) -> Symbol:
    """1 if every joint is within its limits, else 0; NaN must be excluded otherwise."""
    beyond = ca.fmax(lower - q, q - upper)
    worst = beyond[0]
    for i in range(1, q.shape[0]):
        worst = ca.fmax(worst, beyond[i])
    return worst <= NEGLIGIBLE


def _nearest(solutions: list[Symbol], inside: list[Symbol], q_ref: Symbol) -> Symbol:
    """The solution nearest to the reference, those within limits first; NaN if there is none."""
    costs = [ca.dot(q - q_ref, q - q_ref) + OUTSIDE_PENALTY * (1 - ok) for q, ok in zip(solutions, inside, strict=True)]
    least = costs[0]
    for cost in costs[1:]:
        least = ca.fmin(least, cost)  # ignores NaN
    best, none_yet = ca.SX.zeros(q_ref.shape[0]), ca.SX.ones(1)
    for q, cost in zip(solutions, costs, strict=True):
        # Of equally near ones the first
        chosen = ca.logic_and(cost <= least, none_yet)
        best = best + ca.if_else(chosen, q, 0)
        none_yet = none_yet - chosen
    return best + ca.if_else(none_yet, np.nan, 0)
