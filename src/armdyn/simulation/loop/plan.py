"""A run before it is made: what users give, checked, and laid out in time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats, common_batch, is_whole
from armdyn.control.protocol import Law
from armdyn.dynamics.constrained import check_start
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ModelError, ShapeError, expect, quote
from armdyn.model.arm import Arm
from armdyn.simulation.loop.adaptive_steps import Accuracy, make_accuracy
from armdyn.simulation.loop.desired import make_reference, some_poses
from armdyn.simulation.loop.schedule import Schedule, make_clock
from armdyn.simulation.loop.stability import expected_instability
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.plant.step_length import N_EXAMPLES, check_step, substeps_for
from armdyn.simulation.sensors import Sensors
from armdyn.trace.kernel import check_threads, default_threads
from armdyn.trace.shapes import text
from armdyn.trajectory.protocol import JointMotion


@dataclass(frozen=True)
class SimulationTiming:
    """Times of a run: its samples and steps; see `simulate`."""

    duration: float | None = None
    rate: float = 1000.0
    substeps: int | None = None
    delay: float = 0.0
    every: int = 1
    hold: bool = False


@dataclass(frozen=True)
class SimulationNumerics:
    """Integrator, kernels and threads of a run; see `simulate`."""

    tolerance: float | None = None
    solver: str = "DOP853"
    native: bool = True
    threads: int | None = None


class TimingKeywords(TypedDict, total=False):
    """Fields of `SimulationTiming` and `SimulationNumerics`, but for duration and rate."""

    substeps: int | None
    delay: float
    every: int
    hold: bool
    tolerance: float | None
    solver: str
    native: bool
    threads: int | None


class SimulationKeywords(TimingKeywords, total=False):
    """Settings of `simulate` one by one, but for duration and rate."""

    q0: ArrayLike | None
    qd0: ArrayLike | None
    sensors: Sensors | None
    seed: int | None
    check: bool
    name: str


class AllKeywords(SimulationKeywords, total=False):
    """Settings of `simulate` one by one."""

    duration: float | None
    rate: float


@dataclass(frozen=True)
class SimulationSettings:
    """Settings of `simulate`, which explains them: when, how, from where and with which sensors."""

    timing: SimulationTiming = field(default_factory=SimulationTiming)
    numerics: SimulationNumerics = field(default_factory=SimulationNumerics)
    q0: ArrayLike | None = None
    qd0: ArrayLike | None = None
    sensors: Sensors | None = None
    seed: int | None = 0
    check: bool = True
    name: str = "simulation"

    @classmethod
    def of(cls, **keywords: Unpack[AllKeywords]) -> SimulationSettings:
        """The settings with some of them by name."""
        return cls().using(**keywords)

    def using(self, **keywords: Unpack[AllKeywords]) -> SimulationSettings:
        """The same with some settings by name."""
        changes: dict[str, Any] = dict(keywords)
        if unknown := changes.keys() - AllKeywords.__annotations__.keys():
            raise TypeError(f"simulate() got an unexpected keyword argument '{min(unknown)}'")
        for part in ("timing", "numerics"):
            names = [key for key in changes if hasattr(getattr(self, part), key)]
            changes[part] = replace(getattr(self, part), **{key: changes.pop(key) for key in names})
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class Plan:
    """All that `run` needs to compute a record, and `finish` to make a result of it."""

    schedule: Schedule
    controller: Any
    desired: JointMotion  # the reference at all steps and after the last, each (steps + 1, n)
    q0: NDArray  # (lanes, n)
    qd0: NDArray
    batch: tuple[int, ...]
    settings: SimulationSettings  # with a seed and a number of threads
    accuracy: Accuracy | None  # of adaptive steps
    compiled: bool  # the whole loop in one kernel
    notes: tuple[str, ...]  # known before the run
    remarks: tuple[str, ...]  # the same, not worth a warning


def make_plan(plant: Plant | Arm, controller: Any, reference: Any, settings: SimulationSettings) -> Plan:
    """Check the parts of a run and lay it out in time."""
    plant = Plant(plant) if isinstance(plant, Arm) else plant
    numerics = settings.numerics
    accuracy = None if numerics.tolerance is None else make_accuracy(numerics.tolerance, numerics.solver)
    _check_parts(plant, controller, settings.sensors, accuracy)
    schedule, desired, remarks = _lay_out(plant, reference, settings, accuracy)
    _check_every(settings.timing.every, schedule.clock.samples)
    law = controller if isinstance(controller, Law) else None
    if law is not None:
        schedule = schedule.for_law(law)
    (q0, qd0), batch = _start(schedule, law, settings.q0, settings.qd0)
    if plant.constraint is not None:
        check_start(plant.arm, plant.constraint, q0, qd0)
    springs = plant.kind.elastic or plant.kind.surfaces or plant.kind.stops
    if settings.timing.substeps is not None and accuracy is None and springs:
        check_step(plant, q0[:1], schedule.clock.h)
    _check_inertia(plant, q0)
    threads = default_threads() if numerics.threads is None else check_threads(numerics.threads)
    compiled = law is not None and numerics.native and accuracy is None and plant.engine == "armdyn"
    if not compiled and batch:
        cause = "a batch of runs needs a control law, fixed steps and armdyn's own engine"
        raise ShapeError(cause, where="simulate", remedy="call simulate once per run")
    _check_senses(law, plant, compiled)
    notes = [*plant.left_out, *_late_changes(schedule)]
    if settings.check and law is not None and (trouble := expected_instability(schedule, law, settings.sensors)):
        notes.append(trouble)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if settings.seed is None else settings.seed
    settings = settings.using(seed=seed, threads=threads)
    return Plan(schedule, controller, desired, q0, qd0, batch, settings, accuracy, compiled, tuple(notes), remarks)


def _lay_out(
    plant: Plant, reference: Any, settings: SimulationSettings, accuracy: Accuracy | None
) -> tuple[Schedule, JointMotion, tuple[str, ...]]:
    """The run in time, its reference at all steps and after the last, and what is to be told about it."""
    motion, duration = make_reference(reference, settings.timing.duration, settings.timing.hold, plant.arm.n)
    clock = make_clock(settings.timing.rate, duration, settings.timing.substeps, settings.timing.delay)
    if settings.timing.substeps is None and accuracy is None:
        clock = clock.finer(substeps_for(plant, some_poses(motion, duration), clock.h))
    desired = motion(np.arange(clock.steps + 1) * clock.h)
    along, last = (JointMotion(*(rows[part] for rows in desired)) for part in (slice(-1), slice(-1, None)))
    cut: tuple[str, ...] = ()
    end = clock.samples * clock.period
    if abs(end - duration) > 1e-9 * duration:
        cut = (f"{duration:.9g} s are no whole number of periods; the run ends at {end:g} s",)
    return Schedule(plant, clock, along, end=last), desired, cut


def _check_parts(plant: Any, controller: Any, sensors: Any, accuracy: Accuracy | None) -> None:
    """Complain about what cannot be simulated together."""
    expect(isinstance(plant, Plant), "simulate", "a Plant or an Arm", plant)
    if accuracy is not None and plant.engine != "armdyn":
        cause = "MuJoCo integrates in fixed steps"
        raise ModelError(cause, where="simulate: tolerance", remedy="give substeps instead")
    _check_controller(controller, plant.arm.n)
    if sensors is not None:
        expect(isinstance(sensors, Sensors), "simulate: sensors", "Sensors(...)", sensors)
        sensors.check_size(plant.arm.n)


def _check_controller(controller: Any, n: int) -> None:
    if isinstance(controller, Law):
        if controller.arm.n != n:
            cause = f"the controller is for {controller.arm.n} joints ('{controller.arm.name}'), the plant has {n}"
            raise ShapeError(cause, where="simulate")
    elif isinstance(controller, type) and issubclass(controller, Law):
        name = controller.__name__
        expected = f"one with its gains, {name}(arm, ...)"
        raise ShapeError(f"{name} is a kind of control law", where="simulate", expected=expected)
    elif not callable(controller):
        expected = "a control law or a function f(t, q, qd, ref)"
        raise ShapeError(where="simulate", expected=expected, got=quote(controller))


def _check_senses(law: Law | None, plant: Plant, compiled: bool) -> None:
    """Complain about laws that would feel nothing."""
    if law is None or not law.senses:
        return
    who = type(law).__name__
    if "links" in law.senses and not compiled:
        cause = f"{who} sees links and motors, which needs compiled fixed steps of armdyn's engine"
        raise ShapeError(cause, where="simulate")
    if "wrench" not in law.senses:
        return
    if plant.contact is None and plant.wrench is None:
        cause = f"{who} measures forces, but nothing exerts any"
        raise ShapeError(cause, where="simulate", remedy="give Plant a contact or a wrench")
    if not compiled:
        cause = f"{who} measures forces, which needs compiled fixed steps of armdyn's own engine"
        raise ShapeError(cause, where="simulate")


def _check_every(every: Any, samples: int) -> None:
    fits = is_whole(every, least=1) and every <= samples
    expect(fits, "simulate: every", f"a whole number from 1 to {samples} samples", every)


def _start(schedule: Schedule, law: Law | None, q0: Any, qd0: Any) -> tuple[tuple[NDArray, NDArray], tuple[int, ...]]:
    """Initial positions and velocities (lanes, n), and the batch's shape."""
    n = schedule.plant.arm.n
    values = {}
    for name, value, default in (("q0", q0, schedule.motion.q[0]), ("qd0", qd0, schedule.motion.qd[0])):
        values[name] = default if value is None else as_floats(value)
        if values[name].shape[-1:] != (n,) or not np.isfinite(values[name]).all():
            raise ShapeError(where="simulate", expected=f"finite {name} of shape (..., {n})", got=quote(value))
    shapes = {name: value.shape[:-1] for name, value in values.items()}
    shapes |= schedule.plant.batches
    if law is not None:
        shapes |= _parameter_batches(law)
    batch = common_batch("simulate", {name: shape for name, shape in shapes.items() if shape})
    wrong = [name for name, shape in shapes.items() if shape and shape != batch and name not in values]
    if wrong:
        expected = f"{wrong[0]} with all batch axes {batch} or none"
        raise ShapeError(where="simulate", expected=expected, got=shapes[wrong[0]])
    lanes = int(np.prod(batch))
    if not lanes:
        raise ShapeError(f"the batch {batch} has no runs", where="simulate")
    q, qd = (np.array(np.broadcast_to(value, (*batch, n))).reshape(lanes, n) for value in values.values())
    return (q, qd), batch


