"""The inspection of logs: read, judged, and rejected where they cannot support a model."""

from __future__ import annotations

import os
from collections.abc import Iterable

from armdyn.errors import ArmdynError
from armdyn.identification.hypotheses.check import DataCheck, PreparedLogs, check_logs, require_good
from armdyn.identification.hypotheses.disturbances import SharedDrive
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.warn import warn_of_findings
from armdyn.identification.logs.log import Log
from armdyn.identification.logs.read_log import read_log
from armdyn.model.arm import Arm, require_arm

Logs = Log | str | os.PathLike[str] | Iterable[Log | str | os.PathLike[str]]


def as_logs(arm: Arm, logs: Logs) -> list[Log]:
    """The logs, those that are paths read."""
    require_arm(arm)
    if not isinstance(logs, Log | str | os.PathLike | Iterable):
        raise ArmdynError(where="identify", expected="a log, a path, or several of them", got=f"{logs!r}")
    several = [logs] if isinstance(logs, Log | str | os.PathLike) else list(logs)
    if not several:
        raise ArmdynError(where="identify", expected="at least one log", got="none")
    return [log if isinstance(log, Log) else read_log(log, arm) for log in several]


def prepare_logs(arm: Arm, logs: list[Log]) -> PreparedLogs:
    """All logs of motion, smoothed, after their columns were checked."""
    return PreparedLogs.of(arm, [log for log in logs if not log.still])


def run_checks(
    prepared: PreparedLogs, terms: str, force: bool, drives: bool = False
) -> tuple[tuple[DataCheck, ...], tuple[Finding, ...]]:
    """Findings about each log, and about all together; raise where they cannot be used, unless forced.

    Where gravity alone is asked for, the pace of the motion does not matter, and positions may explain the torques.
    Drives that move several joints are looked for if `drives`.
    """
    hypotheses = [h for h in prepared.hypotheses(terms == "full") if drives or not isinstance(h, SharedDrive)]
    checks, findings = check_logs(prepared, hypotheses)
    if len(checks) == 1:
        couplings = tuple(f for f in findings if f.kind == FindingKind.COUPLING)
        others = (f for f in findings if f.kind != FindingKind.COUPLING)
        checks, findings = (checks[0]._replace(findings=(*checks[0].findings, *others)),), couplings
    if not force:
        for check in checks:
            require_good(check.findings, check.log.name)
        require_good(findings, f"logs of arm '{prepared.arm.name}'")
    warn_of_findings(prepared.arm, checks, findings)
    return checks, findings
