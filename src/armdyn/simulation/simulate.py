"""`simulate`: a plant under a controller, one run or many: planned, run, finished."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynWarning, SimulationError
from armdyn.model.arm import Arm
from armdyn.progress import ProgressCallback, reporting, with_share
from armdyn.simulation.loop.batch import run_batch
from armdyn.simulation.loop.plan import Plan, SimulationKeywords, SimulationSettings, make_plan
from armdyn.simulation.loop.programs import MEASURED, OUTPUTS
from armdyn.simulation.loop.python_loop import run_python
from armdyn.simulation.loop.record import RunRecord
from armdyn.simulation.loop.schedule import Schedule
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.readings import Readings
from armdyn.simulation.result import DriveSide, RunOutcome, SimulationResult
from armdyn.simulation.sensing import NoiseGenerator
from armdyn.simulation.sensors import Logger
from armdyn.trajectory.protocol import JointMotion

MAX_NUMBERS = 200_000  # positions of a run that readings, files and metrics are made of in less than a second


def simulate(
    plant: Plant | Arm,
    controller: Any,
    reference: Any,
    duration: float | None = None,
    rate: float | None = None,
    *,
    settings: SimulationSettings | None = None,
    quiet: bool = False,
    progress: ProgressCallback | bool | None = None,
    **keywords: Unpack[SimulationKeywords],
) -> SimulationResult:
    """Run an arm under a sampled controller.

    Parameters
    ----------
    plant : Plant or Arm
        What is controlled; an arm alone stands for `Plant(arm)`, with its friction and drives.
    controller : Law or callable
        A control law, or any function `f(t, q, qd, ref) -> tau` of the measured state and a reference with
        fields q, qd, qdd. With a law the whole loop runs in one kernel.
    reference : Trajectory or array_like, shape (n,)
        What to follow, or where to stay (a `duration` is then needed).
    duration : float, optional
        [s]; default that of the reference.
    rate : float, optional
        Samples of the controller per second, default 1000; its torques are held in between.
    settings : SimulationSettings, optional
        All of them but `quiet` and `progress`, together: `SimulationSettings(SimulationTiming(...), ...)`; keywords
        replace single ones.
    q0, qd0 : array_like, shape (..., n), optional
        State at the start, default that of the reference. Leading axes of these, of the law's parameters and of
        the plant's numbers make a batch of runs.
    substeps : int, optional
        Steps of the integrator (Runge-Kutta of order four) per sample. Default one, or as many as friction on light
        links, springs and the delay need.
    delay : float
        From a sample to its torque [s], at most a period; the drives exert nothing before the first.
    tolerance : float, optional
        Integrate by SciPy's adaptive steps to this accuracy instead, with the events of friction located in time:
        slow, for checking fixed steps.
    solver : {"DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA"}
        Solver of SciPy, for a `tolerance`; the last three are for stiff springs.
    sensors : Sensors, optional
        Sensors between the arm and the controller.
    seed : int, optional
        Seed of the sensors' noise; the same seed gives the same run. Run k of a batch has the noise of `seed + k`.
        None: another one each time.
    every : int
        Keep one sample in so many.
    hold : bool
        Let the reference rest at its end if the run is longer.
    native : bool
        False: call a law as Python would, sample by sample, for comparison.
    check : bool
        Look for instability of law and sample rate along the reference before the run, and warn.
    quiet : bool
        Report diverged and interrupted runs in `notes` alone.
    threads : int, optional
        Threads that share the runs of a batch.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called now and then with (done, total, text).
    name : str
        Name of the result.

    Returns
    -------
    SimulationResult

    Raises
    ------
    ShapeError
        If sizes, rates or times do not fit together.
    SimulationError
        If a controller raises or gives anything but n finite torques, or an adaptive solver gives up;
        `error.result` holds the run until then.

    Warns
    -----
    ArmdynWarning
        If a run diverges (time and joint are named; the run ends there), is interrupted, or is likely to diverge.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    >>> run = armdyn.simulate(arm, law, [0.4, 0.2], 2.0, 500)
    >>> run.q.shape, run.complete
    ((1001, 2), True)
    """
    named: dict[str, Any] = {"duration": duration, "rate": rate, **keywords}
    wanted = {key: value for key, value in named.items() if key in keywords or value is not None}
    settings = (settings or SimulationSettings()).using(**wanted)
    return run_plan(make_plan(plant, controller, reference, settings), quiet=quiet, progress=progress)


def run_plan(
    plan: Plan,
    *,
    quiet: bool = False,
    progress: ProgressCallback | bool | None = None,
    keep: Callable[[SimulationResult], None] | None = None,
) -> SimulationResult:
    """Run what `make_plan` laid out; the rest is as of `simulate`.

    `keep` is called with part after part of the run as it goes on, before divergence is looked for. A long run that is
    interrupted then has no `measured`: its parts had them.
    """
    name = plan.settings.name
    for note in plan.notes:
        warnings.warn(note, ArmdynWarning, stacklevel=3)
    record = _run(plan, progress, keep)
    if record.faulty.any() and not plan.batch and not quiet:
        raise SimulationError(f"{record.notes[-1]}", _finish(plan, record), where=name)
    for note in () if quiet else record.notes:
        warnings.warn(f"{name}: {note}; what was computed is kept", ArmdynWarning, stacklevel=3)
    short = record.rows * plan.q0.size <= MAX_NUMBERS
    return _finish(plan, record, measure=record.complete or keep is None or short)


def _run(
    plan: Plan, progress: ProgressCallback | bool | None, keep: Callable[[SimulationResult], None] | None
) -> RunRecord:
    """Return the result of the plan, with sentences about runs that ended early."""
    clock, arm = plan.schedule.clock, plan.schedule.plant.arm
    run = run_batch if plan.compiled else run_python
    measuring, done = None if keep is None else SensorModel(plan), 0

    def hand_on(record: RunRecord) -> None:
        """Pass on what came since the last time."""
        nonlocal done
        if keep is not None and record.rows > done:
            keep(_result(plan, record, slice(done, record.rows), measuring))
            done = record.rows

    try:
        with reporting(progress, "simulate", with_share) as tell:

            def look(step: int, record: RunRecord) -> None:
                hand_on(record)
                tell(step, clock.steps, plan.settings.name)

            record = run(plan, look)
            if record.complete:
                hand_on(record)
                tell(clock.steps, clock.steps, plan.settings.name)
    except SimulationError as error:
        error.result = _finish(plan, error.result)
        raise
    record.notes += record.divergence(clock.h, arm.coordinate_names)
    return record


def _finish(plan: Plan, record: RunRecord, measure: bool = True) -> SimulationResult:
    """The record with its times and reference, cut where it ends."""
    rows = record.rows
    record.forget_after_divergence()
    if not record.complete and (record.diverged_step >= 0).all():
        rows = min(rows, int(record.good_rows.max()))
    return _result(plan, record, slice(0, rows), SensorModel(plan) if measure else None)


def _result(plan: Plan, record: RunRecord, rows: slice, measuring: SensorModel | None) -> SimulationResult:
    """Some rows of a record."""
    schedule, batch, every = plan.schedule, plan.batch, plan.settings.timing.every
    t = np.arange(rows.start, rows.stop) * (every * schedule.clock.period)
    arrays = {key: x[:, rows].reshape(*batch, *x[:, rows].shape[1:]) for key, x in record.arrays.items()}
    recorded = {"q", "qd"} | OUTPUTS
    states = {key.removeprefix("law."): x for key, x in arrays.items() if key not in recorded}
    states |= {key: arrays[key] for key in ("contact", "multipliers") if key in arrays}
    stopped = record.diverged_step
    diverged = np.where(stopped < 0, np.nan, stopped * schedule.clock.h).reshape(batch)
    arm, kind = schedule.plant.arm, schedule.plant.kind
    return SimulationResult(
        t,
        arrays["q"],
        arrays["qd"],
        arrays["tau"],
        JointMotion(*(x[:: record.stride][rows] for x in plan.desired)),
        RunOutcome(diverged, record.complete, (*plan.notes, *plan.remarks, *record.notes)),
        arm.coordinate_names,
        plan.settings.name,
        states,
        arm,
        None if measuring is None else measuring.readings(t, arrays),
        DriveSide(kind.elastic, kind.motor_encoders, _torque_share(schedule, every)),
    )


class SensorModel:
    """Readings of instruments during a run, rows after rows."""

    def __init__(self, plan: Plan) -> None:
        self.plan, sensors, settings = plan, plan.settings.sensors, plan.settings
        lanes, n = plan.q0.shape
        self.chance = None if sensors is None else NoiseGenerator(sensors, n, lanes, settings.seed)
        self.logger = None if sensors is None else Logger(sensors, lanes, settings.seed or 0)

    def readings(self, t: NDArray, arrays: dict[str, NDArray]) -> Readings | None:
        """Return the readings of the next rows; None without instruments."""
        if self.chance is None or self.logger is None:
            return None
        every = self.plan.settings.timing.every
        lost = self.chance.losses(len(t) * every, every)
        copies = (1 - lost).reshape(*self.plan.batch, len(t))
        q, qd = (arrays[key] for key in MEASURED)
        return self.logger.log(Readings(np.broadcast_to(t, copies.shape), q, qd, arrays["tau"], copies), arrays["q"])


def _torque_share(schedule: Schedule, every: int) -> float:
    """For which part of a kept sample its torque lasts; with a lag, or samples left out, half is the best guess."""
    if every > 1 or schedule.plant.kind.lag:
        return 0.5
    return schedule.clock.delay / schedule.clock.substeps or 1.0
