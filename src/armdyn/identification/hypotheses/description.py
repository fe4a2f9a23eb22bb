"""Whether torques can be measured ones of the arm at all, and resemble those of its description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.shafts import shaft_torques
from armdyn.identification.fit.prior import why_no_prior
from armdyn.identification.hypotheses.fault_test import FaultTest, column_test
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import ModelDesign, ScreeningRegression
from armdyn.identification.hypotheses.screening import MAX_ERROR, MIN_EVIDENCE
from armdyn.identification.hypotheses.wording import joint_name
from armdyn.identification.logs.log import Log
from armdyn.model.library.sisters import sister_arms

COMPUTED_ERROR = 1e-3  # share of the torques of an arm that models miss at least


def description_tests(regression: ScreeningRegression, findings: Iterable[Finding]) -> Iterator[FaultTest]:
    """Record the tests of `description_findings`."""
    several, everyone = list(findings), np.ones(regression.n, bool)
    yield column_test("torques of another arm", FindingKind.OTHER_ARM, several, everyone)
    if not any(finding.kind == FindingKind.OTHER_ARM for finding in several):
        yield column_test("computed torques", FindingKind.COMPUTED, several, everyone)
        yield column_test("friction that drives", FindingKind.FRICTION, several, regression.measured)


def sister_findings(regression: ScreeningRegression) -> list[Finding]:
    """Name an arm of the library whose torques these are, where the description does not explain them."""
    if regression.described is None or regression.model.described_error < MAX_ERROR * regression.error_without_bodies:
        return []
    d = regression.design
    rest = regression.left_by(d.rigid @ (d.lift @ regression.described.theta))
    best, name = MAX_ERROR * rest, ""
    for known, arm in sister_arms(regression.arm):
        if not why_no_prior(arm):
            torque = np.asarray(inverse_dynamics(arm.with_gravity(regression.arm.gravity), *regression.motion))
            torque = np.asarray(shaft_torques(regression.arm, torque))
            left = regression.left_by(torque)
            if np.linalg.norm(left) < np.linalg.norm(best) and not _is_of_other_bodies(d, torque):
                best, name = left, known
    ratios = np.log(regression.squares(rest) / regression.squares(best))
    evidence = float(0.5 * regression.counts(best) @ ratios)
    if not name or evidence < MIN_EVIDENCE:
        return []
    reduction = float(1 - np.linalg.norm(best) / np.linalg.norm(rest))
    text = (
        f"the library's '{name}' explains the torques better than the description of arm '{regression.arm.name}' does "
        f"(the torque error, friction excluded, is {reduction:.0%} lower; log evidence {evidence:.0f}): which arm "
        "is it?"
    )
    hint = f"take the description of the arm that was logged, such as '{name}' of the library"
    return [Finding("warn", text, FindingKind.OTHER_ARM, (), evidence, reduction, hint=hint)]


def _is_of_other_bodies(design: ModelDesign, torque: NDArray) -> bool:
    """Whether an arm with the frames that are described can have a torque (N, n)."""
    columns = design.rigid.reshape(-1, design.rigid.shape[2])
    bodies = np.linalg.lstsq(columns, torque.ravel(), rcond=None)[0]
    return bool(np.linalg.norm(torque.ravel() - columns @ bodies) < COMPUTED_ERROR * np.linalg.norm(torque))


def description_findings(regression: ScreeningRegression, logs: Iterable[Log]) -> Iterator[Finding]:
    """Torques of another arm, those that are computed, friction that drives, descriptions of something else."""
    model, arm = regression.model, regression.arm
    if model.error > MAX_ERROR:
        text = (
            f"the best bodies and friction of arm '{arm.name}' leave {model.error:.0%} of the torque unexplained: "
            "another arm, columns in another order, other units, or torques that are not joint torques?"
        )
        level = "reject" if model.error > 2 * MAX_ERROR else "warn"
        hint = "check the arm, its geometry and the columns"
        yield Finding(level, text, FindingKind.OTHER_ARM, (), 0.0, model.error, hint=hint)
        return
    yield from _computed(regression, logs)
    yield from _falling_friction(regression)
    yield from _unlike(regression)


def _computed(regression: ScreeningRegression, logs: Iterable[Log]) -> Iterator[Finding]:
    """Torques that a model explains better than those of any arm, and not because noise averages out."""
    error, torques = regression.model.error, [log.tau[:, log.measured] for log in logs]
    # White noise: third differences have 20 times its variance.
    noise = max(np.mean(np.diff(tau, 3, axis=0) ** 2) / 20 / np.mean(tau**2) for tau in torques)
    if np.sqrt(noise) < error < COMPUTED_ERROR:
        text = f"a model explains all but {error:.1g} of the torques, and they contain no noise: were they computed?"
        hint = "log the torques that drives exert"
        yield Finding("note", text, FindingKind.COMPUTED, value=error, hint=hint)


def _falling_friction(regression: ScreeningRegression) -> Iterator[Finding]:
    """A friction torque that opposes slow motion and drives fast motion: no sign, but a reading that does no work."""
    torque, std = regression.model.friction
    slow, usual = log_ndtr(torque / std)
    for j in np.flatnonzero((slow > np.log(0.5)) & (usual < -MIN_EVIDENCE)).tolist():
        text = (
            f"friction of {joint_name(regression.arm, j)} brakes slow motion ({torque[0, j]:+.2g}) but drives usual "
            f"motion ({torque[1, j]:+.2g}): a reversed sign would change the friction at both speeds; does a part of "
            "the reading produce no torque?"
        )
        hint = "check how torques of this joint are computed from currents"
        yield Finding("warn", text, FindingKind.FRICTION, (j,), float(-usual[j]), hint=hint)


def _unlike(regression: ScreeningRegression) -> Iterator[Finding]:
    """A description whose torques are not even of the measured course, which other bodies explain."""
    likeness, left, whole = regression.described_likeness, regression.model.error, regression.error_without_bodies
    # Of the squares of the torques the description explains less than this share, and other bodies leave no more.
    if not likeness * abs(likeness) < MAX_ERROR or left**2 > MAX_ERROR * whole**2:
        return
    text = (
        f"without friction, the torques of the description of arm '{regression.arm.name}' have a correlation of "
        f"{likeness:.2f} with the measured ones: another arm, or a wrong description?"
    )
    yield Finding("warn", text, FindingKind.OTHER_ARM, (), hint="check which arm the log is of")
