"""Thresholds of identification, each chosen on all robots but one and scored on that one.

The fits alone are made again, without checks of the logs, for every value of one threshold at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

import armdyn
from armdyn.identification.checks.given import looked_at
from armdyn.identification.checks.shared_drives import find_shared_drive
from zoo.cases import Case
from zoo.plain import plain_errors, prediction_error
from zoo.score import read
from zoo.tables import LEAST, mean

NEVER = 1.0
# Where a threshold stands, and values to try; the first is that of the code.
THRESHOLDS: dict[str, tuple[str, tuple[float, ...]]] = {
    "SMOOTHING": ("choice", (0.02, 0.005, 0.01, 0.05, 0.1, NEVER)),
    "TERM": ("choice", (0.05, 0.02, 0.1, 0.2, NEVER)),
    "NOTICEABLE": ("choice", (0.01, 0.0, 0.003, 0.02, 0.05)),
    "CLOSER": ("choice", (0.03, 0.01, 0.1, NEVER)),
    "LARGEST": ("evidence", (1.0, 1e-6, 0.25, 4.0)),
}


def settings() -> Iterator[tuple[str, float]]:
    """The code as it is, then every other value of each threshold."""
    yield "", 0.0
    for name, (_, values) in THRESHOLDS.items():
        yield from ((name, value) for value in values[1:])


@contextmanager
def _without_checks() -> Iterator[None]:
    with patch.object(import_module("armdyn.identification.identify"), "checked", lambda *_: ((), ())):
        yield


def score_thresholds(case: Case) -> dict[str, Any]:
    """Errors on the test over plain least squares', one for each setting."""
    row: dict[str, Any] = dict(name=case.name, robot=case.tags["family"] if case.tags.get("real") else case.name)
    plain = plain_errors(case.arm, case.train, case.test)[1]
    with warnings.catch_warnings(), _without_checks():
        warnings.simplefilter("ignore")
        logs, test = [read(case, table) for table in case.train], read(case, case.test)
        found = find_shared_drive(case.arm, [looked_at(log) for log in logs])
        coupling = "none" if found is None else found.remedy.split()[-1]
        for name, value in settings():
            room = import_module(f"armdyn.identification.fit.{THRESHOLDS[name][0] if name else 'choice'}")
            with patch.object(room, name, value) if name else warnings.catch_warnings():
                fit = armdyn.identify(case.arm, logs, coupling=coupling, force=True)
            told = fit.predict(test)
            row[f"{name} {value:g}"] = prediction_error(case.test, np.asarray(told.t), np.asarray(told.tau)) / plain
    return row


def threshold_table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Of each threshold: the mean ratio at every value, which value is chosen without each robot, and how it scores."""
    several = list(rows)
    robots = sorted({row["robot"] for row in several})
    own = np.array([robots.index(row["robot"]) for row in several])
    lines = [f"{len(several)} tasks of {len(robots)} robots; mean ratio to plain least squares, robots counting alike"]
    for name, (_, values) in THRESHOLDS.items():
        keys = [" 0" if k == 0 else f"{name} {value:g}" for k, value in enumerate(values)]
        logs = np.log([[max(row[key], LEAST) for key in keys] for row in several])
        table = np.array([logs[own == k].mean(axis=0) for k in range(len(robots))])  # (robots, values)
        without = (table.sum(axis=0) - table) / max(len(robots) - 1, 1)
        chosen = np.argmin(without, axis=1)
        scores = ", ".join(f"{_said(v)} {mean(np.exp(c)):.3f}" for v, c in zip(values, table.T, strict=True))
        counts = ", ".join(f"{_said(values[k])} {np.sum(chosen == k)} times" for k in np.unique(chosen))
        left_out = np.exp(table[np.arange(len(robots)), chosen].mean())
        lines += [f"{name:10s} {scores}", f"{'':10s} chosen without one robot: {counts}; on that robot {left_out:.3f}"]
    return lines


def _said(value: float) -> str:
    return "never" if value == NEVER else f"{value:g}"
