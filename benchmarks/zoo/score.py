"""One task given to identification, and how it fared: figures and words, as a row that JSON can hold."""

from __future__ import annotations

import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import armdyn
from armdyn import Log
from armdyn.errors import ArmdynError, ArmdynWarning
from zoo.cases import Case
from zoo.plain import plain_errors, prediction_error
from zoo.sensors import Table


def read(case: Case, table: Table) -> Log:
    """Through a file, as users' logs come."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.npz"
        more = {} if table.qd is None else {"qd": table.qd}
        np.savez(path, t=table.t, q=table.q, tau=table.tau, **more)
        return armdyn.read_log(path, case.arm)


def score(case: Case, plain: tuple[float, float] | None = None) -> dict[str, Any]:
    """Identify, predict the test, and compare with the truth."""
    row: dict[str, Any] = dict(case.tags, name=case.name)
    row["plain_train"], row["plain"] = plain or plain_errors(case.arm, case.train, case.test)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            fit = armdyn.identify(case.arm, [read(case, table) for table in case.train])
        except ArmdynError as error:
            row["rejected"] = str(error)
            fit = getattr(error, "fit", None)
        except Exception:
            row["internal"] = traceback.format_exc(limit=-3)
            fit = None
        row["seconds"] = round(time.process_time() - start, 2)
    row["warned"] = [str(x.message) for x in heard if issubclass(x.category, ArmdynWarning)]
    odd = {str(x.message) for x in heard if not issubclass(x.category, ArmdynWarning)}
    if odd:
        row["odd"] = sorted(odd)[:3]
    if fit is not None:
        try:
            row |= judged(case, fit)
        except Exception:
            row["internal"] = traceback.format_exc(limit=-3)
    return row


def judged(case: Case, fit: Any) -> dict[str, Any]:
    """What a fit is worth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = read(case, case.test)
        row: dict[str, Any] = {}
        for model in ("best", "consistent", "free"):
            try:
                told = fit.predict(log, model=model)
            except TypeError:  # a version that has one model only
                told = fit.predict(log)
            row[model] = prediction_error(case.test, np.asarray(told[0]), np.asarray(told[1]))
            if model == "consistent" and getattr(told, "std", None) is not None:
                row["band"] = _banded(case.test, told)
    row["stated"] = float(getattr(fit, "stated", fit.held_out))
    row["expected"] = float(getattr(fit, "expected_error", np.nan))
    verdict = getattr(fit, "verdict", None)
    row["verdict"] = None if verdict is None else str(verdict.word)
    row["why"] = [] if verdict is None else [str(reason) for reason in verdict.reasons]
    findings = [*getattr(fit, "findings", ()), *(f for check in fit.checks for f in check.findings)]
    row["findings"] = [[f.kind, f.level] for f in findings if f.kind != "coupling"]
    row["found"] = [
        dict(kind=f.kind, level=f.level, joints=list(f.joints), gain=f.gain, matters=f.matters, value=f.value)
        for f in findings
        if f.kind
    ]
    row["held_out"], row["held_out_consistent"], row["price"] = fit.held_out, fit.held_out_possible, fit.price
    if getattr(fit, "uncertainty", None) is not None:
        row["passes"] = fit.uncertainty.passes
    row["couplings"] = [[*map(int, f.joints), int(f.value)] for f in findings if f.kind == "coupling"]
    row["coupled"] = case.coupled
    if case.plant is not None and not case.plant.structure and case.coupled is None:
        row["intervals"] = _covered(case, fit)
    return row


def _covered(case: Case, fit: Any) -> list[int]:
    """Base parameters whose interval holds the truth, and those that have one."""
    plant = case.plant
    assert plant is not None
    both = armdyn.base_parameters(case.arm, joint_terms=("rotor",))
    truth = dict(zip(both.labels, both.P @ np.r_[plant.arm.theta, plant.rotors], strict=True))
    inside = total = 0
    for label, (low, high) in zip(fit.base.labels[: fit.base.count], fit.base.intervals, strict=False):
        if label in truth and np.isfinite(high - low):
            inside += int(low <= truth[label] <= high)
            total += 1
    return [inside, total]


def _banded(table: Table, told: Any) -> float:
    """Share of the low-passed torques of the test that lie in the model's stated 95 % band."""
    from scipy.signal import butter, filtfilt

    t = np.asarray(told.t)
    grid = np.arange(t[0], t[-1], 0.005)
    b, a = butter(4, 5.0 * 2 * 0.005)

    def on(x: Any, y: Any) -> Any:
        return np.stack([np.interp(grid, x, column) for column in np.asarray(y).T], axis=1)

    left = filtfilt(b, a, on(table.t, table.tau) - on(t, told.tau), axis=0)[100:-100]
    return float(np.mean(np.abs(left) < 1.96 * on(t, told.std)[100:-100]))
