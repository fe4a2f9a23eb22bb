"""The design of an exciting Fourier series as a smooth function of its coefficients within linear bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.errors import LimitError
from armdyn.names import HintedAttributes
from armdyn.trajectory.excitation.information import condition_numbers, evaluate
from armdyn.trajectory.excitation.interior_point import Bounds
from armdyn.trajectory.excitation.motion_constraints import MotionConstraint
from armdyn.trajectory.excitation.regressor import base_choices, excitation_gradient, excitation_regressor
from armdyn.trajectory.fourier import Basis, FourierSeries, drift_basis, fourier_basis, peak_factor
from armdyn.trajectory.motion_limits import MotionLimits

# Samples per period and harmonic at which limits are imposed: between them a series rises by 0.3 % at most.
LIMIT_SAMPLES_PER_HARMONIC = 40
# Samples a period of the highest harmonic at which searches look at other constraints.
SAMPLES_PER_HARMONIC = 20
# Slack that searches aim for, so that constraints hold between samples [part of a torque limit, m].
AIMED_SLACK = 0.02
# Part of a limit that scaling to it may miss by rounding.
ROUND_OFF = 1e-12
# Sizes of the motion about its mean that are tried until constraints hold.
START_SIZES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02)  # of random motions about a pose
POSES_TRIED = 4000  # random poses about which searches may start
POSE_RANGE_RATIO = 0.9  # part of the position limits within which these lie
SIZES_TRIED = (1.0, 0.99, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True, eq=False)
class ExcitationProblem(HintedAttributes):
    """Variables x (n, m) are coordinates of the coefficients, such that the motion keeps to its ends."""

    base: BaseParameters
    limits: MotionLimits
    duration: float
    harmonics: int
    frequency: float
    at_rest: bool
    samples: int
    noise: NDArray  # (n,) relative standard deviations of the torques
    criterion: str
    unit_columns: bool
    robust: bool  # for the worst of the usual choices of base columns, or for that of `base` alone
    prior_information: NDArray | None = None  # information (c, c) that logs hold already
    constraints: tuple[MotionConstraint, ...] = ()

    def series_basis(self, t: NDArray) -> Basis:
        """Return the basis of a series' coefficients, with those of its polynomial if it is to be at rest at its
        ends.
        """
        basis = fourier_basis(t, self.frequency, self.harmonics)
        if not self.at_rest:
            return basis
        return Basis(*(np.hstack(pair) for pair in zip(basis, drift_basis(t, self.duration), strict=True)))

    @cached_property
    def directions(self) -> NDArray:
        """Coefficients (c, m) in which a joint may move: all, or those that start and end at rest where they began."""
        if not self.at_rest:
            return np.eye(2 * self.harmonics + 1)
        ends = self.series_basis(np.array([0.0, self.duration]))
        rate = 2 * np.pi * self.frequency
        rows = np.concatenate([np.diff(ends.q, axis=0) * rate, ends.qd, ends.qdd / rate])
        _, s, Vt = np.linalg.svd(rows)
        return Vt[int((s > 1e-9 * s[0]).sum()) :].T

    @cached_property
    def times(self) -> NDArray:
        """Times of the samples [s]."""
        return np.linspace(0.0, self.duration, self.samples, endpoint=False)

    @cached_property
    def basis(self) -> Basis:
        """Basis that gives the samples of x."""
        return Basis(*(B @ self.directions for B in self.series_basis(self.times)))

    @cached_property
    def constraint_basis(self) -> Basis:
        """Basis that gives the states of x at which searches look at constraints: enough for the highest harmonic."""
        count = int(np.ceil(SAMPLES_PER_HARMONIC * self.harmonics * max(1.0, self.frequency * self.duration))) + 1
        t = np.linspace(0.0, self.duration, count)
        return Basis(*(B @ self.directions for B in self.series_basis(t)))

    @cached_property
    def bounds(self) -> Bounds:
        """Limits of positions, velocities and accelerations: at all times of a series alone, else see `repaired`."""
        grid = LIMIT_SAMPLES_PER_HARMONIC * self.harmonics
        t = np.arange(grid) / grid / self.frequency
        if self.at_rest:
            t = np.linspace(0.0, self.duration, max(4, int(np.ceil(grid * self.frequency * self.duration))) + 1)
        factor = peak_factor(self.harmonics, grid)
        matrices = (factor * B @ self.directions for B in self.series_basis(t))
        room = (self.limits.half_range, self.limits.velocity, self.limits.acceleration)
        return Bounds(
            np.concatenate([B / limit[:, None, None] for B, limit in zip(matrices, room, strict=True)], axis=1)
        )

    @cached_property
    def forms(self) -> NDArray:
        """Choices of base columns (k, c, c); the first is that of `base`."""
        extra = 2 * self.base.source.n
        if not self.robust:
            return np.eye(self.base.count + extra)[None]
        return base_choices(self.base, self.limits, extra)

    @cached_property
    def row_weights(self) -> NDArray:
        """Weights (n, 1) of the rows of the regressor."""
        return (1 / self.noise)[:, None]

    def series(self, x: NDArray) -> FourierSeries:
        """The motion that x stands for."""
        coefficients = x @ self.directions.T
        coefficients[:, 0] += self.limits.center
        series, drift = np.split(coefficients, [2 * self.harmonics + 1], axis=1)
        return FourierSeries(series, self.frequency, self.duration, drift if self.at_rest else None)

    def states(self, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Positions, velocities, accelerations (N, n) at the samples."""
        return self._states(self.basis, x)

    def _states(self, basis: Basis, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        return basis.q @ x.T + self.limits.center, basis.qd @ x.T, basis.qdd @ x.T

    def rows(self, states: tuple[NDArray, ...]) -> NDArray:
        """Weighted regressor rows (N n, c)."""
        W = excitation_regressor(self.base, *states) * self.row_weights
        return W.reshape(-1, W.shape[-1])

    def information(self, x: NDArray) -> NDArray:
        """The information matrix (c, c), with what the given logs hold."""
        W = self.rows(self.states(x))
        return W.T @ W if self.prior_information is None else W.T @ W + self.prior_information

    def conditions(self, x: NDArray) -> NDArray:
        """Condition numbers of all choices of base columns."""
        return condition_numbers(self.information(x), self.forms, self.unit_columns)

    def worst_choices(self, x: NDArray) -> list[int]:
        """The choices of base columns, numbers of `forms`, that for which x is worst first."""
        return [int(k) for k in np.argsort(-self.conditions(x), kind="stable")]

    def value(self, x: NDArray, forms: NDArray, power: float, weight: float = 0.0) -> tuple[float, NDArray]:
        """The criterion with `weight` times the penalties of the constraints, and its exact gradient (n, m)."""
        states = self.states(x)
        W = self.rows(states)
        S = W.T @ W if self.prior_information is None else W.T @ W + self.prior_information
        evaluation = evaluate(S, forms, self.criterion, power, self.unit_columns)
        if evaluation is None:
            return np.inf, np.zeros_like(x)
        # d f = sum(slope * dS), dS = dW' W + W' dW
        weights = (2 * W @ evaluation.slope).reshape(len(self.times), self.base.source.n, -1) * self.row_weights
        dq, dqd, dqdd = excitation_gradient(self.base, *states, weights)
        gradient = dq.T @ self.basis.q + dqd.T @ self.basis.qd + dqdd.T @ self.basis.qdd
        value, basis = evaluation.value, self.constraint_basis
        apart = self._states(basis, x) if self.constraints else ()
        for constraint in self.constraints:
            extra, pull = constraint.penalty(apart, AIMED_SLACK)  # type: ignore[arg-type]
            value += weight * extra
            for slope, B in zip(pull, basis, strict=True):
                if np.ndim(slope):
                    gradient += weight * np.asarray(slope).T @ B
        return value, gradient

    def loss(self, x: NDArray) -> float:
        """Logarithm of the plain criterion for the worst choice of base columns; infinite where singular."""
        if self.criterion == "condition":
            return float(np.log(self.conditions(x).max()))
        evaluation = evaluate(self.information(x), self.forms[:1], self.criterion, 1e3, self.unit_columns)
        return np.inf if evaluation is None else evaluation.value

    def score(self, x: NDArray) -> float:
        """Return the figure that candidates are compared by: the condition number itself, the logarithm of other
        criteria.
        """
        return float(np.exp(self.loss(x))) if self.criterion == "condition" else self.loss(x)

    def seems_to_keep_constraints(self, x: NDArray) -> bool:
        """Whether no sample breaks a constraint: soon told, and not for sure."""
        states = self._states(self.constraint_basis, x)
        return all(constraint.slack(states).min(initial=0) >= 0 for constraint in self.constraints)

    def worst_slack(self, x: NDArray) -> tuple[float, MotionConstraint | None]:
        """A lower bound of the slacks of all constraints at all times, and whose it is."""
        series = self.series(x)
        slacks = [(c.least(series, self.limits), c) for c in self.constraints]
        return min(slacks, key=lambda pair: pair[0], default=(np.inf, None))

    def peak(self, x: NDArray) -> float:
        """An upper bound of positions, velocities and accelerations at all times, as parts of their limits."""
        limits = self.limits
        peaks = self.series(x).peaks(limits.center)
        room = (limits.half_range, limits.velocity, limits.acceleration)
        return float(max((peak / most).max() for peak, most in zip(peaks, room, strict=True)))

    def repaired(self, x: NDArray, stop: Callable[[], bool] = lambda: False) -> NDArray | None:
        """x made smaller until it keeps all limits and, about its mean position, all constraints.

        None if it never does, or if `stop()` says that nobody waits for it.
        """
        if stop():
            return None
        x = x / max(1.0, self.peak(x) * (1 + ROUND_OFF)) if self.at_rest else x
        # About the pose that is the mean over time, which lies within the limits as all others do.
        mean = self._mean_of(self.states(x)[0].mean(0))
        for size in SIZES_TRIED if self.constraints else ():
            if stop():
                return None
            smaller = mean + size * (x - mean)
            if self.seems_to_keep_constraints(smaller) and self.worst_slack(smaller)[0] >= 0:
                return smaller
        return None if self.constraints else x

    def random_start(self, rng: np.random.Generator) -> NDArray:
        """A random point inside the bounds; with constraints about a pose that keeps them, and seems to keep them."""
        x = rng.normal(size=(self.base.source.n, self.directions.shape[1]))
        if not self.constraints:
            reach = np.abs(np.einsum("irm,im->ir", self.bounds.A, x)).max(1)
            return x / reach[:, None] * rng.uniform(0.3, 0.95, (len(x), 1))
        mean = self._mean_of(self.free_poses[rng.integers(len(self.free_poses))])
        x = x - np.outer(x @ self.directions[0], self.directions[0])
        here, more = (np.einsum("irm,im->ir", self.bounds.A, part) for part in (mean, x))
        room = ((1 - np.sign(more) * here) / np.maximum(np.abs(more), 1e-300)).min(1)
        x = x * (room * rng.uniform(0.3, 0.95, len(x)))[:, None]
        size = next((s for s in START_SIZES if self.seems_to_keep_constraints(mean + s * x)), START_SIZES[-1])
        return np.asarray(mean + size * x)

    def _mean_of(self, pose: NDArray) -> NDArray:
        """The x that stays in one pose."""
        return np.outer(pose - self.limits.center, self.directions[0])

    @cached_property
    def free_poses(self) -> NDArray:
        """Random poses (k, n) in which an arm at rest keeps all constraints, with as much room as there is."""
        rng, limits = np.random.default_rng(0), self.limits
        reach = POSE_RANGE_RATIO * np.minimum(limits.half_range, np.pi)
        q = limits.center + reach * rng.uniform(-1, 1, (POSES_TRIED, len(reach)))
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
        raise LimitError(
            f"excite: none of {POSES_TRIED} poses within the position limits keeps all constraints; the best, "
            f"q = {pose}, misses {worst.describe(still)}; move the floor or obstacles, widen the limits, or switch the "
            "check off"
        )
