"""Runs of a traced law: controller, plant and integrator in one kernel, rollouts in its lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law
from armdyn.simulation.loop import LawShapes, Timing, loop_rollout
from armdyn.simulation.payload import after_grip
from armdyn.simulation.plant import Kind
from armdyn.simulation.record import Record, outputs_of
from armdyn.simulation.schedule import Schedule
from armdyn.trace.rollout import Rollout

# Steps of all rollouts together between two looks at the clock, the keyboard and the velocities.
BLOCK = 100_000
Progress = Callable[[int], None]


class Loop:
    """A law and a plant, compiled, with the arrays that do not change during a run."""

    def __init__(self, schedule: Schedule, law: Law, lanes: int, kind: Kind | None = None) -> None:
        self.schedule, self.law, self.lanes = schedule, law, lanes
        self.kind = schedule.plant.kind if kind is None else kind
        self.timing: Timing = schedule.clock.timing
        self.shapes = LawShapes.of(law, schedule.channels)
        self.params = {f"param.{name}": self._lanes(value, law.core_shape(name)) for name, value in law.params.items()}

    def _lanes(self, value: NDArray, core: tuple[int, ...]) -> NDArray:
        """A parameter as (1 or lanes, 1, ...)."""
        flat = np.asarray(value, float).reshape(-1, *core)
        return np.ascontiguousarray(flat[:, None])

    def rollout(self, theta: NDArray) -> Rollout:
        """The kernel; what all rollouts have in common is computed once a call."""
        constants = {**self.schedule.constants(theta), **self.params}
        shared = {name for name, array in constants.items() if array.shape[0] == 1}
        return loop_rollout(
            self.schedule.plant, self.kind, self.law, self.shapes, self.timing, frozenset({*shared, "period"})
        )

    def inputs(self, theta: NDArray, first: int, count: int) -> dict[str, NDArray]:
        """All inputs but the state, for steps from `first`."""
        steps = slice(first, first + count)
        rows = {"ref": self.schedule.reference_rows[:, steps]}
        rows |= {name: array[:, steps] for name, array in self.schedule.disturbances.items()}
        rows |= {f"channel.{name}": array[None, steps] for name, array in self.schedule.channels.items()}
        if self.timing.held:
            rows["flags"] = self.schedule.clock.flags(first, count)
        period = np.full((1, 1, 1), self.schedule.clock.period)
        return {**rows, **self.schedule.constants(theta), **self.params, "period": period}

    def start(self, q0: NDArray, qd0: NDArray) -> dict[str, NDArray]:
        """The whole state (lanes, ...) at rest but for positions and velocities."""
        state = {"q": q0, "qd": qd0, "direction": np.sign(qd0)}
        state |= {name: np.zeros_like(q0) for name in ("motor", "command", "pending")}
        for name, value in self.law.init().items():
            state[f"law.{name}"] = np.broadcast_to(value, (len(q0), *value.shape)).copy()
        return state


def run_batch(
    schedule: Schedule, law: Law, q0: NDArray, qd0: NDArray, every: int, threads: int, progress: Progress
) -> Record:
    """Run all rollouts; q0, qd0 are (lanes, n)."""
    lanes = len(q0)
    loop = Loop(schedule, law, lanes)
    state = loop.start(q0, qd0)
    before = theta = schedule.plant.own_theta.reshape(-1, 10 * q0.shape[1])
    shapes = outputs_of(loop.rollout(theta))
    record = Record.empty(schedule, lanes, every, shapes)
    count = min(max(BLOCK // lanes, 8), schedule.clock.steps)
    buffers = {name: np.empty((lanes, count + (name != "tau"), *shape)) for name, shape in shapes.items()}
    try:
        for first, last, theta, blow in schedule.spans():
            theta = np.ascontiguousarray(theta.reshape(-1, theta.shape[-1]))
            if blow:
                plant = schedule.plant
                state["qd"] = after_grip(plant.arm, state["q"], state["qd"], before, theta, loop.kind.rotors)
            before, rollout = theta, loop.rollout(theta)
            for at in range(first, last, count):
                steps = min(count, last - at)
                _march(loop, rollout, theta, state, buffers, at, steps, threads)
                record.keep(at, buffers, steps)
                state = {name: buffers[name][:, steps].copy() for name in shapes if name != "tau"}
                progress(at + steps)
                if not record.watch(at, buffers["qd"][:, 1 : steps + 1]):
                    record.complete = False
                    return record
    except KeyboardInterrupt:
        record.stop(f"interrupted at t = {record.rows * record.stride * schedule.clock.h:.4g} s")
        return record
    record.finish(schedule.clock.steps, state)
    return record


def _march(
    loop: Loop,
    rollout: Rollout,
    theta: NDArray,
    state: dict[str, NDArray],
    buffers: dict[str, NDArray],
    first: int,
    steps: int,
    threads: int,
) -> None:
    """Advance all rollouts by some steps, from `state` through `buffers`."""
    inputs = loop.inputs(theta, first, steps)
    outputs = {}
    for name, buffer in buffers.items():
        if name == "tau":
            outputs[name] = buffer[:, :steps]
            continue
        buffer[:, 0] = state[name]
        inputs[name], outputs[name] = buffer[:, :steps], buffer[:, 1 : steps + 1]
    rollout(inputs, outputs, threads)
