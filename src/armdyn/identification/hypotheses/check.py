"""What is wrong with a log, before anything is fitted to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import DataError
from armdyn.identification.fit.spread import condition
from armdyn.identification.hypotheses.columns import DriveGain, Exchange, OtherJoints, Sign, TorqueUnit, UnlikeGains
from armdyn.identification.hypotheses.description import description_findings, description_tests, sister_findings
from armdyn.identification.hypotheses.disturbances import DeadTorque, FrozenEncoder, OffsetStep, SharedDrive
from armdyn.identification.hypotheses.fault_test import FaultTest, outcome_lines
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.findings import (
    JointFigures,
    clock_findings,
    column_tests,
    motion_findings,
    velocities_agree,
    velocity_findings,
)
from armdyn.identification.hypotheses.motions import Delay, Gravity, LedByHand, TimeScale, Zero, bound_zeros, zero_note
from armdyn.identification.hypotheses.payload import payload_findings
from armdyn.identification.hypotheses.regression import ScreeningRegression
from armdyn.identification.hypotheses.screening import Hypothesis, screen
from armdyn.identification.hypotheses.sensors import torque_findings, torque_tests
from armdyn.identification.logs.log import STILL_TRAVEL, Log
from armdyn.identification.motion.differentiate import METHODS
from armdyn.identification.motion.track import BAND_HZ, CUTOFF_HZ, DIRECTION_WIDTH, Filters, Track, tracks_of
from armdyn.model.arm import Arm, require_arm
from armdyn.numerals import pluralize
from armdyn.presentation import present, write_page


class DataCheck(NamedTuple):
    """Findings about a log, and the tests behind them: what it was tested for, and whether it decides."""

    arm: Arm
    log: Log
    findings: tuple[Finding, ...]
    joints: JointFigures
    tests: tuple[FaultTest, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against using the log."""
        return not any(f.level == "reject" for f in self.findings)

    @property
    def verdict(self) -> str:
        """In one sentence."""
        warned = sum(f.level == "warn" for f in self.findings)
        if not self.ok:
            return "This log cannot be used as it is."
        if warned:
            return f"Usable, with {pluralize(warned, 'warning')}."
        passed, count = sum(test.passed for test in self.tests), len(self.tests)
        conclusive = f" by {count} tests" if passed == count else f": {passed} of {count} tests are conclusive"
        return f"No fault found in this log{conclusive}."

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the table, with units."""
        kinds = {joint.kind for joint in self.arm.coordinate_joints}
        length = "rad, m" if len(kinds) > 1 else "rad" if kinds == {"revolute"} else "m"
        torque = {"rad": "N m", "m": "N"}.get(length, "N m, N")
        rates = (f"max speed [{length}/s]", f"max acc. [{length}/s²]")
        return (
            "joint", f"range [{length}]", *rates, "reversals", "condition", f"rms torque [{torque}]", f"max [{torque}]"
        )  # fmt: skip

    def rows(self) -> list[tuple[str, ...]]:
        """A row of words for each joint, under `headings`."""
        figures = zip(*self.joints, strict=True)
        return [
            (f"{j + 1} {name}", f"{low:.3g} .. {high:.3g}", f"{v:.3g}", f"{a:.3g}", f"{turns:.0f}",
             _condition_text(condition), *("-" if np.isnan(x) else f"{x:.3g}" for x in (rms, peak)))
            for j, (name, (low, high, v, a, turns, condition, rms, peak)) in enumerate(
                zip(self.arm.coordinate_names, figures, strict=True)
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.text(lambda finding: finding.advice)

    def text(self, advice: Callable[[Finding], str]) -> str:
        """The report, with advice on each finding."""
        table = [self.headings, *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = [f"{self.log.name}: {self.log.extent}. {self.verdict}"]
        for name, *row in table:
            cells = (cell.rjust(w) for cell, w in zip(row, widths[1:], strict=True))
            lines.append("  ".join(("  " + name.ljust(widths[0]), *cells)))
        lines += [f"  {LEVELS[f.level]}: {advice(f)}" for f in self.findings]
        return "\n".join(lines + [f"  {line}" for line in outcome_lines(self.tests)])

    def __repr__(self) -> str:
        return f"<DataCheck of {self.log!r}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return present(self, "html")

    def report(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write a page about it, one HTML file; see `armdyn.report`."""
        return write_page(self, path)


