"""Gravity parameters from poses held still (Kapadia, section 7.3): one equation per joint and pose, no derivatives.

Static friction holds an arm within a band around its gravity torque. Poses approached from different sides show
different ends of it, so that it averages out and counts as noise of independent poses.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.dynamics.shafts import shaft_torques
from armdyn.identification.estimators.data import Data, normal_equations
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.fit.consistent import Minimum, consistent_fit
from armdyn.identification.fit.equations import MAX_BLOCKS_PER_LOG, System, solve
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.prior import NO_PRIOR, ReferenceBodies, precision_in
from armdyn.identification.fit.result import (
    BaseEstimate,
    Fit,
    FitMetrics,
    FitProvenance,
    FrictionValues,
    ModelPair,
    ModelSelection,
    ParameterConditioning,
    check_notes,
)
from armdyn.identification.fit.spread import condition, determine
from armdyn.identification.fit.validation import compare_poses, offset_torque, spring_torque
from armdyn.identification.hypotheses.check import DataCheck
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.wording import joint_numbers
from armdyn.identification.motion.track import Filters
from armdyn.identification.poses import HeldPoses
from armdyn.model.arm import Arm
from armdyn.numerals import pluralize
from armdyn.spatial import inertia as inertial

# Strengths of the prior to choose from. At 1 it says that the description may be off by as much as the bodies' own
# size, one standard deviation: anything weaker is hardly knowledge.
STRENGTHS = np.concatenate([[0.0], 10.0 ** np.arange(-2, 6.1, 0.5)])


def fit_poses(
    arm: Arm,
    poses: HeldPoses,
    checks: tuple[DataCheck, ...],
    strength: float | None,
    filters: Filters,
    masses: MassBounds | None = None,
) -> Fit:
    """The arm whose links carry the torques of the poses; friction and drives stay as described, but for offsets."""
    base = base_parameters(arm, terms="gravity")
    data = _equations(base, poses)
    solution = LeastSquares().fit(data)
    systems = _systems(data, solution.weights)
    known = determine(_sum(systems).A)
    names = tuple(f"F0{j + 1}" for j in range(arm.n))
    error = data.residuals(solution.x)
    variance = float(np.sum((solution.weights * error) ** 2)) / max(error.size - known.root.shape[1], 1)
    covariance = variance * known.inverse
    covariance[known.lost, known.lost] = np.inf
    estimate = BaseEstimate(solution.x, np.sqrt(np.diag(covariance)), base, names, covariance)
    strength, scan, held_out = _strength(base, systems, ReferenceBodies.of(arm), strength)
    consistent = _consistent(base, _sum(systems), strength, solution.x, masses)
    missing = np.isnan(poses.tau).all(axis=0)
    offsets = np.where(missing, offset_torque(arm), consistent.joint)
    silent = [name for name, absent in zip(names, missing, strict=True) if absent]
    fitted = _with_offsets(arm.with_theta(consistent.theta), offsets)
    fitted = dataclasses.replace(fitted, preprocessing=dataclasses.replace(filters.preprocessing, rests=True))
    compare_source = None if np.isnan(arm.theta).any() else partial(compare_poses, arm, poses)
    left = float(np.linalg.norm(error) / max(float(np.linalg.norm(data.tau)), 1e-300))
    pairs = zip(estimate.labels, known.lost, strict=True)
    undetermined = tuple(name for name, unknown in pairs if unknown and name not in silent)
    held = f"{pluralize(len(poses.t), 'pose')} held still ({poses.share:.0%} of the time)"
    notes = (f"{held}; what moves between them is left out", *check_notes(checks))
    return Fit(
        fitted, arm, _friction(fitted, estimate), estimate,
        FitMetrics(compare_poses(fitted, poses), None, compare_source, left, held_out=held_out),
        FitProvenance(filters, checks=checks, notes=notes),
        ModelSelection(strength, scan=scan, structure=(("offset",),) * arm.n),
        ParameterConditioning(
            solution.condition, condition(known.values), effective=np.full(arm.n, float(len(poses.t))),
            undetermined=undetermined,
        ),
        ModelPair(gap=consistent.gap, boundary=tuple(arm.link_names[i] for i in consistent.boundary)),
    )  # fmt: skip


def one_sided(arm: Arm, poses: HeldPoses) -> tuple[Finding, ...]:
    """A warning where poses were approached from one side: static friction is then part of the answer."""
    if not (joints := poses.one_sided):
        return ()
    text = (
        f"poses were approached from one side by joint {joint_numbers(joints)}: its static friction looks like weight, "
        "and poses approached from the other side have another torque"
    )
    return (Finding("warn", text, FindingKind.MOTION, joints, hint="come into poses from both sides"),)


def _equations(base: BaseParameters, poses: HeldPoses) -> Data:
    n, count = base.source.n, len(poses.t)
    offsets = np.broadcast_to(np.eye(n), (count, n, n))
    known = spring_torque(base.source, poses.q)
    measured = ~np.isnan(poses.tau).all(axis=0)  # rows of other joints are zero, and say nothing
    Y = np.concatenate([base.regressor(poses.q), offsets], axis=2)
    return Data(Y * measured[:, None], np.where(measured, poses.tau - known, 0.0))


def _systems(data: Data, weights: NDArray) -> System:
    """Weighted normal equations of blocks of poses, stacked; neighbours in time are in different blocks."""
    parts = []
    for k in range(min(MAX_BLOCKS_PER_LOG, len(data.tau))):
        tau = data.tau[k::MAX_BLOCKS_PER_LOG]
        parts.append((*normal_equations(data.Y[k::MAX_BLOCKS_PER_LOG], tau, weights), np.sum((weights * tau) ** 2)))
    return System(*(np.array(column) for column in zip(*parts, strict=True)))


def _sum(systems: System) -> System:
    return System(*(part.sum(axis=0) for part in systems))


def _strength(
    base: BaseParameters, systems: System, reference: ReferenceBodies, asked: float | None
) -> tuple[float, NDArray, float]:
    """The prior's strength with the least held-out error, the scan, and that error relative to the torque."""
    size, count = systems.b.shape[1], base.count
    precision, mean = np.zeros((size, size)), np.zeros(size)
    precision[:count, :count] = precision_in(base, reference.covariance) if reference.known else 0.0
    mean[:count] = base.project(reference.theta)
    tried = np.array([asked], float) if asked is not None else STRENGTHS if reference.known else np.zeros(1)
    errors = np.array([_held_out_error(systems, s * precision, mean) for s in tried])
    best = int(np.argmin(errors))
    held_out = float(np.sqrt(max(errors[best], 0.0) / max(float(systems.c.sum()), 1e-300)))
    return float(tried[best]), np.column_stack([tried, errors]) if reference.known else np.empty((0, 2)), held_out


