"""figaroh beside plain least squares and armdyn, on the same splits: `python benchmarks/figaroh_comparison.py`.

The tasks are those of `benchmarks/robots.py`: measured logs of real arms where they lie beside the checkout, else
synthetic arms. Every program gets the same positions and torques and is judged by the same other motion, both sides
below 5 Hz (`zoo/plain.py`). `--task NAME` chooses tasks; `ARM.urdf LOG` takes the first 60 % of a log instead, and
predicts the rest. `ARMDYN_BENCHMARK=small` takes one small synthetic arm.

figaroh (`pip install figaroh`, no dependency; without it the program says so and ends well) is used as its documents
say: a `BaseIdentification` with its own filters and derivatives, viscous and dry friction, rotor and offset of every
joint, decimation by its default of 10, weighted least squares, and `physical_fit` for consistent links. It needs even
times, one log and a model with masses. So logs are resampled to 200 Hz, several logs stand in one trajectory with the
seams masked, and links that nobody described have 1 kg. Its users may set up more (filters, bounds, relative ranks):
this is no measure of the best that it can do.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import io
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zoo.cases import Case, make_case
from zoo.plain import EDGE, STEP, low, plain_errors, prediction_error, rising
from zoo.real import real_cases
from zoo.score import read
from zoo.sensors import Table

import armdyn

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
CONFIG = """
robot: {{name: arm}}
tasks:
  identification:
    enabled: true
    type: identification
    joints: {{active_joints: [{joints}]}}
    signal_processing: {{sampling_frequency: {rate}, cutoff_frequency: 10.0}}
    problem: {{qr_relative_tolerance: 1.0e-6}}
    physical_fit: {{enabled: true}}
    select_stage: physical_fit
    data: {{validation_data_file: test}}
"""


def even(table: Table) -> Table:
    """The log at even times, as figaroh needs it; splines between positions of slow logs."""
    from scipy.interpolate import CubicSpline

    t, q, tau, _ = rising(table)
    grid = np.arange(0, t[-1] - t[0], STEP)
    period = float(np.median(np.diff(t)))
    if period < STEP:
        q, tau = (low(x, 40.0, 1 / period) for x in (q, tau))
    torque = np.stack([np.interp(grid, t - t[0], column) for column in tau.T], axis=1)
    return Table(grid, CubicSpline(t - t[0], q)(grid), torque, None)


def joined(tables: list[Table]) -> tuple[Table, NDArray]:
    """One log after the other, and which samples are not near a seam."""
    parts = [even(table) for table in tables]
    valid = np.concatenate([np.r_[[False] * EDGE, [True] * (len(p.t) - 2 * EDGE), [False] * EDGE] for p in parts])
    q, tau = (np.concatenate([getattr(p, name) for p in parts]) for name in ("q", "tau"))
    return Table(STEP * np.arange(len(q)), q, tau, None), valid


def figaroh_errors(case: Case) -> tuple[dict[str, float], str]:
    """Errors of figaroh's two estimates on the test, and what `physical_fit` says of itself."""
    from figaroh.data.trajectory import JOINT_FORCE, JOINT_TORQUE, TrajectoryData
    from figaroh.identification.base_identification import BaseIdentification
    from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced

    from armdyn.model.pinocchio_bridge import to_pinocchio

    arm = case.arm
    if np.isnan(arm.theta).any():
        body = armdyn.Inertia.from_com(1.0, (0, 0, 0), 0.01 * np.eye(3))
        arm = arm.with_theta(np.tile(body.theta, arm.n))
    model = to_pinocchio(arm)
    robot = SimpleNamespace(model=model, data=model.createData(), q0=np.zeros(arm.n), v0=np.zeros(arm.n))
    names = [joint.name for joint in arm.joints]
    turns = [joint.kind == "revolute" for joint in arm.joints]

    class Identification(BaseIdentification):
        def load_trajectory_data(self, data_source: str | None = None) -> Any:
            tables = [case.test] if data_source else list(case.train)
            log, valid = joined(tables)
            kinds = [JOINT_TORQUE if turn else JOINT_FORCE for turn in turns]
            units = ["N m" if turn else "N" for turn in turns]
            return TrajectoryData(log.t, tuple(names), log.q, log.tau, tuple(kinds), tuple(units), mask=valid)

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        config = Path(folder) / "config.yaml"
        config.write_text(CONFIG.format(joints=", ".join(f'"{name}"' for name in names), rate=1 / STEP))
        work = Identification(robot, str(config))
        work.identif_config |= {"act_idxq": list(range(arm.n)), "act_idxv": list(range(arm.n))}
        work.initialize()
        work.solve(plotting=False, wls=True)
    motion = [work._val_processed_data[key] for key in ("positions", "velocities", "accelerations")]
    W = build_regressor_basic(robot, *motion, work.identif_config)
    base = build_regressor_reduced(W, work._idx_eliminated)[:, work._base_indices] @ work.phi_base
    errors = {"figaroh": _error(case, base)}
    record = work._physical_fit["record"]
    if work.selected.accepted:
        errors["physical_fit"] = _error(case, work.selected.predict(W))
    return errors, work.selected.reason if record is None or not work.selected.accepted else ""


