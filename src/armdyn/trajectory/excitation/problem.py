"""The design of an exciting Fourier series as a smooth function of its coefficients within linear bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import row_of
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.errors import LimitError
from armdyn.frozen import PartOf
from armdyn.names import HintedAttributes
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.excitation.held_information import held_information
from armdyn.trajectory.excitation.interior_point import Bounds
from armdyn.trajectory.excitation.motion_constraints import MotionConstraint
from armdyn.trajectory.excitation.objective import ExcitationObjective
from armdyn.trajectory.excitation.options import ObjectiveOptions, SeriesOptions
from armdyn.trajectory.excitation.series_space import SeriesSpace, States
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits

# Slack that searches aim for, so that constraints hold between samples [part of a torque limit, m].
AIMED_SLACK = 0.02
# Sizes of the motion about its mean that are tried until constraints hold.
START_SIZES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02)  # of random motions about a pose
SIZES_TRIED = (1.0, 0.99, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)
# Ways to give a constraint room, by its name; the others are clearances.
REMEDIES = {
    "torque": "allow larger torques (max_torque)",
    "tip box": "allow the tip more room (tip_box)",
    "followers": "widen the limits of joints that follow others",
}
POSE_RANGE_RATIO = 0.9  # part of the position limits within which poses lie about which searches may start


@dataclass(frozen=True, eq=False)
class ExcitationProblem(HintedAttributes):
    """The best objective over a space of series, within constraints."""

    space: SeriesSpace
    objective: ExcitationObjective
    constraints: tuple[MotionConstraint, ...] = ()

    @classmethod
    def of(
        cls,
        base: BaseParameters,
        limits: MotionLimits,
        duration: float,
        series: SeriesOptions,
        objective: ObjectiveOptions,
    ) -> ExcitationProblem:
        """Pose the problem without constraints."""
        frequency = 1 / duration if series.frequency is None else series.frequency
        space = SeriesSpace(limits, duration, series.harmonics, frequency, series.at_rest, objective.samples)
        noise = row_of(
            1.0 if objective.noise is None else objective.noise, base.source.n, "excite: noise", sign=">", finite=True
        )
        unit, robust = objective.unit_columns, objective.robust
        goal = ExcitationObjective(
            base, limits, objective.criterion, unit, not unit if robust is None else robust, noise
        )
        return cls(space, replace(goal, prior_information=held_information(space, goal, objective.prior_logs)))

    # -- parts by their names ---------------------------------------------------------------------------

    base = PartOf[BaseParameters]("objective.base", "The parameters it is for.")
    limits = PartOf[MotionLimits]("space.limits", "Limits of the joints.")
    duration = PartOf[float]("space.duration", "Duration of the motion [s].")
    samples = PartOf[int]("space.samples", "Number of samples at which the objective is computed.")
    times = PartOf[NDArray]("space.times", "Times of the samples [s].")
    bounds = PartOf[Bounds]("space.bounds", "Limits of positions, velocities and accelerations, linear in x.")
    forms = PartOf[NDArray]("objective.forms", "Choices of base columns (k, c, c); the first is that of `base`.")
    series = PartOf[Callable[[NDArray], FourierSeries]]("space.series", "The motion that x stands for.")
    states = PartOf[Callable[[NDArray], States]]("space.states", "States (N, n) at the samples of x.")
    rows = PartOf[Callable[[tuple[NDArray, ...]], NDArray]]("objective.rows", "Weighted regressor rows (N n, c).")
    prior_information = PartOf[NDArray | None]("objective.prior_information", "Information (c, c) of earlier logs.")

    # -- the function -----------------------------------------------------------------------------------

    def information(self, x: NDArray) -> NDArray:
        """The information matrix (c, c), with what the given logs hold."""
        return self.objective.information(self.rows(self.states(x)))

    def conditions(self, x: NDArray) -> NDArray:
        """Condition numbers of all choices of base columns."""
        return self.objective.conditions(self.information(x))

    def worst_choices(self, x: NDArray) -> list[int]:
        """The choices of base columns, numbers of `forms`, that for which x is worst first."""
        return [int(k) for k in np.argsort(-self.conditions(x), kind="stable")]

    def value(self, x: NDArray, forms: NDArray, power: float, weight: float = 0.0) -> tuple[float, NDArray]:
        """The criterion with `weight` times the penalties of the constraints, and its exact gradient (n, m)."""
        space = self.space
        goal = self.objective.value(space.states(x), forms, power)
        if goal is None:
            return np.inf, np.zeros_like(x)
        value, slopes = goal
        gradient = sum((slope.T @ B for slope, B in zip(slopes, space.basis, strict=True)), np.zeros_like(x))
        apart = space.states(x, space.constraint_basis) if self.constraints else ()
        for constraint in self.constraints:
            extra, pull = constraint.penalty(apart, AIMED_SLACK)  # type: ignore[arg-type]
            value += weight * extra
            for slope, B in zip(pull, space.constraint_basis, strict=True):
                if np.ndim(slope):
                    gradient += weight * np.asarray(slope).T @ B
        return value, gradient

    def loss(self, x: NDArray) -> float:
        """Logarithm of the plain criterion for the worst choice of base columns; infinite where singular."""
        return self.objective.loss(self.information(x))

    def score(self, x: NDArray) -> float:
        """Compute the figure that candidates are compared by: the condition number, or the logarithm of a criterion."""
        return float(np.exp(self.loss(x))) if self.objective.criterion == "condition" else self.loss(x)

    # -- constraints ------------------------------------------------------------------------------------

    def seems_to_keep_constraints(self, x: NDArray) -> bool:
        """Whether no sample breaks a constraint: soon told, and not for sure."""
        states = self.space.states(x, self.space.constraint_basis)
        return all(constraint.slack(states).min(initial=0) >= 0 for constraint in self.constraints)

    def worst_slack(self, x: NDArray) -> tuple[float, MotionConstraint | None]:
        """A lower bound of the slacks of all constraints at all times, and whose it is."""
        series = self.series(x)
        slacks = [(c.least(series, self.limits), c) for c in self.constraints]
        return min(slacks, key=lambda pair: pair[0], default=(np.inf, None))

    def repaired(self, x: NDArray, stop: Callable[[], bool] = lambda: False) -> NDArray | None:
        """x made smaller until it keeps all limits and, about its mean position, all constraints.

        None if it never does, or if `stop()` cancels the search.
        """
        if stop():
            return None
        x = x / max(1.0, self.space.peak(x) * (1 + NEGLIGIBLE)) if self.space.at_rest else x
        # About the pose that is the mean over time, which lies within the limits as all others do.
        mean = self.space.at_pose(self.states(x)[0].mean(0))
        for size in SIZES_TRIED if self.constraints else ():
            if stop():
                return None
            smaller = mean + size * (x - mean)
            if self.seems_to_keep_constraints(smaller) and self.worst_slack(smaller)[0] >= 0:
                return smaller
        return None if self.constraints else x

    def random_start(self, rng: np.random.Generator) -> NDArray:
        """A random point inside the bounds; with constraints about a pose that keeps them, and seems to keep them."""
        x = rng.normal(size=(self.base.source.n, self.space.directions.shape[1]))
        if not self.constraints:
            reach = np.abs(np.einsum("irm,im->ir", self.bounds.A, x)).max(1)
            return x / reach[:, None] * rng.uniform(0.3, 0.95, (len(x), 1))
        mean = self.space.at_pose(self.free_poses[rng.integers(len(self.free_poses))])
        x = x - np.outer(x @ self.space.directions[0], self.space.directions[0])
        here, more = (np.einsum("irm,im->ir", self.bounds.A, part) for part in (mean, x))
        room = ((1 - np.sign(more) * here) / np.maximum(np.abs(more), 1e-300)).min(1)
        x = x * (room * rng.uniform(0.3, 0.95, len(x)))[:, None]
        size = next((s for s in START_SIZES if self.seems_to_keep_constraints(mean + s * x)), START_SIZES[-1])
        return np.asarray(mean + size * x)

    @cached_property
    def free_poses(self) -> NDArray:
        """Random poses (k, n) in which an arm at rest keeps all constraints, with as much room as there is."""
        q = self.limits.random_poses(POSE_RANGE_RATIO)
        rest = np.zeros_like(q)
        slack = [constraint.slack((q, rest, rest)).min(1, initial=np.inf) for constraint in self.constraints]
        least = np.min(slack, axis=0)
        for margin in (2 * AIMED_SLACK, AIMED_SLACK, 0.0):
            if (least > margin).any():
                return np.asarray(q[least > margin])
        best = int(least.argmax())
        worst = self.constraints[int(np.argmin([s[best] for s in slack]))]
        pose = ", ".join(f"{x:.3g}" for x in q[best])
        still = (q[best : best + 1], rest[:1], rest[:1])
        cause = f"none of {len(q)} poses within the position limits keeps all constraints"
        best_pose = f"the best, q = {pose}, {worst.describe(still)}"
        remedy = REMEDIES.get(worst.name, "move the floor or obstacles, widen the limits, or switch the check off")
        raise LimitError(f"{cause}; {best_pose}", where="excite", remedy=remedy)
