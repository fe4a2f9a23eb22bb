"""`simulate`: a plant under a controller, one run or many."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.protocol import Law
from armdyn.errors import ArmdynWarning, ShapeError, SimulationError, shown
from armdyn.model.arm import Arm
from armdyn.simulation.adaptive_steps import make_accuracy
from armdyn.simulation.batch import run_batch
from armdyn.simulation.loop import SEEN, SHOWN
from armdyn.simulation.plant import Plant
from armdyn.simulation.python_loop import run_python
from armdyn.simulation.readings import Readings
from armdyn.simulation.record import Record
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.schedule import Schedule, make_clock
from armdyn.simulation.sensing import Chance, Instruments
from armdyn.simulation.sensors import Sensors
from armdyn.simulation.stability import GOLDEN, expected_instability
from armdyn.simulation.step_length import check_step, substeps_for
from armdyn.trace.kernel import check_threads, default_threads
from armdyn.trajectory.protocol import JointMotion

POSES = 9  # at which the plant's own rates are looked at


def simulate(
    plant: Plant | Arm,
    controller: Any,
    reference: Any,
    duration: float | None = None,
    rate: float = 1000.0,
    *,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    substeps: int | None = None,
    delay: float = 0.0,
    tolerance: float | None = None,
    solver: str = "DOP853",
    sensors: Sensors | None = None,
    seed: int | None = 0,
    every: int = 1,
    hold: bool = False,
    native: bool = True,
    check: bool = True,
    quiet: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    name: str = "simulation",
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
    rate : float
        Samples of the controller a second; its torques are held in between.
    q0, qd0 : array_like, shape (..., n), optional
        State at the start, default that of the reference. Leading axes of these, of the law's parameters and of
        the plant's numbers make a batch of runs.
    substeps : int, optional
        Steps of the integrator (Runge-Kutta of order four) a sample. Default one, or as many as friction on light
        links, springs and the delay need.
    delay : float
        From a sample to its torque [s], at most a period; the drives exert nothing before the first.
    tolerance : float, optional
        Integrate by SciPy's adaptive steps to this accuracy instead, with the events of friction located in time:
        slow, for judging fixed steps.
    solver : {"DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA"}
        Of SciPy, for a `tolerance`; the last three are for stiff springs.
    sensors : Sensors, optional
        What stands between the arm and the controller.
    seed : int, optional
        Of the sensors' noise; the same seed gives the same run. Run k of a batch has the noise of `seed + k`. None:
        another one each time.
    every : int
        Keep one sample in so many.
    hold : bool
        Let the reference rest at its end if the run is longer.
    native : bool
        False: call a law as Python would, sample by sample, for comparison.
    check : bool
        Look for instability of law and sample rate along the reference before the run, and warn.
    quiet : bool
        Tell of diverged and interrupted runs in `notes` alone.
    threads : int, optional
        Threads that share the runs of a batch.
    progress : callable, optional
        Told now and then which part of the run (0 to 1) is done.
    name : str
        Of the result.

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
    """
    plant = Plant(plant) if isinstance(plant, Arm) else plant
    if not isinstance(plant, Plant):
        raise ShapeError(f"simulate: expected a Plant or an Arm, got {shown(plant)}")
    n = plant.arm.n
    _check_controller(controller, n)
    motion, duration = _reference(reference, duration, hold, n)
    clock = make_clock(rate, duration, substeps, delay)
    _check_whole(every, "every")
    if sensors is not None:
        if not isinstance(sensors, Sensors):
            raise ShapeError(f"simulate: sensors: expected Sensors(...), got {shown(sensors)}")
        sensors.check_size(n)
    accuracy = None if tolerance is None else make_accuracy(tolerance, solver)
    if substeps is None and tolerance is None:
        clock = clock.finer(substeps_for(plant, _some_poses(motion, duration), clock.h))
    wanted = motion(np.arange(clock.steps + 1) * clock.h)
    schedule = Schedule(plant, clock, JointMotion(*(rows[:-1] for rows in wanted)))
    if isinstance(controller, Law):
        schedule = schedule.for_law(controller)
    start, batch = _start(schedule, controller, q0, qd0)
    if substeps is not None and tolerance is None and plant.kind.elastic:
        check_step(plant, start[0][:1], clock.h)
    threads = default_threads() if threads is None else check_threads(threads)

    def report(step: int) -> None:
        if progress is not None:
            progress(step / clock.steps)

    compiled = isinstance(controller, Law) and native and tolerance is None and plant.engine == "armdyn"
    notes = []
    if check and isinstance(controller, Law) and (trouble := expected_instability(schedule, controller, sensors)):
        warnings.warn(trouble, ArmdynWarning, stacklevel=2)
        notes.append(trouble)
    if not compiled and batch:
        raise ShapeError(
            "simulate: a batch of runs needs a control law, fixed steps and armdyn's own engine; "
            "call simulate once a run"
        )

    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed

    def finished(record: Record) -> SimulationResult:
        return _result(schedule, record, wanted, batch, every, name, notes, sensors, seed)

    if compiled:
        record = run_batch(schedule, controller, *start, every, threads, report, sensors, seed)
    else:
        instruments = None if sensors is None else Instruments(sensors, clock.period, clock.samples, n, seed)
        try:
            record = run_python(schedule, controller, start[0][0], start[1][0], every, instruments, report, accuracy)
        except SimulationError as error:
            error.result = finished(error.result)
            raise
    record.notes += record.divergence(clock.h, plant.arm.joint_names)
    if record.faulty.any() and not batch and not quiet:
        raise SimulationError(f"{name}: {record.notes[-1]}", finished(record))
    for text in () if quiet else record.notes:
        warnings.warn(f"{name}: {text}; what was computed is kept", ArmdynWarning, stacklevel=2)
    report(clock.steps)
    return finished(record)


