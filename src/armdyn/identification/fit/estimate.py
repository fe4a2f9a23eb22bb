"""Physically consistent bodies behind the model that was chosen, and what being consistent costs.

The same quadratic is minimised as for the free model, over all ten parameters of every link, under bodies that are
possible and friction that brakes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.choice import Choice, described_rotors
from armdyn.identification.fit.consistent import Minimum, consistent_fit, similar_fits
from armdyn.identification.fit.equations import Equations, System
from armdyn.identification.fit.evidence import discount
from armdyn.identification.fit.free_model import FreeModel
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.prior import NO_PRIOR, ReferenceBodies, determined, precision_of, why_no_prior
from armdyn.identification.fit.rows import Rows
from armdyn.identification.fit.terms import (
    ASYMMETRIES,
    LEVELS,
    LOAD,
    MAX_LOAD,
    ROTOR,
    TERMS,
    MotionStatistics,
    friction_curve,
    level_speeds,
    with_terms,
)
from armdyn.identification.limits import MIN_REDUCTION
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE
from armdyn.spatial import inertia as inertial


class ConstrainedEstimate(NamedTuple):
    """The free model and the physically consistent one."""

    free: FreeModel
    arm: Arm
    minimum: Minimum
    price: float  # weighted residual of the consistent model over that of the free one, on the logs fitted to
    held_out: float  # relative error of consistent bodies on held-out blocks; nan where there is one block only
    held_out_joints: NDArray  # (n,) the same of each joint; of all together in the form of energy
    held_out_logs: NDArray  # (logs,) of each log under the fit to the others; empty for one log
    x: NDArray  # (size,) parameters of the consistent model
    deviations: NDArray  # (blocks, size) from these of the fits to all blocks but one
    determined: NDArray  # (n, 10) of bool: parameters of the links that the logs tell, see `determined`

    @property
    def share(self) -> float:
        """Share of the free model in the best prediction: half, or all of it where it leaves notably less."""
        return 0.5 if (1 - MIN_REDUCTION) * self.price < 1 else 1.0


def estimate(choice: Choice, masses: MassBounds | None = None, described: bool = True) -> ConstrainedEstimate:
    """Physically consistent bodies with the joint terms chosen, of those that fit alike the nearest to the description.

    What the logs do not determine stays as described, unless the description is not to be used or not of bodies.

    Separates rotor inertia from link inertia: links alone could not have the sum.
    """
    free = choice.model
    rows, equations = _with_whole_loads(choice, free)
    problem = _constrained_problem(choice, equations, masses, described)
    blocks = len(equations.logs)
    minimum = problem.fit()
    n, base = choice.base.source.n, choice.base
    links = inertial.SIZE * base.source.n_joints
    lumped = base.source.n_joints if base.joint_terms else 0
    x = problem.parameters(minimum)
    values = x[base.count :].reshape(n, len(TERMS)).copy()
    values[:, ROTOR] += minimum.joint[list(base.source.coordinate_indices)] if lumped else 0.0
    arm = with_terms(base.source.with_theta(minimum.theta[:links]), values, choice.rows.statistics)
    measured = choice.rows.measured
    if not measured.all():  # friction and rotors that no torque shows stay as described
        silent = {arm.coordinate_indices[k] for k in np.flatnonzero(~measured)}
        pairs = enumerate(zip(arm.joints, base.source.joints, strict=True))
        arm = arm.with_joints([described if i in silent else joint for i, (joint, described) in pairs])
    weights = equations.weights**2
    price = float(weights @ equations.errors(x)) / max(
        float(weights @ choice.equations.errors(choice.posterior.x)), 1e-300
    )
    without = problem.without_each(minimum) if blocks > 1 else x[None]
    unseen = equations.by_phase(rows)
    squares = np.full((1, len(weights)), np.nan)
    if unseen is not equations:
        squares = unseen.squares(_constrained_problem(choice, unseen, masses, described).without_each(minimum))
    elif blocks > 1:
        squares = equations.squares(without)
    powers = np.maximum(equations.powers, 1e-300)
    joints = np.sqrt(squares.sum(axis=0) / powers)
    joints = np.where(measured, joints, np.nan) if len(joints) == n else joints
    return ConstrainedEstimate(
        free, arm, minimum, float(np.sqrt(price)), float(np.sqrt(squares.sum() / powers.sum())),
        joints, _held_out_logs(problem, minimum), x, without - x, determined(problem.information, problem.reference),
    )  # fmt: skip


def _with_whole_loads(choice: Choice, free: FreeModel) -> tuple[Rows, Equations]:
    """Rows and equations with joints loaded as the arm's friction is: by the whole torque of the drives."""
    base, used = choice.base, choice.used
    if not used[base.count + LOAD :: len(TERMS)].any():
        return choice.rows, choice.equations
    rows: Rows = choice.rows.with_loads([free.torque(track) for track in choice.rows.tracks])
    return rows, choice.equations.updated(rows, rows.load_columns)


