"""Numbers of identification, each chosen on all robots but one and scored on that one.

For every value of one number at a time the free model is chosen again, without checks of the logs; what follows the
choice has none of these numbers. Numbers of the checks are scored by what is told of clean and of spoilt logs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn import Log
from armdyn.errors import DataError
from armdyn.identification.fit.prior import _generic_covariance
from armdyn.identification.fit.validation import predict_torque
from armdyn.identification.hypotheses.check import DataCheck, PreparedLogs, check_logs
from armdyn.identification.hypotheses.disturbances import SharedDrive
from armdyn.identification.hypotheses.finding import Finding
from armdyn.identification.hypotheses.screening import screen
from zoo.cases import Case
from zoo.plain import plain_errors, prediction_error
from zoo.score import read
from zoo.tables import LEAST, mean

NEVER = 1.0  # share of an error by which it cannot fall
NO_LIMIT = 1e9
# Where a number stands, and values to try; the first is that of the code.
THRESHOLDS: dict[str, tuple[str, tuple[float, ...]]] = {
    "SMALL_SHARE": ("choice", (0.02, 0.005, NEVER)),
    "ASYMMETRY_SHARE": ("evidence", (0.1, 0.03, 1.0)),
    "STRONGEST_DRY": ("evidence", (1e3, 30.0, 1e8)),
    "PATIENCE": ("evidence", (3.0, 1.0, 1e9)),
    "GYRATION": ("prior", (0.25, 0.15, 0.4)),
}
CHECKS: dict[str, tuple[str, tuple[float, ...]]] = {
    "MIN_EVIDENCE": ("screening", (15.0, 10.0, 25.0, 40.0)),
    "MIN_REDUCTION": ("screening", (0.1, 0.05, 0.2)),
    "N_LIKELY": ("screening", (4, 2, 8)),
    "MAX_ROWS": ("regression", (700, 350, 1400)),
}
UNTOLD = 1.0  # loss of a fault that is not told, and of a clean log that is rejected
HALF_TOLD = 0.25  # of a fault that is told but not rejected, and of a clean log that is suspected


class _Chosen(Exception):
    """Ends identification where the model is chosen."""

    def __init__(self, choice: Any) -> None:
        self.choice = choice


def settings(numbers: Iterable[str]) -> Iterator[tuple[str, float]]:
    """The code as it is, then every other value of each number."""
    yield "", 0.0
    for name in numbers:
        yield from ((name, value) for value in (THRESHOLDS | CHECKS)[name][1][1:])


def _stop(choice: Any, masses: Any = None) -> None:
    raise _Chosen(choice)


def _choice(case: Case, logs: list[Log], coupling: str, name: str, value: float) -> Any:
    """The model that is chosen with another value of a number."""
    identify = import_module("armdyn.identification.identify")
    _generic_covariance.cache_clear()
    with ExitStack() as stack:
        stack.enter_context(patch.object(identify, "run_checks", lambda *_: ((), ())))
        stack.enter_context(patch.object(identify, "estimate", _stop))
        if name:
            room = import_module(f"armdyn.identification.fit.{THRESHOLDS[name][0]}")
            stack.enter_context(patch.object(room, name, value))
        try:
            armdyn.identify(case.arm, logs, coupling=coupling, force=True)
        except _Chosen as chosen:
            return chosen.choice
    raise AssertionError("nothing was chosen")


def _row(case: Case) -> dict[str, Any]:
    real = bool(case.tags.get("real"))
    return dict(name=case.name, robot=case.tags["family"] if real else case.name.partition("|")[0], real=real)


def score_checks(case: Case, numbers: Iterable[str] = tuple(CHECKS)) -> dict[str, Any]:
    """Losses by what is told of the logs, one for each setting of the checks."""
    row, spoilt = _row(case), "fault" in case.tags
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prepared = PreparedLogs.of(case.arm, [read(case, table) for table in case.train])
        except DataError:
            return row | {f"{name} {value:g}": 0.0 if spoilt else UNTOLD for name, value in settings(numbers)}
        for name, value in settings(numbers):
            with ExitStack() as stack:
                for room in _rooms_of(name):
                    stack.enter_context(patch.object(room, name, value))
                loss = told(*check_logs(replace(prepared), prepared.hypotheses()))
            row[f"{name} {value:g}"] = loss if not spoilt else {0.0: UNTOLD, UNTOLD: 0.0}.get(loss, HALF_TOLD)
    return row


def _rooms_of(name: str) -> list[ModuleType]:
    """Modules of the checks that have a number."""
    folder = "armdyn.identification.hypotheses."
    return [room for where, room in sys.modules.items() if where.startswith(folder) and name in vars(room)]


def told(checks: Iterable[DataCheck], found: Iterable[Finding]) -> float:
    """Loss if the logs were clean."""
    levels = {f.level for f in (*found, *(f for check in checks for f in check.findings)) if f.kind != "coupling"}
    return UNTOLD if "reject" in levels else HALF_TOLD if "warn" in levels else 0.0


def score_thresholds(case: Case, numbers: Iterable[str] = tuple(THRESHOLDS)) -> dict[str, Any]:
    """Errors on the test over plain least squares', one for each setting."""
    row = _row(case)
    plain = plain_errors(case.arm, case.train, case.test)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logs, test = [read(case, table) for table in case.train], read(case, case.test)
        coupling = _coupling(PreparedLogs.of(case.arm, logs))
        for name, value in settings(numbers):
            choice = _choice(case, logs, coupling, name, value)
            told = predict_torque(test, case.arm.n, choice.rows.filters, choice.model.torque, None)
            row[f"{name} {value:g}"] = prediction_error(case.test, np.asarray(told.t), np.asarray(told.tau)) / plain
    return row