def _check_controller(controller: Any, n: int) -> None:
    if isinstance(controller, Law):
        if controller.arm.n != n:
            raise ShapeError(
                f"simulate: the controller is for {controller.arm.n} joints ('{controller.arm.name}'), "
                f"the plant has {n}"
            )
    elif not callable(controller):
        raise ShapeError(f"simulate: expected a control law or a function f(t, q, qd, ref), got {shown(controller)}")


def _check_whole(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ShapeError(f"simulate: {what}: expected a whole number >= 1, got {shown(value)}")


def _reference(
    reference: Any, duration: float | None, hold: bool, n: int
) -> tuple[Callable[[NDArray], JointMotion], float]:
    """The reference as a function of times (T,), and the duration of the run."""
    if not callable(reference):
        return _set_point(reference, n), _given(duration, "a position to hold has no duration of its own")
    own = getattr(reference, "duration", None)
    if duration is None:
        duration = _given(own, "the reference has no duration of its own")
    elif own is not None and duration > own * (1 + 1e-9) and not hold:
        raise ShapeError(
            f"simulate: the reference ends at {own:g} s, before the run of {duration:g} s; "
            "shorten the run, or let the reference rest at its end with hold=True"
        )

    def motion(t: NDArray) -> JointMotion:
        rows = [np.asarray(x, float) for x in reference(t if own is None else np.minimum(t, own))]
        if len(rows) != 3 or any(x.shape != (len(t), n) for x in rows):
            shapes = ", ".join(str(x.shape) for x in rows)
            raise ShapeError(f"simulate: expected a reference with q, qd, qdd of shape (T, {n}), got {shapes}")
        if own is not None:
            over = (t > own * (1 + 1e-9))[:, None]
            rows[1:] = [np.where(over, 0.0, x) for x in rows[1:]]
        if not all(np.isfinite(x).all() for x in rows):
            raise ShapeError("simulate: the reference has values that are not finite numbers")
        return JointMotion(*rows)

    return motion, duration


def _some_poses(motion: Callable[[NDArray], JointMotion], duration: float) -> NDArray:
    """Positions (POSES, n) along the reference, spread by the golden section: even spacing may meet a period's."""
    return motion(np.sort(np.arange(POSES) * GOLDEN % 1.0) * duration).q


def _given(duration: float | None, why: str) -> float:
    if duration is None:
        raise ShapeError(f"simulate: expected a duration, as {why}")
    return duration


def _set_point(position: Any, n: int) -> Callable[[NDArray], JointMotion]:
    try:
        q = np.array(position, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"simulate: expected a trajectory or {n} positions, got {shown(position)}") from None
    if q.shape != (n,) or not np.isfinite(q).all():
        raise ShapeError(f"simulate: expected {n} finite positions to hold, got {shown(position)}")
    return lambda t: JointMotion(np.tile(q, (len(t), 1)), *np.zeros((2, len(t), n)))


def _start(schedule: Schedule, controller: Any, q0: Any, qd0: Any) -> tuple[tuple[NDArray, NDArray], tuple[int, ...]]:
    """Initial positions and velocities (lanes, n), and the batch's shape."""
    n = schedule.plant.arm.n
    own = {"q0": schedule.motion.q[0], "qd0": schedule.motion.qd[0]}
    given = {"q0": q0, "qd0": qd0}
    values = {}
    for name, value in given.items():
        values[name] = own[name] if value is None else np.asarray(value, float)
        if values[name].shape[-1:] != (n,) or not np.isfinite(values[name]).all():
            raise ShapeError(f"simulate: expected finite {name} of shape (..., {n}), got {shown(value)}")
    shapes = {name: value.shape[:-1] for name, value in values.items()}
    shapes |= schedule.plant.batches
    if isinstance(controller, Law):
        for name, value in controller.params.items():
            shapes[name] = value.shape[: value.ndim - len(controller.core_shape(name))]
    try:
        batch = np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ShapeError(f"simulate: the batches do not broadcast: {listed}") from None
    wrong = [name for name, shape in shapes.items() if shape and shape != batch and name not in values]
    if wrong:
        raise ShapeError(f"simulate: expected {wrong[0]} with all batch axes {batch} or none, got {shapes[wrong[0]]}")
    lanes = int(np.prod(batch))
    q, qd = (np.array(np.broadcast_to(value, (*batch, n))).reshape(lanes, n) for value in values.values())
    return (q, qd), batch


def _result(
    schedule: Schedule,
    record: Record,
    wanted: JointMotion,
    batch: tuple[int, ...],
    every: int,
    name: str,
    notes: list[str],
    sensors: Sensors | None,
    seed: int,
) -> SimulationResult:
    """The record with its times and reference, cut where it ends."""
    rows, stopped = record.rows, record.diverged_step
    record.forget_after_divergence()
    if not record.complete and (stopped >= 0).all():
        rows = min(rows, int(record.good_rows.max()))
    t = np.arange(rows) * (every * schedule.clock.period)
    arrays = {key: x[:, :rows].reshape(*batch, *x[:, :rows].shape[1:]) for key, x in record.arrays.items()}
    own = {"q", "qd"} | SHOWN
    states = {key.removeprefix("law."): x for key, x in arrays.items() if key not in own}
    measured = None
    if sensors is not None:
        # The controller takes no sample at the very end of a run.
        sampled = np.arange(rows) * every < schedule.clock.samples
        lost = Chance(sensors, schedule.plant.arm.n, len(stopped), seed).losses(rows * every, every)
        copies = (sampled * (1 - lost)).reshape(*batch, rows)
        q, qd = (arrays[key] for key in SEEN)
        seen = Readings(np.broadcast_to(t, copies.shape), q, qd, arrays["tau"], copies)
        measured = sensors.logged(seen, arrays["q"], seed)
    q_ref, qd_ref, qdd_ref = (x[:: record.stride][:rows] for x in wanted)
    diverged = np.where(stopped < 0, np.nan, stopped * schedule.clock.h).reshape(batch)
    arm, kind = schedule.plant.arm, schedule.plant.kind
    return SimulationResult(
        t=t,
        q=arrays["q"],
        qd=arrays["qd"],
        tau=arrays["tau"],
        q_ref=q_ref,
        qd_ref=qd_ref,
        qdd_ref=qdd_ref,
        diverged=diverged,
        joint_names=arm.joint_names,
        name=name,
        complete=record.complete,
        notes=(*notes, *record.notes),
        states=states,
        arm=arm,
        measured=measured,
        elastic=kind.elastic,
        motor_encoders=kind.motor_encoders,
        held=_held(schedule, every),
    )


def _held(schedule: Schedule, every: int) -> float:
    """For which part of a kept sample its torque lasts; with a lag, or samples left out, half is the best guess."""
    if every > 1 or schedule.plant.kind.lag:
        return 0.5
    return schedule.clock.delay / schedule.clock.substeps or 1.0
