"""`simulate`: a plant under a controller, one run or many."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.protocol import Law
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ArmdynWarning, ModelError, ShapeError, SimulationError, shown
from armdyn.model.arm import Arm
from armdyn.simulation.loop.adaptive_steps import Accuracy, make_accuracy
from armdyn.simulation.loop.batch import run_batch
from armdyn.simulation.loop.desired import make_reference, numbers, some_poses
from armdyn.simulation.loop.outcome import Outcome, result_of
from armdyn.simulation.loop.progress import reporting
from armdyn.simulation.loop.python_loop import run_python
from armdyn.simulation.loop.schedule import Schedule, make_clock
from armdyn.simulation.loop.stability import expected_instability
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.plant.step_length import LANES, check_step, substeps_for
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.sensing import Instruments
from armdyn.simulation.sensors import Sensors
from armdyn.trace.kernel import check_threads, default_threads
from armdyn.trace.shapes import text
from armdyn.trajectory.protocol import JointMotion


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
    progress: Callable[[float], None] | bool | None = None,
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
    progress : callable or bool, optional
        True: show a bar. A function is told now and then which part of the run (0 to 1) is done.
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
    accuracy = None if tolerance is None else make_accuracy(tolerance, solver)
    _check_parts(plant, controller, sensors, accuracy)
    motion, duration = make_reference(reference, duration, hold, plant.arm.n)
    clock = make_clock(rate, duration, substeps, delay)
    _check_every(every, clock.samples)
    if substeps is None and accuracy is None:
        clock = clock.finer(substeps_for(plant, some_poses(motion, duration), clock.h))
    wanted = motion(np.arange(clock.steps + 1) * clock.h)
    schedule = Schedule(plant, clock, JointMotion(*(rows[:-1] for rows in wanted)))
    if isinstance(controller, Law):
        schedule = schedule.for_law(controller)
    start, batch = _start(schedule, controller, q0, qd0)
    if substeps is not None and accuracy is None and plant.kind.elastic:
        check_step(plant, start[0][:1], clock.h)
    _check_inertia(plant, start[0])
    threads = default_threads() if threads is None else check_threads(threads)
    compiled = isinstance(controller, Law) and native and accuracy is None and plant.engine == "armdyn"
    if not compiled and batch:
        raise ShapeError(
            "simulate: a batch of runs needs a control law, fixed steps and armdyn's own engine; "
            "call simulate once a run"
        )
    notes = _late_changes(schedule)
    if check and isinstance(controller, Law) and (trouble := expected_instability(schedule, controller, sensors)):
        notes.append(trouble)
    for note in notes:
        warnings.warn(note, ArmdynWarning, stacklevel=2)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    outcome = Outcome(schedule, wanted, batch, every, name, sensors, seed)

    try:
        with reporting(progress, name) as tell:

            def report(step: int) -> None:
                tell(step / clock.steps)

            if compiled:
                record = run_batch(schedule, controller, *start, every, threads, report, sensors, seed)
            else:
                seen = None if sensors is None else Instruments(sensors, clock.period, clock.samples, plant.arm.n, seed)
                record = run_python(schedule, controller, start[0][0], start[1][0], every, seen, report, accuracy)
            report(clock.steps)
    except SimulationError as error:
        error.result = result_of(error.result, outcome, notes)
        raise
    ends = record.divergence(clock.h, plant.arm.joint_names)
    record.notes += ends
    if record.faulty.any() and not batch and not quiet:
        raise SimulationError(f"{name}: {ends[0]}", result_of(record, outcome, notes))
    for note in () if quiet else record.notes:
        warnings.warn(f"{name}: {note}; what was computed is kept", ArmdynWarning, stacklevel=2)
    return result_of(record, outcome, notes)


def _check_parts(plant: Any, controller: Any, sensors: Any, accuracy: Accuracy | None) -> None:
    """Complain about what cannot be simulated together."""
    if not isinstance(plant, Plant):
        raise ShapeError(f"simulate: expected a Plant or an Arm, got {shown(plant)}")
    if accuracy is not None and plant.engine != "armdyn":
        raise ModelError("simulate: tolerance: MuJoCo integrates in fixed steps; give substeps instead")
    _check_controller(controller, plant.arm.n)
    if sensors is not None:
        if not isinstance(sensors, Sensors):
            raise ShapeError(f"simulate: sensors: expected Sensors(...), got {shown(sensors)}")
        sensors.check_size(plant.arm.n)


def _check_controller(controller: Any, n: int) -> None:
    if isinstance(controller, Law):
        if controller.arm.n != n:
            raise ShapeError(
                f"simulate: the controller is for {controller.arm.n} joints ('{controller.arm.name}'), "
                f"the plant has {n}"
            )
    elif isinstance(controller, type) and issubclass(controller, Law):
        name = controller.__name__
        raise ShapeError(f"simulate: {name} is a kind of control law; expected one with its gains, {name}(arm, ...)")
    elif not callable(controller):
        raise ShapeError(f"simulate: expected a control law or a function f(t, q, qd, ref), got {shown(controller)}")


def _check_every(every: Any, samples: int) -> None:
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or not 1 <= every <= samples:
        raise ShapeError(f"simulate: every: expected a whole number from 1 to {samples} samples, got {shown(every)}")


def _start(schedule: Schedule, controller: Any, q0: Any, qd0: Any) -> tuple[tuple[NDArray, NDArray], tuple[int, ...]]:
    """Initial positions and velocities (lanes, n), and the batch's shape."""
    n = schedule.plant.arm.n
    own = {"q0": schedule.motion.q[0], "qd0": schedule.motion.qd[0]}
    given = {"q0": q0, "qd0": qd0}
    values = {}
    for name, value in given.items():
        values[name] = own[name] if value is None else numbers(value)
        if values[name].shape[-1:] != (n,) or not np.isfinite(values[name]).all():
            raise ShapeError(f"simulate: expected finite {name} of shape (..., {n}), got {shown(value)}")
    shapes = {name: value.shape[:-1] for name, value in values.items()}
    shapes |= schedule.plant.batches
    if isinstance(controller, Law):
        for name, value in controller.params.items():
            core = controller.core_shape(name)
            if value.shape[max(value.ndim - len(core), 0) :] != core:
                law = type(controller).__name__
                raise ShapeError(f"simulate: {law}: expected {name} of shape {text(core)}, got {value.shape}")
            shapes[name] = value.shape[: value.ndim - len(core)]
    try:
        batch = np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ShapeError(f"simulate: the batches do not broadcast: {listed}") from None
    wrong = [name for name, shape in shapes.items() if shape and shape != batch and name not in values]
    if wrong:
        raise ShapeError(f"simulate: expected {wrong[0]} with all batch axes {batch} or none, got {shapes[wrong[0]]}")
    lanes = int(np.prod(batch))
    if not lanes:
        raise ShapeError(f"simulate: the batch {batch} has no runs")
    q, qd = (np.array(np.broadcast_to(value, (*batch, n))).reshape(lanes, n) for value in values.values())
    return (q, qd), batch


def _check_inertia(plant: Plant, q: NDArray) -> None:
    """Complain about parameters with which bodies run away from what pushes them."""
    if plant.theta is None and plant.arm.is_physical:
        return
    theta = plant.own_theta.reshape(-1, 10 * plant.arm.n)[:LANES]
    M = augmented_mass_matrix(plant.arm, q[:LANES], theta=theta, drive=plant.own_drive)
    if not (np.linalg.eigvalsh(M)[..., 0] > 0).all():
        raise ModelError(f"simulate: arm '{plant.arm.name}' has a mass matrix that is not positive at the start")


def _late_changes(schedule: Schedule) -> list[str]:
    """A sentence about payloads that come too late to be seen."""
    late = [change.t for change in schedule.plant.changes if schedule.sample_of(change) >= schedule.clock.samples]
    end = schedule.clock.samples * schedule.clock.period
    return [f"the payload changes at t = {t:g} s, after the end of the run at {end:g} s" for t in late[:1]]
