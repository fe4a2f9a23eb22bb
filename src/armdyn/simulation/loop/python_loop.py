"""Runs of any controller: a Python function per sample, the plant's steps in between in one native call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law, Reference, Values
from armdyn.errors import SimulationError
from armdyn.simulation.loop.programs import SEEN, SHOWN, plant_rollout
from armdyn.simulation.loop.record import RUNAWAY_VELOCITY, Record, Runaway, outputs_of
from armdyn.simulation.loop.schedule import Schedule, Span
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.sensing import Instruments
from armdyn.trajectory.protocol import JointMotion

if TYPE_CHECKING:
    from armdyn.simulation.loop.adaptive_steps import Accuracy, AdaptiveRun
    from armdyn.simulation.loop.mujoco import MujocoRun

    AnyRun: TypeAlias = "Run | MujocoRun | AdaptiveRun"

Rows = dict[str, NDArray]  # by name, (1, steps or steps + 1, ...)
Controller = Callable[[float, NDArray, NDArray, Reference], Any]
# Samples between two looks at velocities and reports of progress.
SAMPLES_BETWEEN_LOOKS = 200


class Run:
    """The plant between samples: one native call a period, along arrays that hold the whole run."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray) -> None:
        self.plant, clock = schedule.plant, schedule.clock
        constants = schedule.constants(self.plant.own_theta.reshape(1, -1))
        self._theta = constants["theta"]
        rollout = plant_rollout(self.plant, self.plant.kind, frozenset(constants))
        self.shapes = outputs_of(rollout)
        self.rows = {
            name: np.empty((1, clock.steps + (name not in SHOWN), *shape)) for name, shape in self.shapes.items()
        }
        self.command = np.zeros((1, clock.steps, self.plant.arm.n))
        states = [name for name in self.rows if name not in SHOWN]
        inputs = {**constants, **schedule.disturbances, "command": self.command}
        inputs |= {name: self.rows[name][:, :-1] for name in states}
        outputs = {name: rows[:, 1:] if name in states else rows for name, rows in self.rows.items()}
        self.period = rollout.bind_in_parts(inputs, outputs, clock.substeps)
        start = self.plant.start(q0, qd0)
        for name in states:
            self.rows[name][0, 0] = start[name]

    def carry(self, span: Span) -> None:
        """Change what the arm carries."""
        span.seize(self.plant, self.rows)
        self._theta[:] = span.theta


def run_python(
    schedule: Schedule,
    controller: Controller | Law,
    q0: NDArray,
    qd0: NDArray,
    every: int,
    instruments: Instruments | None,
    progress: Callable[[int], None],
    accuracy: Accuracy | None = None,
) -> Record:
    """Run one rollout with a controller that is called at every sample."""
    run = _make_run(schedule, q0, qd0, accuracy)
    if instruments is not None:
        run.shapes |= dict.fromkeys(SEEN, q0.shape)
        run.rows |= {name: np.empty((1, schedule.clock.steps, len(q0))) for name in SEEN}
    record = Record.empty(schedule, 1, every, run.shapes)
    steps, clock, fault = 0, schedule.clock, None
    ends: dict[str, NDArray] = {}
    try:
        for done in _samples(schedule, run, controller, instruments, ends):
            steps = done * clock.substeps
            if done % SAMPLES_BETWEEN_LOOKS == 0:
                progress(steps)
    except KeyboardInterrupt:
        record.stop(f"interrupted at t = {steps * clock.h:.4g} s")
    except Runaway as end:
        steps = end.step + 1
    except SimulationError as error:
        fault = error
    if steps:
        record.watch(0, run.rows["qd"][:, 1 : steps + 1], run.rows["tau"][:, :steps])
        record.keep(0, run.rows, steps)
    diverged = record.diverged_step[0] >= 0
    record.complete = steps == clock.steps and not diverged
    if fault is not None and not diverged:  # else it is the divergence that the controller could not answer
        fault.result = record
        raise fault
    if record.complete:
        last = {name: rows[:, -1] for name, rows in run.rows.items() if name not in SHOWN}
        record.finish(clock.steps, {**last, **ends})
    return record


def _make_run(schedule: Schedule, q0: NDArray, qd0: NDArray, accuracy: Accuracy | None) -> AnyRun:
    """The plant on the engine it asks for, in fixed steps or, given an accuracy, in adaptive ones."""
    if schedule.plant.engine == "armdyn":
        if accuracy is None:
            return Run(schedule, q0, qd0)
        from armdyn.simulation.loop.adaptive_steps import AdaptiveRun

        return AdaptiveRun(schedule, q0, qd0, accuracy)
    from armdyn.simulation.loop.mujoco import MujocoRun, check_engine

    check_engine(schedule.plant)
    return MujocoRun(schedule, q0, qd0)