LEVELS = {"reject": "rejected", "warn": "warning", "note": "note"}  # of findings, in words


def _condition_text(condition: float) -> str:
    return f"{condition:.3g}" if condition < 1e6 else "-"


def check_log(arm: Arm, log: Log) -> DataCheck:
    """Rates, ranges, dead joints, clipped torques, excitation, suspicious signs, units and order of columns.

    Parameters
    ----------
    arm : Arm
        Whose log it should be. With known inertias torques are compared with the model's.
    log : Log

    Returns
    -------
    DataCheck
        `ok`, `findings` and figures of each joint; `str()` is a report, `armdyn.report(check, path)` a page.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> check = armdyn.check_log(arm, log)
    >>> check.ok
    True
    """
    prepared = PreparedLogs.of(arm, [log])
    (check,), findings = check_logs(prepared, prepared.hypotheses())
    return check._replace(findings=(*check.findings, *findings))


@dataclass(frozen=True, eq=False)
class PreparedLogs:
    """Logs of an arm, smoothed, after their columns were checked."""

    arm: Arm
    checks: tuple[DataCheck, ...]
    tracks: tuple[Track, ...]
    filters: Filters

    @classmethod
    def of(cls, arm: Arm, logs: Iterable[Log]) -> PreparedLogs:
        """Smooth the motion, once, and check columns log by log."""
        require_arm(arm)
        several = list(logs)
        for log in several:
            require_joints(arm, log)
        filters = Filters(BAND_HZ, CUTOFF_HZ, METHODS[0], width=DIRECTION_WIDTH)
        tracks = tracks_of(several, filters)
        checks = (
            _check_columns(arm, log, [track for track in tracks if track.log == k]) for k, log in enumerate(several)
        )
        return cls(arm, tuple(checks), tracks, filters)

    @property
    def logs(self) -> tuple[Log, ...]:
        """The logs themselves."""
        return tuple(check.log for check in self.checks)

    @cached_property
    def regression(self) -> ScreeningRegression | None:
        """The rows on which hypotheses are scored; None where they are too few."""
        return ScreeningRegression.of(self.arm, self.tracks)

    def hypotheses(self, of_motion: bool = True) -> list[Hypothesis]:
        """Everything that may be wrong, or what matters to gravity alone; velocities that agree rule out a clock."""
        several: list[Hypothesis] = [Sign(), Exchange(), TorqueUnit(), Zero(), Gravity()]
        several += [OffsetStep(), FrozenEncoder(self.logs)]
        several += [] if self.arm.G is None else [OtherJoints()]
        if of_motion:  # gravity does not load every joint: a torque without it is not dead
            several += [DeadTorque(), DriveGain(), UnlikeGains(), SharedDrive(), Delay(), LedByHand()]
            several += [] if any(map(velocities_agree, self.logs)) else [TimeScale()]
        return several


def check_logs(
    prepared: PreparedLogs, hypotheses: Iterable[Hypothesis]
) -> tuple[tuple[DataCheck, ...], tuple[Finding, ...]]:
    """Findings about each of several logs, and about their dynamics, for which all count together."""
    several = tuple(hypotheses)
    findings, tests = _check_dynamics(prepared, several)
    tests = tests or tuple(FaultTest(hypothesis.fault(prepared.arm), hypothesis.kind) for hypothesis in several)
    checks = (check._replace(arm=prepared.arm, tests=(*check.tests, *tests)) for check in prepared.checks)
    return tuple(checks), findings