def _parameter_batches(law: Law) -> dict[str, tuple[int, ...]]:
    """Batch axes of the law's parameters."""
    shapes = {}
    for name, value in law.params.items():
        core = law.core_shape(name)
        if value.shape[max(value.ndim - len(core), 0) :] != core:
            kind = type(law).__name__
            raise ShapeError(where=f"simulate: {kind}", expected=f"{name} of shape {text(core)}", got=value.shape)
        shapes[name] = value.shape[: value.ndim - len(core)]
    return shapes


def _check_inertia(plant: Plant, q: NDArray) -> None:
    """Complain about parameters with which bodies run away from what pushes them."""
    if plant.theta is None and plant.arm.is_physical:
        return
    theta = plant.own_theta.reshape(-1, 10 * plant.arm.n_joints)[:N_EXAMPLES]
    drive = plant.own_drive.reshape(-1, plant.arm.n_joints, 4)[:N_EXAMPLES]
    M = augmented_mass_matrix(plant.arm, q[:N_EXAMPLES], theta=theta, drive=drive)
    if not (np.linalg.eigvalsh(M)[..., 0] > 0).all():
        cause = f"arm '{plant.arm.name}' starts where its mass matrix is not positive definite"
        raise ModelError(cause, where="simulate")


def _late_changes(schedule: Schedule) -> list[str]:
    """A sentence about payloads that come too late to be seen."""
    late = [change.t for change in schedule.plant.changes if schedule.sample_of(change) >= schedule.clock.samples]
    end = schedule.clock.samples * schedule.clock.period
    return [f"the payload changes at t = {t:g} s, after the end of the run at {end:g} s" for t in late[:1]]