def _coupling(prepared: PreparedLogs) -> str:
    findings = [] if prepared.regression is None else screen(prepared.regression, [SharedDrive()]).findings
    return findings[0].correction.coupling[0] if findings and findings[0].correction else "none"


def threshold_table(rows: Iterable[dict[str, Any]], numbers: Iterable[str]) -> list[str]:
    """Of each number: how every value scores, which value is chosen without each robot, and how that scores.

    Real arms and synthetic ones are told apart; a value is chosen on all of both but one robot, both counting alike.
    Scores are the mean ratio to plain least squares, or the mean loss of checks, and the worst.
    """
    several = list(rows)
    robots = sorted({(not row["real"], row["robot"]) for row in several})
    real = np.array([not made for made, _ in robots])
    own = np.array([robots.index((not row["real"], row["robot"])) for row in several])
    lines = [f"{len(several)} tasks of {real.sum()} real and {(~real).sum()} synthetic arms: score (worst) of values"]
    for name in numbers:
        values = (THRESHOLDS | CHECKS)[name][1]
        figures = _loss if name in CHECKS else _figures
        words = [f"{values[0]:g}", *("never" if abs(v) in (NEVER, NO_LIMIT) else f"{v:g}" for v in values[1:])]
        keys = [" 0" if k == 0 else f"{name} {value:g}" for k, value in enumerate(values)]
        scores = np.array([[row[key] for key in keys] for row in several])
        scores = scores if name in CHECKS else np.log(np.maximum(scores, LEAST))
        table = np.array([scores[own == k].mean(axis=0) for k in range(len(robots))])  # (robots, values)
        chosen = np.array([np.argmin(_without(table, real, k)) for k in range(len(robots))])
        left_out = table[np.arange(len(robots)), chosen]
        counts = ", ".join(f"{words[k]} {np.sum(chosen == k)} times" for k in np.unique(chosen))
        for kind, some in (("real", real), ("synthetic", ~real)):
            if some.any():
                told = ", ".join(f"{word} {figures(c[some])}" for word, c in zip(words, table.T, strict=True))
                lines += [f"{name:15s} {kind}: {told}; chosen without each {figures(left_out[some])}"]
        lines += [f"{'':15s} chosen without one robot: {counts}"]
    return lines


def _loss(losses: NDArray) -> str:
    return f"{losses.mean():.4f} ({losses.max():.2f})"


def _without(table: NDArray, real: NDArray, robot: int) -> NDArray:
    """Mean of each value over all robots but one, real and synthetic ones counting alike."""
    others = np.arange(len(table)) != robot
    return np.mean([table[some & others].mean(axis=0) for some in (real, ~real) if (some & others).any()], axis=0)


def _figures(logarithms: NDArray) -> str:
    return f"{mean(np.exp(logarithms)):.3f} ({np.exp(logarithms.max()):.2f})"
