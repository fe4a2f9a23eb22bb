"""Runs of any controller: a Python function per sample, the plant's steps in between in one native call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law, Reference, Values
from armdyn.errors import SimulationError
from armdyn.simulation.loop.programs import MEASURED, OUTPUTS, Shapes, keyed_rollout, plant_program
from armdyn.simulation.loop.record import RUNAWAY_VELOCITY, Runaway, RunRecord, outputs_of
from armdyn.simulation.loop.schedule import PayloadInterval, Schedule
from armdyn.simulation.sensing import Instruments
from armdyn.trajectory.protocol import JointMotion

if TYPE_CHECKING:
    from armdyn.simulation.loop.plan import Plan

Controller = Callable[[float, NDArray, NDArray, Reference], Any]
# Samples between two looks at velocities and reports of progress.
SAMPLES_BETWEEN_LOOKS = 200


class PlantRun(ABC):
    """A plant between samples, along arrays that hold the whole run: (1, steps or steps + 1, ...) by name."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray, shapes: Shapes) -> None:
        self.schedule, self.plant, self.clock, self.kind = schedule, schedule.plant, schedule.clock, schedule.plant.kind
        steps, self.shapes = self.clock.steps, dict(shapes)
        self.states = tuple(name for name in shapes if name not in OUTPUTS)
        self.rows = {name: np.empty((1, steps + (name in self.states), *shape)) for name, shape in shapes.items()}
        self.command = np.zeros((1, steps, self.plant.arm.n))
        self.start = self.plant.start(q0, qd0)
        self.write(0, self.start)

    def write(self, step: int, state: Mapping[str, Any]) -> None:
        """Fill the rows of the state at a step."""
        for name in self.states:
            self.rows[name][0, step] = state[name]

    def carry(self, span: PayloadInterval) -> None:
        """Change what the arm carries."""
        span.seize(self.plant, self.rows)

    @abstractmethod
    def period(self) -> None:
        """All steps of one period."""


