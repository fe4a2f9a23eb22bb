"""Runs of any controller: a Python function a sample, the plant's steps in between in one native call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law, Reference, Values
from armdyn.errors import ModelError, SimulationError
from armdyn.simulation.loop import plant_rollout
from armdyn.simulation.payload import after_grip
from armdyn.simulation.record import RUNAWAY, Record, outputs_of
from armdyn.simulation.schedule import Schedule
from armdyn.simulation.sensing import Instruments

if TYPE_CHECKING:
    from armdyn.simulation.adaptive_steps import AdaptiveRun
    from armdyn.simulation.mujoco_plant import MujocoRun

    AnyRun: TypeAlias = "Run | MujocoRun | AdaptiveRun"

Controller = Callable[[float, NDArray, NDArray, Reference], Any]
# Samples between two looks at velocities and reports of progress.
LOOK_EVERY = 200


class Run:
    """The plant between samples: one native call a period, along arrays that hold the whole run."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray) -> None:
        self.plant, clock = schedule.plant, schedule.clock
        self.theta = self.plant.own_theta.reshape(-1)
        constants = schedule.constants(self.theta[None])
        self._theta = constants["theta"]
        rollout = plant_rollout(self.plant, self.plant.kind, frozenset(constants))
        self.shapes = outputs_of(rollout)
        self.rows = {name: np.empty((1, clock.steps + (name != "tau"), *shape)) for name, shape in self.shapes.items()}
        self.command = np.zeros((1, clock.steps, self.plant.arm.n))
        states = [name for name in self.rows if name != "tau"]
        inputs = {**constants, **schedule.disturbances, "command": self.command}
        inputs |= {name: self.rows[name][:, :-1] for name in states}
        outputs = {name: rows[:, 1:] if name in states else rows for name, rows in self.rows.items()}
        self.period = rollout.bind_in_parts(inputs, outputs, clock.substeps)
        start = self.plant.start(q0, qd0)
        for name in states:
            self.rows[name][0, 0] = start[name]
        self.q, self.qd, self._kind = self.rows["q"][0], self.rows["qd"][0], self.plant.kind

    def at_encoders(self, step: int) -> tuple[NDArray, NDArray]:
        """Positions and velocities (n,) where encoders sit."""
        if not self._kind.motor_encoders:
            return self.q[step].copy(), self.qd[step].copy()
        return self.plant.at_encoders({name: rows[0, step] for name, rows in self.rows.items() if name != "tau"})

    def set_theta(self, step: int, theta: NDArray, blow: bool) -> None:
        """Change what the arm carries from a step on."""
        if blow:
            q, qd, kind = self.q[step], self.qd[step], self._kind
            self.qd[step] = after_grip(self.plant.arm, q, qd, self.theta, theta, kind.rotors, kind.elastic)
        self.theta = theta
        self._theta[:] = theta


def run_python(
    schedule: Schedule,
    controller: Controller | Law,
    q0: NDArray,
    qd0: NDArray,
    every: int,
    instruments: Instruments | None,
    progress: Callable[[int], None],
    tolerance: float | None = None,
) -> Record:
    """Run one rollout with a controller that is called at every sample."""
    run = _make_run(schedule, q0, qd0, tolerance)
    record = Record.empty(schedule, 1, every, run.shapes)
    done, clock = 0, schedule.clock
    try:
        for done in _samples(schedule, run, controller, instruments):
            if done % LOOK_EVERY == 0:
                progress(done * clock.substeps)
    except KeyboardInterrupt:
        record.stop(f"interrupted at t = {done * clock.period:.4g} s")
    except SimulationError as error:
        _keep(record, run, done * clock.substeps)
        if record.diverged_step[0] < 0:
            record.complete, error.result = False, record
            raise
    _keep(record, run, done * clock.substeps)
    if done == clock.samples:
        record.finish(clock.steps, {name: rows[:, -1] for name, rows in run.rows.items()})
    record.complete = done == clock.samples
    return record