class _ConstrainedProblem(NamedTuple):
    """In all parameters y = [theta, rotors in the base parameters, joint terms]; those used are x = projection y."""

    equations: Equations
    used: NDArray
    projection: NDArray
    folds: System  # of y: the data of each block
    precision: NDArray  # of y
    pull: NDArray  # precision times mean of y
    reference: ReferenceBodies
    strength: float  # of the divergence from the prior
    start: NDArray
    positive: NDArray
    bounds: tuple[NDArray, NDArray]  # rows G and h of G y > h for rotors and joint terms
    masses: MassBounds | None

    def fit(self) -> Minimum:
        """The fit to all blocks."""
        system = System(*(part[0] for part in self._systems(np.ones((1, len(self.folds.b))))))
        return consistent_fit(
            system, self.reference, self.strength, self.start, self.positive, self.masses, self.bounds
        )

    def fits(self, blocks: NDArray, near: Minimum) -> NDArray:
        """Parameters (v, size) of the fits to some blocks (v, blocks), each a few steps from that to all."""
        systems = self._systems(blocks.astype(float))
        minima = similar_fits(systems, near, self.reference, self.strength, self.positive, self.masses, self.bounds)
        return np.array([self.parameters(minimum) for minimum in minima])

    def _systems(self, blocks: NDArray) -> System:
        """Normal equations of some blocks (v, blocks)."""
        A, b, c = (np.tensordot(blocks, part, 1) for part in self.folds)
        return System(A + self.precision, b + self.pull, c)

    def without_each(self, near: Minimum) -> NDArray:
        """Parameters (blocks, size) of the fits to all blocks but one."""
        return self.fits(~np.eye(len(self.equations.logs), dtype=bool), near)

    @property
    def information(self) -> NDArray:
        """Inverse covariance of y by the data and by the prior of joint terms."""
        links = len(self.reference.theta)
        precision = self.precision.copy()
        precision[:links, :links] = 0.0
        return np.asarray(self.folds.A.sum(axis=0) + precision)

    def parameters(self, least: Minimum) -> NDArray:
        """x (size,) of a minimum."""
        x = np.zeros(self.equations.size)
        x[self.used] = self.projection @ np.concatenate([least.theta, least.joint])
        return x


def _held_out_logs(problem: _ConstrainedProblem, minimum: Minimum) -> NDArray:
    """Relative errors (logs,) of each log under the fit to the others; empty where there is one."""
    equations = problem.equations
    of_logs = np.arange(equations.logs.max() + 1)[:, None] == equations.logs
    if len(of_logs) == 1:
        return np.empty(0)
    squares = of_logs @ equations.squares(problem.fits(~of_logs, minimum)[equations.logs]).sum(axis=1)
    powers = of_logs @ equations.grams[:, :, -1, -1].sum(axis=1)
    return np.asarray(np.sqrt(squares / np.maximum(powers, 1e-300)))


