"""Runs of a traced law: controller, plant and integrator in one kernel, rollouts in its lanes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law
from armdyn.simulation.loop.programs import OUTPUTS, LawShapes, LoopTiming, keyed_rollout, loop_program
from armdyn.simulation.loop.record import RunRecord, outputs_of
from armdyn.simulation.loop.schedule import Schedule
from armdyn.simulation.sensing import NoiseGenerator, NoiseSample, Sensing, first_draw, first_memory
from armdyn.simulation.sensors import Sensors
from armdyn.trace.pool import pool
from armdyn.trace.rollout import Rollout

if TYPE_CHECKING:
    from armdyn.simulation.loop.plan import Plan

# Steps of all rollouts together between two looks at the clock, the keyboard and the velocities; of one alone fewer,
# for its rows may be written to a file at each look.
STEPS_PER_BLOCK = 100_000
STEPS_OF_ONE = 20_000
NO_CHANCE = NoiseSample()


class BatchLoop:
    """A law and a plant, compiled, with the arrays that do not change during a run."""

    def __init__(self, schedule: Schedule, law: Law, sensors: Sensors | None = None, single: bool = True) -> None:
        self.schedule, self.law, self.single = schedule, law, single
        self.kind = schedule.kind
        self.sensing = None if sensors is None else Sensing.of(sensors)
        self.resolution = (sensors or Sensors()).resolutions(schedule.plant.arm.n)
        self.timing: LoopTiming = schedule.clock.timing
        self.shapes = LawShapes.of(law, schedule.channels)
        self.params = {f"param.{name}": self._lanes(value, law.core_shape(name)) for name, value in law.params.items()}

    def _lanes(self, value: NDArray, core: tuple[int, ...]) -> NDArray:
        """A parameter as (1 or lanes, 1, ...)."""
        flat = np.asarray(value, float).reshape(-1, *core)
        return np.ascontiguousarray(flat[:, None])

    def rollout(self, theta: NDArray) -> Rollout:
        """The kernel; what all rollouts have in common is computed once per call."""
        constants = self._constants(theta)
        shared = frozenset(name for name, array in constants.items() if array.shape[0] == 1)
        plant, kind, law, timing, sensing = self.schedule.plant, self.kind, self.law, self.timing, self.sensing
        names = type(law).__qualname__, law.trace_key, repr(self.shapes)  # a law of armdyn's own is known by its name
        key = ("loop", plant.arm.trace_key, kind, *names, timing, sensing)
        formula = partial(loop_program, plant, kind, law, self.shapes, timing, sensing)
        return keyed_rollout(key, formula, shared, self.single, law)

    def _constants(self, theta: NDArray) -> dict[str, NDArray]:
        """Inputs that do not change with time, (1 or lanes, 1, ...)."""
        constants = {**self.params, "period": np.full((1, 1, 1), self.schedule.clock.period)}
        if self.sensing is not None and self.sensing.quantised:
            constants["resolution"] = np.array(self.resolution)[None, None]
        return {**self.schedule.constants(theta), **constants}

    def inputs(self, theta: NDArray, first: int, count: int) -> dict[str, NDArray]:
        """All inputs but the state and what comes by chance, for steps from `first`.

        At the instant after the last step disturbances and channels are held.
        """
        schedule = self.schedule
        at_end = first == schedule.clock.steps
        steps = slice(-1, None) if at_end else slice(first, first + count)
        rows = {"ref": np.stack(schedule.end or (), -2)[None] if at_end else schedule.reference_rows[:, steps]}
        rows |= {name: array[:, steps] for name, array in schedule.disturbances.items()}
        rows |= {f"channel.{name}": array[None, steps] for name, array in schedule.channels.items()}
        if self.timing.held:
            rows["flags"] = schedule.clock.flags(first, count)
        return {**rows, **self._constants(theta)}

    def start(self, q0: NDArray, qd0: NDArray, draw: NoiseSample = NO_CHANCE) -> dict[str, NDArray]:
        """The whole state (lanes, ...) at rest but for positions and velocities; `draw` falls on the first readings."""
        state = {**self.schedule.plant.start(q0, qd0)}
        state |= {name: np.zeros_like(q0) for name in ("command", "pending")}
        for name, value in self.law.init().items():
            state[f"law.{name}"] = np.broadcast_to(value, (len(q0), *value.shape)).copy()
        if self.sensing is not None:
            truth = self.schedule.plant.at_encoders(state)
            memory = first_memory(self.sensing, truth, draw, self.resolution, self.schedule.clock.period)
            state |= {f"sensor.{name}": value for name, value in memory.items()}
        return state


class Draws:
    """Noise of the readings of all rollouts, block by block; each sample's lasts for its steps."""

    def __init__(self, chance: NoiseGenerator | None, substeps: int) -> None:
        self._chance, self._substeps = chance, substeps
        self._next = {} if chance is None else chance.draws(1)  # drawn ahead: the first reading fills the memory
        self.first = first_draw(self._next)

    def rows(self, steps: int) -> dict[str, NDArray]:
        """For the next steps, (lanes, steps, ...)."""
        if self._chance is None or not self._next:
            return {}
        more = self._chance.draws(steps // self._substeps)
        both = {name: np.concatenate([self._next[name], rows], axis=1) for name, rows in more.items()}
        self._next = {name: rows[:, -1:] for name, rows in both.items()}
        return {name: np.repeat(rows[:, :-1], self._substeps, axis=1) for name, rows in both.items()}


def run_batch(plan: Plan, progress: Callable[[int, RunRecord], None]) -> RunRecord:
    """Run all rollouts."""
    schedule, settings, clock, (lanes, n) = plan.schedule, plan.settings, plan.schedule.clock, plan.q0.shape
    sensors, threads = settings.sensors, settings.numerics.threads or 1
    loop = BatchLoop(schedule, plan.controller, sensors, lanes == 1)
    draws = Draws(None if sensors is None else NoiseGenerator(sensors, n, lanes, settings.seed), clock.substeps)
    state = loop.start(plan.q0, plan.qd0, draws.first)
    theta = _rows(schedule.plant.own_theta)
    rollout = loop.rollout(theta)
    shapes = outputs_of(rollout)
    recorded = {name: shape for name, shape in shapes.items() if not name.startswith("sensor.")}
    record = RunRecord.empty(schedule, lanes, settings.timing.every, recorded)
    most = min(STEPS_PER_BLOCK // lanes, STEPS_PER_BLOCK if lanes > 1 else STEPS_OF_ONE)
    count = clock.substeps * min(max(most // clock.substeps, 8), clock.samples)
    buffers = {name: pool().empty((lanes, count + (name not in OUTPUTS), *shape)) for name, shape in shapes.items()}
    try:
        for span in schedule.spans():
            theta, grips = _rows(span.theta), [(_rows(before), _rows(after)) for before, after in span.grips]
            state |= schedule.plant.grip(state, grips)
            for at in range(span.first, span.last, count):
                steps = min(count, span.last - at)
                inputs = {**loop.inputs(theta, at, steps), **draws.rows(steps)}
                _march(rollout, inputs, state, buffers, steps, threads)
                record.keep(at, buffers, steps)
                state = {name: buffers[name][:, steps].copy() for name in shapes if name not in OUTPUTS}
                progress(at + steps, record)
                if not record.watch(at, buffers["qd"][:, 1 : steps + 1], buffers["tau"][:, :steps]):
                    record.complete = False
                    return record
    except KeyboardInterrupt:
        record.stop(f"interrupted at t = {record.rows * record.stride * clock.h:.4g} s")
        return record
    if schedule.end is not None:
        last = {name: rows[:, :1] for name, rows in draws.rows(clock.substeps).items()}
        inputs = {**loop.inputs(theta, clock.steps, 1), **last}
        _march(rollout, inputs, state, buffers, 1, threads)
        state |= {name: buffers[name][:, 0].copy() for name in shapes if name in OUTPUTS}
    record.finish(clock.steps, state)
    return record


def _rows(theta: NDArray) -> NDArray:
    """Parameters (..., 10 n) as (1 or lanes, 10 n)."""
    return np.ascontiguousarray(theta.reshape(-1, theta.shape[-1]))


def _march(
    rollout: Rollout,
    inputs: dict[str, NDArray],
    state: dict[str, NDArray],
    buffers: dict[str, NDArray],
    steps: int,
    threads: int,
) -> None:
    """Advance all rollouts by some steps, from `state` through `buffers`."""
    outputs = {}
    for name, buffer in buffers.items():
        if name in OUTPUTS:
            outputs[name] = buffer[:, :steps]
            continue
        buffer[:, 0] = state[name]
        inputs[name], outputs[name] = buffer[:, :steps], buffer[:, 1 : steps + 1]
    rollout(inputs, outputs, threads)
