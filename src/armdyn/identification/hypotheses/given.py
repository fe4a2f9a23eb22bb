"""The logs that were given: read, judged, and rejected where they cannot support a model."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.hypotheses.check import DataCheck, PreparedLogs, check_logs, require_good
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.warn import warn_of_findings
from armdyn.identification.logs.log import Log
from armdyn.identification.logs.read_log import read_log
from armdyn.model.arm import Arm, require_arm

MOST_CHECKED = 100_000  # samples of a log by which it is judged

Logs = Log | str | os.PathLike[str] | Iterable[Log | str | os.PathLike[str]]


def as_logs(arm: Arm, logs: Logs) -> list[Log]:
    """The logs, those that are paths read."""
    require_arm(arm)
    several = [logs] if isinstance(logs, Log | str | os.PathLike) else list(logs)
    if not several:
        raise ArmdynError("identify: expected at least one log, got none")
    return [log if isinstance(log, Log) else read_log(log, arm) for log in several]


def look_at(arm: Arm, logs: list[Log]) -> PreparedLogs:
    """All logs of motion, after their columns were looked at."""
    return PreparedLogs.of(arm, [looked_at(log) for log in logs if not log.still])


def checked(prepared: PreparedLogs, terms: str, force: bool) -> tuple[tuple[DataCheck, ...], tuple[Finding, ...]]:
    """Run the checks of each log and of all together; raise where they cannot be used, unless forced.

    Where gravity alone is asked for, the pace of the motion does not matter, and positions may explain the torques.
    """
    checks, findings = check_logs(prepared)
    if terms == "gravity":
        of_motion = (FindingKind.TIME_SCALE, FindingKind.DELAY, FindingKind.LED_BY_HAND)
        findings = tuple(f for f in findings if f.kind not in of_motion)
    if len(checks) == 1:
        checks, findings = (checks[0]._replace(findings=(*checks[0].findings, *findings)),), ()
    if not force:
        for check in checks:
            require_good(check.findings, check.log.name)
        require_good(findings, f"logs of arm '{prepared.arm.name}'")
    warn_of_findings(prepared.arm, checks, findings)
    return checks, findings


def looked_at(log: Log) -> Log:
    """The log, or of one that is too long to look at as a whole the run of samples in which joints move most."""
    starts = range(0, len(log), MOST_CHECKED)
    if len(starts) == 1:
        return log
    spans = np.array([np.ptp(log.q[k : k + MOST_CHECKED], axis=0) for k in starts])
    k = starts[int(np.argmax((spans / np.maximum(spans.max(axis=0), 1e-300)).sum(axis=1)))]
    return log.part(float(log.t[k]), float(log.t[min(k + MOST_CHECKED, len(log)) - 1]))