def _samples(
    schedule: Schedule,
    run: AnyRun,
    controller: Controller | Law,
    instruments: Instruments | None,
    ends: dict[str, NDArray],
) -> Iterator[int]:
    """Run period after period; the number of those done, after each. `ends` gets what is seen and exerted last."""
    m, delay, n = schedule.clock.substeps, schedule.clock.delay, schedule.plant.arm.n
    spans = {span.first: span for span in schedule.spans()}
    call, command, old = _caller(schedule, controller), run.command[0], np.zeros(n)
    seen, velocities = _encoders(schedule.plant, run.rows), run.rows["qd"][0]
    for k in range(schedule.clock.samples):
        at = k * m
        if at in spans:
            run.carry(spans[at])
        if k % SAMPLES_BETWEEN_LOOKS == 0 and not np.abs(velocities[at]).max() < RUNAWAY_VELOCITY:
            return
        q, qd = seen(at)
        if instruments is not None:
            q, qd = instruments.read(q, qd)
            run.rows[SEEN[0]][0, at], run.rows[SEEN[1]][0, at] = q, qd
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
    q, qd = seen(schedule.clock.steps)
    if instruments is not None:
        q, qd = instruments.read(q, qd)
        ends |= {SEEN[0]: q, SEEN[1]: qd}
    try:
        u = call(schedule.clock.samples, q, qd)
    except SimulationError:  # a user's function need not answer after its run
        return
    if "motor" in run.rows:
        ends["tau"] = run.rows["motor"][0, -1]
    elif u.shape == old.shape and np.isfinite(u).all():
        limit = schedule.plant.torque_limits
        ends["tau"] = np.clip(old if delay else u, -limit, limit)


def _encoders(plant: Plant, rows: Rows) -> Callable[[int], tuple[NDArray, NDArray]]:
    """Positions and velocities (n,) where encoders sit, by the number of the step."""
    states = {name: row[0] for name, row in rows.items() if name not in SHOWN}
    q, qd = states["q"], states["qd"]
    if not plant.kind.motor_encoders:
        return lambda step: (q[step].copy(), qd[step].copy())
    return lambda step: plant.at_encoders({name: row[step] for name, row in states.items()})


def _caller(schedule: Schedule, controller: Controller | Law) -> Callable[[int, NDArray, NDArray], NDArray]:
    """The controller as a function of the sample's number and what was measured."""
    period = schedule.clock.period
    ask = _law_caller(schedule, controller) if isinstance(controller, Law) else _plain_caller(schedule, controller)

    def call(k: int, q: NDArray, qd: NDArray) -> NDArray:
        try:
            return np.asarray(ask(k, q, qd), float)
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


def _plain_caller(schedule: Schedule, controller: Controller) -> Callable[[int, NDArray, NDArray], Any]:
    period = schedule.clock.period
    q, qd, qdd = _sample_reference(schedule)

    def ask(k: int, q_meas: NDArray, qd_meas: NDArray) -> Any:
        return controller(k * period, q_meas, qd_meas, Reference(q[k], qd[k], qdd[k]))

    return ask


def _law_caller(schedule: Schedule, law: Law) -> Callable[[int, NDArray, NDArray], Any]:
    m, period = schedule.clock.substeps, schedule.clock.period
    q, qd, qdd = _sample_reference(schedule)
    channels = {name: np.concatenate([rows[::m], rows[-1:]]) for name, rows in schedule.channels.items()}
    memory: Values = law.init()
    params = law.params

    def ask(k: int, q_meas: NDArray, qd_meas: NDArray) -> Any:
        nonlocal memory
        ref = Reference(q[k], qd[k], qdd[k], {name: rows[k] for name, rows in channels.items()})
        u, memory = law.step(law.arm, params, memory, q_meas, qd_meas, ref, period)
        return u

    return ask


def _complain(schedule: Schedule, k: int, u: NDArray) -> None:
    """Say at which time and for which joint a controller's answer cannot be used."""
    names, t = schedule.plant.arm.joint_names, k * schedule.clock.period
    if u.shape != (len(names),):
        raise SimulationError(f"the controller gave shape {u.shape} at t = {t:g} s; expected ({len(names)},)")
    joint, value = names[int(np.argmin(np.isfinite(u)))], float(u[~np.isfinite(u)][0])
    raise SimulationError(f"the controller gave {value} for joint '{joint}' at t = {t:g} s")
