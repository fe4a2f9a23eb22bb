"""What is wrong with a log, before anything is fitted to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.errors import DataError
from armdyn.identification.hypotheses import resemblance
from armdyn.identification.hypotheses.arrangement import arrangement
from armdyn.identification.hypotheses.belief import EvidenceModel
from armdyn.identification.hypotheses.faults import find_faults, led_by_hand
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.findings import (
    STILL_TRAVEL,
    JointFigures,
    clock_findings,
    motion_findings,
    outside_findings,
    velocity_findings,
)
from armdyn.identification.hypotheses.resemblance import Resemblance, Samples, samples_of
from armdyn.identification.hypotheses.sensors import frozen_findings, torque_findings
from armdyn.identification.hypotheses.trial import Piece, Trial
from armdyn.identification.logs.log import Log, Stretch
from armdyn.identification.motion.differentiate import SmoothedMotion, lowpass
from armdyn.identification.motion.track import Filters, choose_band, smooth_stretch
from armdyn.model.arm import Arm, require_arm
from armdyn.presentation import present, write_page


class DataCheck(NamedTuple):
    """Everything found in a log."""

    arm: Arm
    log: Log
    findings: tuple[Finding, ...]
    joints: JointFigures

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
        return f"Usable, with {warned} warning{'s' * (warned > 1)}." if warned else "No fault found in this log."

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
        return "\n".join(lines + [f"  {LEVELS[f.level]}: {advice(f)}" for f in self.findings])

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
    """
    (check,), joint_findings = check_logs(PreparedLogs.of(arm, [log]))
    return check._replace(findings=(*check.findings, *joint_findings))


class Looked(NamedTuple):
    """A log and its motion, after its columns were looked at."""

    log: Log
    motions: list[SmoothedMotion]
    band: float
    check: DataCheck


@dataclass(frozen=True, eq=False)
class PreparedLogs:
    """Logs of an arm, after their columns were looked at."""

    arm: Arm
    looked: tuple[Looked, ...]

    @classmethod
    def of(cls, arm: Arm, logs: Iterable[Log]) -> PreparedLogs:
        """Motion is smoothed once, for all that is looked at."""
        return cls(arm, tuple(_looked(arm, log) for log in logs))

    def with_arm(self, arm: Arm) -> PreparedLogs:
        """The same logs of an arm with other drives."""
        return self if arm is self.arm else PreparedLogs(arm, self.looked)

    @cached_property
    def trial(self) -> Trial:
        """In which suspicions are tried."""
        pieces = (
            Piece(s.t, s.dt, m, s.tau, k)
            for k, some in enumerate(self.looked)
            for s, m in zip(some.log.stretches if some.motions else (), some.motions, strict=True)
        )
        return Trial(self.arm, pieces)


def check_logs(prepared: PreparedLogs) -> tuple[tuple[DataCheck, ...], tuple[Finding, ...]]:
    """Run the checks of each log and the joint dynamic checks over all logs."""
    checks = tuple(some.check._replace(arm=prepared.arm) for some in prepared.looked)
    if not any(some.motions for some in prepared.looked) or any(not check.ok for check in checks):
        return checks, ()
    return checks, tuple(_dynamics(prepared))


def _looked(arm: Arm, log: Log) -> Looked:
    require_arm(arm)
    require_joints(arm, log)
    findings = [Finding("note", text) for text in log.notes]
    if not log.stretches:
        findings.append(Finding("reject", "no stretch without gaps is long enough", FindingKind.MOTION))
        return Looked(log, [], 0.0, DataCheck(arm, log, tuple(findings), _figures(log, [])))
    band = choose_band(log.stretches)
    motions = [smooth_stretch(s, Filters(band, None, "butterworth")) for s in log.stretches]
    figures = _figures(log, motions)
    findings += motion_findings(arm, figures, log.format.knows_unit)
    findings += outside_findings(arm, log)
    findings += clock_findings(arm, log, figures)
    findings += torque_findings(arm, log)
    findings += velocity_findings(arm, log)
    return Looked(log, motions, band, DataCheck(arm, log, tuple(findings), figures))


def _dynamics(prepared: PreparedLogs) -> list[Finding]:
    """Whether the torques can be those of the arm, without faults, and resemble those of its description."""
    arm, trial, findings = prepared.arm, prepared.trial, list[Finding]()
    looked = [some for some in prepared.looked if some.motions]
    if trial.usable:
        belief = EvidenceModel(trial)
        if led := list(led_by_hand(trial, belief)):
            return led
        findings += arrangement(trial)
        for k, some in enumerate(prepared.looked):
            of_log = np.isin(trial.piece, [i for i, part in enumerate(trial.parts) if part.log == k])
            findings += frozen_findings(trial, some.log, of_log)
        if all(f.level != "reject" for f in findings):
            findings += find_faults(trial, belief)
    if not np.isnan(arm.theta).any() and arm.is_physical and all(f.level != "reject" for f in findings):
        parts = [(s, m, some.band) for some in looked for s, m in zip(some.log.stretches, some.motions, strict=True)]
        measured = np.all([some.log.measured for some in looked], axis=0)
        samples = samples_of(_filter(*part) for part in parts)
        samples = samples._replace(tau=np.where(measured, samples.tau, 0.0))

        def compare(side: NDArray) -> Resemblance:
            torques = (side * joint_torque(arm, side * m.q, side * m.qd, side * m.qdd) for _, m, _ in parts)
            model = [lowpass(tau, s.dt, band) for tau, (s, _, band) in zip(torques, parts, strict=True)]
            return resemblance.resemblance(np.where(measured, np.vstack(model), 0.0), samples)

        findings += resemblance.objections(arm, compare)
    return findings


def _filter(s: Stretch, m: SmoothedMotion, band: float) -> Samples:
    return Samples(*(lowpass(x, s.dt, band) for x in (m.qd, np.sign(m.qd), s.tau)))


def _figures(log: Log, motions: list[SmoothedMotion]) -> JointFigures:
    torque = np.sqrt(np.mean(log.tau**2, axis=0)), np.abs(log.tau).max(axis=0)
    low, high = log.q.min(axis=0), log.q.max(axis=0)
    if not motions:
        nothing = np.full(log.n, np.nan)
        return JointFigures(low, high, nothing, nothing, nothing, nothing, *torque)
    qd, qdd = np.vstack([m.qd for m in motions]), np.vstack([m.qdd for m in motions])
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
    """Return the condition number of the columns acceleration, speed, sign and one, each of unit length."""
    columns = np.stack([a, v, side, np.ones_like(v)], axis=1)
    lengths = np.linalg.norm(columns, axis=0)
    if not lengths.all():
        return np.inf
    values = np.linalg.eigvalsh(columns.T @ columns / np.outer(lengths, lengths))
    return float(np.sqrt(values[-1] / values[0])) if values[0] > 1e-14 else np.inf


def require_good(findings: Iterable[Finding], where: str) -> None:
    """Raise a `DataError` with the first reason to reject what was looked at, and all findings."""
    findings = tuple(findings)
    for finding in findings:
        if finding.level == "reject":
            raise DataError(f"{where}: {finding.advice}", findings)


def require_joints(arm: Arm, log: Log) -> None:
    """Raise a `DataError` where the log is not one of as many joints."""
    if log.n != arm.n:
        raise DataError(f"{log.name}: {log.n} joints in the log, {arm.n} in arm '{arm.name}'")