def _constrained_problem(
    choice: Choice, equations: Equations, masses: MassBounds | None, described: bool
) -> _ConstrainedProblem:
    base, used = choice.base, np.flatnonzero(choice.used)
    terms = used[used >= base.count] - base.count
    N = base.source.n_joints
    links, lumped = inertial.SIZE * N, N if base.joint_terms else 0
    projection = np.zeros((len(used), links + lumped + len(terms)))
    projection[: base.count, : links + lumped] = base.P
    projection[base.count :, links + lumped :] = np.eye(len(terms))
    reference = _reference(choice, described)
    bodies = links + lumped
    precision, pull = np.zeros((projection.shape[1], projection.shape[1])), np.zeros(projection.shape[1])
    precision[:bodies, :bodies] = choice.strength * precision_of(choice.covariance)
    strength = NO_PRIOR
    if reference.known:
        # The divergence is the prior of the links: as strong as the evidence has it, or one size a deviation.
        strength = choice.strength if choice.described else 1.0
        precision[:links, :links] = 0.0
    if choice.described:
        pull[links:bodies] = np.diag(precision)[links:bodies] * described_rotors(base)
    k = np.arange(bodies, len(precision))
    precision[k, k] = np.diag(choice.posterior.prior_precision)[base.count + terms]
    positive = np.array([True] * lumped + [TERMS[term % len(TERMS)].positive for term in terms], bool)
    start = np.concatenate([np.full(lumped, 1e-2), choice.posterior.x[base.count + terms]])
    start, bounds = _bound(start, terms, lumped, choice.rows.statistics)
    kinds = choice.rows.measured.sum() if len(equations.weights) == equations.n else 1
    samples = float(equations.samples.sum() * kinds)
    misfit = float(equations.weights**2 @ choice.equations.errors(choice.posterior.x))
    misfit *= discount(choice.rows, choice.equations, choice.posterior.x)
    sharpness = float(np.clip(samples / max(misfit, 1e-300), 1.0, 1e6))  # squared noise that was assumed over that seen
    A, b, c = equations.folds(used)
    folds = System(projection.T @ (sharpness * A) @ projection, sharpness * b @ projection, c)
    return _ConstrainedProblem(
        equations, used, projection, folds, precision, pull, reference, strength, start, positive, bounds, masses,
    )  # fmt: skip


def _reference(choice: Choice, described: bool) -> ReferenceBodies:
    """Bodies to stay near to: those described where they can be bodies, else generic ones as heavy as the fit's."""
    if choice.described:
        return choice.reference
    if described and not why_no_prior(choice.base.source):
        return ReferenceBodies.of(choice.base.source)
    mass = float(np.clip(1 / np.sqrt(choice.strength), 1e-3, 1e3))
    return ReferenceBodies(choice.reference.bodies * mass, choice.reference.theta * mass, False)


def braking_speeds(joint: int, statistics: MotionStatistics) -> NDArray:
    """Speeds at which friction must brake: where the friction curve of a joint bends, and midway between."""
    bends = np.sort([max(float(level_speeds(TERMS[k], statistics)[joint]), NEGLIGIBLE) for k in LEVELS])
    return np.sort(np.concatenate([bends, np.sqrt(bends[1:] * bends[:-1])]))


def _bound(
    start: NDArray, terms: NDArray, lumped: int, statistics: MotionStatistics
) -> tuple[NDArray, tuple[NDArray, NDArray]]:
    """Values of joint terms to begin with, and bounds G y > h: loads below what locks, friction that brakes.

    The friction curve of a joint, of all its terms together, is positive at some speeds, in either direction.
    """
    start, rows, limits = start.copy(), [], []
    joints, kinds = np.divmod(terms, len(TERMS))
    for i in np.flatnonzero(kinds == LOAD) + lumped:
        start[i] = np.clip(start[i], 0.01 * MAX_LOAD, 0.5 * MAX_LOAD)
        rows.append(-np.eye(len(start))[i])
        limits.append(-MAX_LOAD)
    for joint in np.unique(joints):
        of_joint = np.flatnonzero(joints == joint)
        speeds = braking_speeds(int(joint), statistics)
        curve = friction_curve(int(joint), speeds, statistics)[:, kinds[of_joint]]
        if not curve.any():
            continue
        both = np.zeros((2 * len(speeds), len(start)))
        # One way asymmetries add to the curve, the other way they take from it.
        aside = (kinds[of_joint] == ASYMMETRIES[0]) + np.outer(speeds, kinds[of_joint] == ASYMMETRIES[1])
        both[:, lumped + of_joint] = np.vstack([curve + aside, curve - aside])
        if (both @ start <= 0).any():  # begin with little friction of every kind
            values = start[lumped + of_joint]
            values[curve.any(axis=0)] = 1e-3 * max(float(np.abs(values).max()), 1e-3)
            start[lumped + of_joint] = np.where(np.isin(kinds[of_joint], ASYMMETRIES), 0.0, values)
        rows += list(both)
        limits += [0.0] * len(both)
    return start, (np.array(rows).reshape(len(rows), len(start)), np.array(limits))