class NativeRun(PlantRun):
    """Fixed steps: one native call a period."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray) -> None:
        plant = schedule.plant
        constants = schedule.constants(plant.own_theta.reshape(1, -1))
        key, program = ("plant", plant.arm.trace_key, plant.kind), partial(plant_program, plant, plant.kind)
        rollout = keyed_rollout(key, program, frozenset(constants), True)
        super().__init__(schedule, q0, qd0, outputs_of(rollout))
        inputs = {**constants, **schedule.disturbances, "command": self.command}
        inputs |= {name: self.rows[name][:, :-1] for name in self.states}
        outputs = {name: rows[:, 1:] if name in self.states else rows for name, rows in self.rows.items()}
        self._theta, self._native = constants["theta"], rollout.bind_in_parts(inputs, outputs, self.clock.substeps)

    def carry(self, span: PayloadInterval) -> None:
        """Change what the arm carries."""
        super().carry(span)
        self._theta[:] = span.theta

    def period(self) -> None:
        """All steps of one period."""
        self._native()


def run_python(plan: Plan, progress: Callable[[int, RunRecord], None]) -> RunRecord:
    """Run one rollout with a controller that is called at every sample."""
    schedule, clock, sensors = plan.schedule, plan.schedule.clock, plan.settings.sensors
    run, n = _make_run(plan), schedule.plant.arm.n
    instruments = None
    if sensors is not None:
        instruments = Instruments(sensors, clock.period, clock.samples, n, plan.settings.seed)
        run.shapes |= dict.fromkeys(MEASURED, (n,))
        run.rows |= {name: np.empty((1, clock.steps, n)) for name in MEASURED}
    record = RunRecord.empty(schedule, 1, plan.settings.timing.every, run.shapes)
    steps, recorded, fault = 0, 0, None
    ends: dict[str, NDArray] = {}
    try:
        for done in _samples(schedule, run, plan.controller, instruments, ends):
            steps = done * clock.substeps
            if done % SAMPLES_BETWEEN_LOOKS == 0:
                recorded = _keep(record, run.rows, recorded, steps)
                progress(steps, record)
    except KeyboardInterrupt:
        record.stop(f"interrupted at t = {steps * clock.h:.4g} s")
    except Runaway as end:
        steps = end.step + 1
    except SimulationError as error:
        fault = error
    if steps:
        record.watch(0, run.rows["qd"][:, 1 : steps + 1], run.rows["tau"][:, :steps])
        _keep(record, run.rows, recorded, steps)
    diverged = record.diverged_step[0] >= 0
    record.complete = steps == clock.steps and not diverged
    if fault is not None and not diverged:  # else it is the divergence that the controller could not answer
        fault.result = record
        raise fault
    if record.complete:
        record.finish(clock.steps, {**{name: run.rows[name][:, -1] for name in run.states}, **ends})
    return record


def _keep(record: RunRecord, rows: dict[str, NDArray], first: int, steps: int) -> int:
    """Keep what came since step `first`; the step that comes next."""
    record.keep(first, {name: array[:, first:steps] for name, array in rows.items()}, steps - first)
    return steps


def _make_run(plan: Plan) -> PlantRun:
    """The plant on the engine it asks for, in fixed steps or, given an accuracy, in adaptive ones."""
    start = plan.schedule, plan.q0[0], plan.qd0[0]
    if plan.schedule.plant.engine == "mujoco":
        from armdyn.simulation.loop.mujoco import MujocoRun

        return MujocoRun(*start)
    if plan.accuracy is None:
        return NativeRun(*start)
    from armdyn.simulation.loop.adaptive_steps import AdaptiveRun

    return AdaptiveRun(*start, plan.accuracy)


def _samples(
    schedule: Schedule,
    run: PlantRun,
    controller: Controller | Law,
    instruments: Instruments | None,
    ends: dict[str, NDArray],
) -> Iterator[int]:
    """Run period after period; the number of those done, after each. `ends` gets what is seen and exerted last."""
    m, delay, n = schedule.clock.substeps, schedule.clock.delay, schedule.plant.arm.n
    spans = {span.first: span for span in schedule.spans()}
    call, command, old = _caller(schedule, controller), run.command[0], np.zeros(n)
    velocities = run.rows["qd"][0]
    for k in range(schedule.clock.samples):
        at = k * m
        if at in spans:
            run.carry(spans[at])
        if k % SAMPLES_BETWEEN_LOOKS == 0 and not np.abs(velocities[at]).max() < RUNAWAY_VELOCITY:
            return
        q, qd = _encoders(run, at)
        if instruments is not None:
            q, qd = instruments.read(q, qd)
            run.rows[MEASURED[0]][0, at], run.rows[MEASURED[1]][0, at] = q, qd
        u = call(k, q, qd)
        if u.shape != old.shape or not np.isfinite(u).all():
            _complain(schedule, k, u)
        command[at : at + m] = u
        if delay:
            command[at : at + delay] = old
            old = u
        run.period()
        yield k + 1
    if schedule.end is None:
        return
    q, qd = _encoders(run, schedule.clock.steps)
    if instruments is not None:
        q, qd = instruments.read(q, qd)
        ends |= {MEASURED[0]: q, MEASURED[1]: qd}
    try:
        u = call(schedule.clock.samples, q, qd)
    except SimulationError:  # a user's function need not answer after its run
        return
    if "motor" in run.rows:
        ends["tau"] = run.rows["motor"][0, -1]
    elif u.shape == old.shape and np.isfinite(u).all():
        limit = schedule.plant.torque_limits
        ends["tau"] = np.clip(old if delay else u, -limit, limit)


def _encoders(run: PlantRun, step: int) -> tuple[NDArray, NDArray]:
    """Positions and velocities (n,) where encoders sit at a step."""
    q, qd = run.plant.at_encoders({name: run.rows[name][0, step] for name in run.states})
    return q.copy(), qd.copy()


def _caller(schedule: Schedule, controller: Controller | Law) -> Callable[[int, NDArray, NDArray], NDArray]:
    """The controller as a function of the sample's number and what was measured."""
    m, period, (q, qd, qdd) = schedule.clock.substeps, schedule.clock.period, _sample_reference(schedule)
    channels = {name: np.concatenate([rows[::m], rows[-1:]]) for name, rows in schedule.channels.items()}
    law = controller if isinstance(controller, Law) else None
    params: Values = {} if law is None else law.params
    memory: Values = {} if law is None else law.init()

    def call(k: int, q_meas: NDArray, qd_meas: NDArray) -> NDArray:
        nonlocal memory
        ref = Reference(q[k], qd[k], qdd[k], {name: rows[k] for name, rows in channels.items()})
        try:
            if law is None:
                return np.asarray(controller(k * period, q_meas, qd_meas, ref), float)
            u, memory = law.step(law.arm, params, memory, q_meas, qd_meas, ref, period)
            return np.asarray(u, float)
        except Exception as error:  # a user's function may raise anything; what was computed must not be lost
            text = f"the controller raised {type(error).__name__} at t = {k * period:g} s: {error}"
            raise SimulationError(text) from error

    return call


def _sample_reference(schedule: Schedule) -> JointMotion:
    """The reference at the controller's samples, and at the end of the run."""
    m, end = schedule.clock.substeps, schedule.end
    if end is None:
        return JointMotion(*(rows[::m] for rows in schedule.motion))
    return JointMotion(*(np.concatenate([rows[::m], last]) for rows, last in zip(schedule.motion, end, strict=True)))


def _complain(schedule: Schedule, k: int, u: NDArray) -> None:
    """Say at which time and for which joint a controller's answer cannot be used."""
    names, t = schedule.plant.arm.coordinate_names, k * schedule.clock.period
    if u.shape != (len(names),):
        raise SimulationError(f"the controller gave shape {u.shape} at t = {t:g} s", expected=f"({len(names)},)")
    joint, value = names[int(np.argmin(np.isfinite(u)))], float(u[~np.isfinite(u)][0])
    raise SimulationError(f"the controller gave {value} for joint '{joint}' at t = {t:g} s", names=(joint,))