def _held_out_error(systems: System, precision: NDArray, mean: NDArray) -> float:
    """Weighted squares of every block's residuals under the fit to all others."""
    total, error = _sum(systems), 0.0
    for A, b, c in zip(*systems, strict=True):
        x = solve(System(total.A - A, total.b - b, total.c - c), precision, mean)
        error += float(x @ A @ x - 2 * b @ x + c)
    return error


def _consistent(base: BaseParameters, total: System, strength: float, x: NDArray, masses: MassBounds | None) -> Minimum:
    """Physically consistent bodies and offsets (n,) behind the gravity parameters."""
    n, links = base.source.n, inertial.SIZE * base.source.n_joints
    projection = np.zeros((base.count + n, links + n))
    projection[: base.count, :links] = base.P
    projection[base.count :, links:] = np.eye(n)
    system = System(projection.T @ total.A @ projection, projection.T @ total.b, total.c)
    reference, free = ReferenceBodies.of(base.source), np.zeros(n, bool)
    return consistent_fit(system, reference, max(strength, NO_PRIOR), x[base.count :], free, masses=masses)


def _with_offsets(arm: Arm, offsets: NDArray) -> Arm:
    joints = list(arm.joints)
    for i, x in zip(arm.coordinate_indices, shaft_torques(arm, offsets), strict=True):
        joints[i] = dataclasses.replace(joints[i], friction=dataclasses.replace(joints[i].friction, offset=float(x)))
    return arm.with_joints(joints)


def _friction(arm: Arm, estimate: BaseEstimate) -> FrictionValues:
    """Rests show offsets alone; the rest of friction is as described, with no claim to be right."""
    chosen = tuple(joint.friction for joint in arm.coordinate_joints)
    viscous, coulomb = (np.array([getattr(f, name) for f in chosen]) for name in ("viscous", "coulomb"))
    unknown = np.full(arm.n, np.inf)
    std = np.stack([unknown, unknown, estimate.std[estimate.count :]])
    return FrictionValues(viscous, coulomb, estimate.theta[estimate.count :], std, chosen)