def _error(case: Case, tau: NDArray) -> float:
    """Of torques joint by joint, along the test at even times."""
    model = tau.reshape(case.arm.n, -1).T
    t = rising(case.test).t
    return prediction_error(case.test, t[0] + STEP * np.arange(len(model)), model)


def armdyn_errors(case: Case) -> dict[str, float]:
    """Errors of `fit.predict`, and of the physically consistent arm."""
    fit = armdyn.identify(case.arm, [read(case, table) for table in case.train], force=True)
    test = read(case, case.test)
    return {
        name: prediction_error(case.test, *(np.asarray(x) for x in fit.predict(test, model=model)[:2]))
        for name, model in (("armdyn", "best"), ("consistent", "consistent"))
    }


COLUMNS = ("plain", "figaroh", "physical_fit", "armdyn", "consistent")


def row(case: Case) -> tuple[str, dict[str, float]]:
    """A line of the table, and its errors."""
    errors, remark = {"plain": plain_errors(case.arm, case.train, case.test)[1]}, ""
    start = time.process_time()
    try:
        found, remark = figaroh_errors(case)
        errors |= found
    except Exception as problem:  # whatever the other program raises is its result
        remark = f"{type(problem).__name__}: {problem}"
    took = time.process_time() - start
    errors |= armdyn_errors(case)
    cells = " | ".join(f"{errors[name]:.2%}" if name in errors else "-" for name in COLUMNS)
    return f"| {case.name} | {cells} | {took:.0f} | {remark} |", errors


def tasks(names: list[str]) -> Iterator[Case]:
    """Real tasks where their logs are, else synthetic ones."""
    real = [] if SMALL else list(real_cases())
    yield from (
        case
        for case in real or [make_case(seed) for seed in range(1, 2 if SMALL else 9)]
        if not names or case.name in names
    )


def half(model: str, path: str) -> Case:
    """The first 60 % of a log to fit, its rest to predict."""
    arm = armdyn.load(model)
    log = armdyn.read_log(path, arm)
    k = int(0.6 * len(log))
    parts = [Table(log.t[s], log.q[s], log.tau[s], None) for s in (slice(None, k), slice(k, None))]
    return Case(f"{arm.name} 60/40", arm, (parts[0],), parts[1], {})


def main() -> None:
    """Print one row a task, and geometric means over plain least squares."""
    parser = argparse.ArgumentParser(description="figaroh, plain least squares and armdyn on the same splits.")
    parser.add_argument("files", nargs="*", metavar="ARM.urdf LOG")
    parser.add_argument("--task", action="append", default=[], help="name of a task, as in docs/robots.md")
    options = parser.parse_args()
    try:
        version = importlib.metadata.version("figaroh")
    except importlib.metadata.PackageNotFoundError:
        print("skipped: figaroh is not installed; pip install figaroh")
        return
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print(f"figaroh {version}; errors on motion outside the fit, below 5 Hz; processor seconds of figaroh\n")
    print(f"| task | {' | '.join(COLUMNS)} | seconds | remark |\n|{'---|' * (len(COLUMNS) + 3)}")
    rows = []
    for case in [half(*options.files)] if options.files else tasks(options.task):
        line, errors = row(case)
        rows.append(errors)
        print(line, flush=True)
    for name in COLUMNS[1:]:
        ratios = [errors[name] / errors["plain"] for errors in rows if name in errors]
        if ratios:
            mean = np.exp(np.mean(np.log(ratios)))
            print(f"{name} over plain: {mean:.3f} of {len(ratios)} tasks, at most {max(ratios):.2f}")


if __name__ == "__main__":
    main()
