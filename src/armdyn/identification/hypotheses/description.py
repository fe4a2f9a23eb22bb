"""Whether torques can be those of the arm at all, and resemble those of its description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.special import log_ndtr

from armdyn.identification.hypotheses.fault_test import FaultTest, column_test
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import ScreeningRegression
from armdyn.identification.hypotheses.screening import MAX_ERROR, MIN_EVIDENCE
from armdyn.identification.hypotheses.wording import joint_name

UNLIKE = 0.5  # correlation of described and measured torques beyond friction, below which they are of different arms


def description_tests(regression: ScreeningRegression, findings: Iterable[Finding]) -> Iterator[FaultTest]:
    """Record the tests of `description_findings`."""
    several, everyone = list(findings), np.ones(regression.n, bool)
    yield column_test("torques of another arm", FindingKind.OTHER_ARM, several, everyone)
    if not any(finding.kind == FindingKind.OTHER_ARM for finding in several):
        yield column_test("friction that drives", FindingKind.FRICTION, several, regression.measured)


def description_findings(regression: ScreeningRegression) -> Iterator[Finding]:
    """Torques of another arm, those that are computed, friction that drives, descriptions of something else."""
    model, arm = regression.model, regression.arm
    if model.error > MAX_ERROR:
        text = (
            f"whatever bodies and friction arm '{arm.name}' had, {model.error:.0%} of the torque would stay "
            "unexplained: another arm, shuffled columns, other units, or torques that are not joint torques?"
        )
        level = "reject" if model.error > 2 * MAX_ERROR else "warn"
        hint = "check the arm, its geometry and the columns"
        yield Finding(level, text, FindingKind.OTHER_ARM, (), 0.0, model.error, hint=hint)
        return
    yield from _falling_friction(regression)
    yield from _unlike(regression)


def _falling_friction(regression: ScreeningRegression) -> Iterator[Finding]:
    """A friction torque that opposes slow motion and drives fast motion: no sign, but a reading that does no work."""
    torque, std = regression.model.friction
    slow, usual = log_ndtr(torque / std)
    for j in np.flatnonzero((slow > np.log(0.5)) & (usual < -MIN_EVIDENCE)).tolist():
        text = (
            f"friction of {joint_name(regression.arm, j)} brakes slow motion ({torque[0, j]:+.2g}) and drives usual "
            f"motion ({torque[1, j]:+.2g}): a reversed sign would turn both, so the reading has a part that does no "
            "work"
        )
        hint = "check how torques of this joint are computed from currents"
        yield Finding("warn", text, FindingKind.FRICTION, (j,), float(-usual[j]), hint=hint)


def _unlike(regression: ScreeningRegression) -> Iterator[Finding]:
    """A description whose torques are not even of the measured course, which other bodies explain."""
    likeness = regression.described_likeness
    if not likeness < UNLIKE or regression.model.error > UNLIKE * regression.error_without_bodies:
        return
    text = (
        f"torques that arm '{regression.arm.name}' would need as described have a correlation of {likeness:.2f} with "
        "those measured, beyond friction: another arm, or a wrong description?"
    )
    yield Finding("warn", text, FindingKind.OTHER_ARM, (), hint="check which arm the log is of")