def _make_run(schedule: Schedule, q0: NDArray, qd0: NDArray, tolerance: float | None) -> AnyRun:
    """The plant on the engine it asks for, in fixed steps or, given a tolerance, in adaptive ones."""
    if schedule.plant.engine == "armdyn":
        if tolerance is None:
            return Run(schedule, q0, qd0)
        if schedule.plant.kind.elastic:
            raise ModelError("simulate: tolerance: adaptive steps are for rigid joints; leave elasticity out")
        from armdyn.simulation.adaptive_steps import AdaptiveRun

        return AdaptiveRun(schedule, q0, qd0, tolerance)
    from armdyn.simulation.mujoco_plant import MujocoRun, check_engine

    check_engine(schedule.plant)
    return MujocoRun(schedule, q0, qd0)


def _keep(record: Record, run: AnyRun, steps: int) -> None:
    if steps:
        record.watch(0, run.rows["qd"][:, 1 : steps + 1])
        record.keep(0, run.rows, steps)


def _samples(
    schedule: Schedule, run: AnyRun, controller: Controller | Law, instruments: Instruments | None
) -> Iterator[int]:
    """Run period after period; the number of those done, after each."""
    m, delay, n = schedule.clock.substeps, schedule.clock.delay, schedule.plant.arm.n
    changes = {first: (theta, blow) for first, _, theta, blow in schedule.spans()}
    call, command, old = _caller(schedule, controller), run.command[0], np.zeros(n)
    for k in range(schedule.clock.samples):
        at = k * m
        if at in changes:
            run.set_theta(at, *changes[at])
        if k % LOOK_EVERY == 0 and not np.abs(run.qd[at]).max() < RUNAWAY:
            return
        q, qd = run.at_encoders(at)
        u = call(k, q, qd) if instruments is None else call(k, *instruments.read(q, qd))
        if u.shape != old.shape or not np.isfinite(u).all():
            _complain(schedule, k, u)
        command[at : at + m] = u
        if delay:
            command[at : at + delay] = old
            old = u
        run.period()
        yield k + 1


def _caller(schedule: Schedule, controller: Controller | Law) -> Callable[[int, NDArray, NDArray], NDArray]:
    """The controller as a function of the sample's number and what was measured."""
    m, period = schedule.clock.substeps, schedule.clock.period
    q, qd, qdd = (rows[::m] for rows in schedule.motion)
    if not isinstance(controller, Law):

        def plain(k: int, q_meas: NDArray, qd_meas: NDArray) -> NDArray:
            try:
                return np.asarray(controller(k * period, q_meas, qd_meas, Reference(q[k], qd[k], qdd[k])), float)
            except Exception as error:  # a user's function may raise anything; what was computed must not be lost
                text = f"the controller raised {type(error).__name__} at t = {k * period:g} s: {error}"
                raise SimulationError(text) from error

        return plain
    law = controller
    memory: Values = law.init()
    channels = {name: rows[::m] for name, rows in schedule.channels.items()}
    params = law.params

    def traced(k: int, q_meas: NDArray, qd_meas: NDArray) -> NDArray:
        nonlocal memory
        ref = Reference(q[k], qd[k], qdd[k], {name: rows[k] for name, rows in channels.items()})
        u, memory = law.step(law.arm, params, memory, q_meas, qd_meas, ref, period)
        return u

    return traced


def _complain(schedule: Schedule, k: int, u: NDArray) -> None:
    """Say at which time and for which joint a controller's answer cannot be used."""
    names, t = schedule.plant.arm.joint_names, k * schedule.clock.period
    if u.shape != (len(names),):
        raise SimulationError(f"the controller gave shape {u.shape} at t = {t:g} s; expected ({len(names)},)")
    joint, value = names[int(np.argmin(np.isfinite(u)))], float(u[~np.isfinite(u)][0])
    raise SimulationError(f"the controller gave {value} for joint '{joint}' at t = {t:g} s")
