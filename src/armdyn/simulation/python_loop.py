"""Runs of any controller: a Python function a sample, the plant's steps in between in one native call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law, Reference, Values
from armdyn.errors import SimulationError, shown
from armdyn.simulation.loop import plant_rollout
from armdyn.simulation.payload import after_grip
from armdyn.simulation.record import RUNAWAY, Record, outputs_of
from armdyn.simulation.schedule import Schedule
from armdyn.simulation.sensors import Instruments

Controller = Callable[[float, NDArray, NDArray, Reference], Any]
# Samples between two reports of progress.
REPORT_EVERY = 500


class Periods:
    """The plant between samples: one native call a period, on buffers that stay where they are."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray) -> None:
        self.schedule, self.plant, self.clock = schedule, schedule.plant, schedule.clock
        n, m = self.plant.arm.n, self.clock.substeps
        self.theta = self.plant.own_theta.reshape(1, -1)
        constants = schedule.constants(self.theta)
        rollout = plant_rollout(self.plant, self.plant.kind, frozenset(constants))
        self.shapes = outputs_of(rollout)
        self.buffers = {name: np.zeros((1, m + (name != "tau"), *shape)) for name, shape in self.shapes.items()}
        self.command = np.zeros((1, m, n))
        self._constants = constants
        self._disturbances = {name: np.array(rows[:, :m]) for name, rows in schedule.disturbances.items()}
        states = [name for name in self.buffers if name != "tau"]
        inputs = {**constants, **self._disturbances, "command": self.command}
        inputs |= {name: self.buffers[name][:, :-1] for name in states}
        outputs = {name: self.buffers[name][:, 1:] if name in states else self.buffers[name] for name in self.buffers}
        self._run = rollout.bind(inputs, outputs)
        self._carry = [(self.buffers[name][0, 0], self.buffers[name][0, m]) for name in states]
        self.q, self.qd = self.buffers["q"][0, 0], self.buffers["qd"][0, 0]
        self.q[:], self.qd[:] = q0, qd0
        if "direction" in self.buffers:
            self.buffers["direction"][0, 0] = np.sign(qd0)

    def set_theta(self, theta: NDArray, blow: bool) -> None:
        """Change what the arm carries."""
        if blow:
            rotors = self.plant.kind.rotors
            self.qd[:] = after_grip(self.plant.arm, self.q, self.qd, self.theta[0], theta, rotors)
        self.theta = theta.reshape(1, -1)
        self._constants["theta"][:] = self.theta[:, None]

    def run(self, sample: int) -> None:
        """One period under `command`; the state after it is then in row 0 of the buffers."""
        m = self.clock.substeps
        for name, rows in self._disturbances.items():
            rows[:] = self.schedule.disturbances[name][:, sample * m : (sample + 1) * m]
        self._run()

    def carry(self) -> None:
        """Make the state at the period's end that of the next one's start."""
        for first, last in self._carry:
            first[:] = last


def run_python(
    schedule: Schedule,
    controller: Controller | Law,
    q0: NDArray,
    qd0: NDArray,
    every: int,
    instruments: Instruments | None,
    progress: Callable[[int], None],
) -> Record:
    """Run one rollout with a controller that is called at every sample."""
    clock = schedule.clock
    periods = Periods(schedule, q0, qd0)
    record = Record.empty(schedule, 1, every, periods.shapes)
    changes = {first: (theta, blow) for first, _, theta, blow in schedule.spans()}
    call = _caller(schedule, controller)
    command, m, delay = np.zeros(len(q0)), clock.substeps, clock.delay
    try:
        for k in range(clock.samples):
            if k * m in changes:
                periods.set_theta(*changes[k * m])
            q, qd = (periods.q, periods.qd) if instruments is None else instruments.read(k, periods.q, periods.qd)
            u = call(k, q.copy(), qd.copy())
            if u.shape != command.shape or not np.isfinite(u).all():
                _complain(schedule, record, k, u)
            periods.command[0, :delay], periods.command[0, delay:] = command, u
            command = u
            periods.run(k)
            record.keep(k * m, periods.buffers, m)
            periods.carry()
            if not np.abs(periods.qd).max() < RUNAWAY:
                record.watch(k * m, periods.buffers["qd"][:, 1:])
                record.complete = False
                return record
            if k % REPORT_EVERY == 0:
                progress(k * m)
    except KeyboardInterrupt:
        record.stop(f"interrupted at t = {record.rows * record.stride * clock.h:.4g} s")
        return record
    record.finish(clock.steps, {name: buffer[:, 0] for name, buffer in periods.buffers.items()})
    return record


def _caller(schedule: Schedule, controller: Controller | Law) -> Callable[[int, NDArray, NDArray], NDArray]:
    """The controller as a function of the sample's number and what was measured."""
    m, period = schedule.clock.substeps, schedule.clock.period
    q, qd, qdd = (rows[::m] for rows in schedule.motion)
    if not isinstance(controller, Law):

        def plain(k: int, q_meas: NDArray, qd_meas: NDArray) -> NDArray:
            return np.asarray(controller(k * period, q_meas, qd_meas, Reference(q[k], qd[k], qdd[k])), float)

        return plain
    law = controller
    memory: Values = law.init()
    t = np.arange(schedule.clock.steps) * schedule.clock.h
    channels = {name: rows[::m] for name, rows in law.channels(t, schedule.motion).items()}
    params = law.params

    def traced(k: int, q_meas: NDArray, qd_meas: NDArray) -> NDArray:
        nonlocal memory
        ref = Reference(q[k], qd[k], qdd[k], {name: rows[k] for name, rows in channels.items()})
        u, memory = law.step(law.arm, params, memory, q_meas, qd_meas, ref, period)
        return u

    return traced


def _complain(schedule: Schedule, record: Record, k: int, u: NDArray) -> None:
    """Say at which time and for which joint a controller's answer cannot be used."""
    names, t = schedule.plant.arm.joint_names, k * schedule.clock.period
    if u.shape != (len(names),):
        raise SimulationError(f"the controller gave shape {u.shape} at t = {t:g} s; expected ({len(names)},)", record)
    joint = names[int(np.argmin(np.isfinite(u)))]
    raise SimulationError(
        f"the controller gave {shown(float(u[~np.isfinite(u)][0]))} for joint '{joint}' at t = {t:g} s", record
    )