def _check_dynamics(
    prepared: PreparedLogs, hypotheses: tuple[Hypothesis, ...]
) -> tuple[tuple[Finding, ...], tuple[FaultTest, ...]]:
    """Findings about all logs together and the tests behind them; none where the rows are too few."""
    if not all(check.ok for check in prepared.checks) or prepared.regression is None:
        return (), ()
    regression, findings, tests = prepared.regression, list[Finding](), tuple[FaultTest, ...]()
    try:
        with np.errstate(all="ignore"):
            sisters = sister_findings(regression)
            if sisters:
                return tuple(sisters), tuple(description_tests(regression, sisters))
            findings, tests = screen(regression, hypotheses)
            if findings and findings[0].kind == FindingKind.COUPLING and findings[0].correction is not None:
                coupled = replace(prepared, arm=findings[0].correction.arm(prepared.arm))
                regression = coupled.regression or regression
                further, tests = screen(regression, hypotheses)
                findings += further
    except np.linalg.LinAlgError:
        return tuple(findings), tests
    clipped = {
        j for check in prepared.checks for f in check.findings if f.kind == FindingKind.CLIPPED for j in f.joints
    }
    findings = [finding for finding in findings if not (finding.joints and clipped.issuperset(finding.joints))]
    if not any(finding.level != "note" for finding in findings):
        tests = tuple(bound_zeros(regression, t) if t.kind == FindingKind.ZERO else t for t in tests)
        described = list(description_findings(regression, prepared.logs))
        notes = (note for test in tests if test.kind == FindingKind.ZERO for note in zero_note(test))
        tests += tuple(description_tests(regression, described))
        findings += [*described, *payload_findings(regression), *notes]
    return tuple(findings), tests


def _check_columns(arm: Arm, log: Log, tracks: list[Track]) -> DataCheck:
    repairs, kinds = log.format.repairs, (FindingKind.READING, FindingKind.REPAIR)
    findings = [Finding("note", text, kinds[text in repairs]) for text in log.notes]
    figures = _figures(log, tracks)
    if not tracks:
        findings.append(Finding("reject", "no stretch without gaps is long enough", FindingKind.MOTION))
        return DataCheck(arm, log, tuple(findings), figures)
    findings += motion_findings(arm, figures, log.format.knows_unit)
    findings += clock_findings(arm, log, figures)
    findings += torque_findings(arm, log)
    findings += velocity_findings(arm, log)
    tests = (*column_tests(arm, log, findings), *torque_tests(log, findings))
    return DataCheck(arm, log, tuple(findings), figures, tests)


def _figures(log: Log, tracks: list[Track]) -> JointFigures:
    torque = np.sqrt(np.mean(log.tau**2, axis=0)), np.abs(log.tau).max(axis=0)
    low, high = log.q.min(axis=0), log.q.max(axis=0)
    if not tracks:
        nothing = np.full(log.n, np.nan)
        return JointFigures(low, high, nothing, nothing, nothing, nothing, *torque)
    qd, qdd = np.vstack([m.qd for m in tracks]), np.vstack([m.qdd for m in tracks])
    top = np.percentile(np.abs(qd), 99, axis=0)
    # Noise about standstill is no reversal: the speed must pass a twentieth of the top one on either side.
    sides = np.where(qd > top / 20, 1, np.where(qd < -top / 20, -1, 0))
    reversals = np.array([np.count_nonzero(np.diff(side[side != 0])) for side in sides.T])
    condition = np.array([_condition(v, a, s) for v, a, s in zip(qd.T, qdd.T, sides.T, strict=True)])
    still = high - low < STILL_TRAVEL
    return JointFigures(
        low,
        high,
        top,
        np.percentile(np.abs(qdd), 99, axis=0),
        np.where(still, 0, reversals),
        np.where(still, np.inf, condition),
        *torque,
    )


def _condition(v: NDArray, a: NDArray, side: NDArray) -> float:
    """Condition number of the columns acceleration, speed, sign and one, each of unit length."""
    columns = np.stack([a, v, side, np.ones_like(v)], axis=1)
    lengths = np.linalg.norm(columns, axis=0)
    if not lengths.all():
        return np.inf
    return condition(np.linalg.eigvalsh(columns.T @ columns / np.outer(lengths, lengths)))


def require_good(findings: Iterable[Finding], where: str) -> None:
    """Raise a `DataError` with the first reason to reject what was looked at, and all findings."""
    findings = tuple(findings)
    for finding in findings:
        if finding.level == "reject":
            raise DataError(finding.advice, findings, where=where)


def require_joints(arm: Arm, log: Log) -> None:
    """Raise a `DataError` where the log is not one of as many joints."""
    if log.n != arm.n:
        raise DataError(f"{log.n} joints in the log, {arm.n} in arm '{arm.name}'", where=log.name)
