"""A run laid out in time: samples, steps, references, disturbances and payloads, all known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from armdyn.arrays import is_number, is_whole
from armdyn.control.protocol import Law
from armdyn.errors import ShapeError, expect, quote
from armdyn.simulation.loop.programs import OUTPUTS, LoopTiming
from armdyn.simulation.plant.data import plant_data
from armdyn.simulation.plant.parts import PlantFeatures
from armdyn.simulation.plant.payload import Change, PickUp, added_parameters
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.plant.wrist_sensor import WristSensor
from armdyn.trace.pool import pool
from armdyn.trajectory.protocol import JointMotion

MAX_STEPS = 10**8  # a day at 1 kHz: references and results of more do not fit into memories
MAX_SUBSTEPS_FOR_DELAY = 100  # steps per period, taken by themselves so that a delay is a whole number of them


@dataclass(frozen=True)
class Clock:
    """Controller samples and integrator steps.

    `substeps` steps per period; a command reaches the drives `delay` steps after its sample.
    """

    period: float
    samples: int
    substeps: int
    delay: int

    @property
    def h(self) -> float:
        """Step of the integrator [s]."""
        return self.period / self.substeps

    @property
    def steps(self) -> int:
        """Number of integrator steps."""
        return self.samples * self.substeps

    @property
    def timing(self) -> LoopTiming:
        """Whether steps lack samples, and commands wait."""
        return LoopTiming(self.substeps > 1 or self.delay > 0, self.delay > 0)

    def finer(self, times: int) -> Clock:
        """The same with every step divided."""
        return replace(self, substeps=times * self.substeps, delay=times * self.delay)

    def flags(self, first: int, count: int) -> NDArray:
        """For steps from `first`, (1, count, 2): whether each samples the controller and applies its command."""
        k = np.arange(first, first + count)
        sample, apply = k % self.substeps == 0, (k - self.delay) % self.substeps == 0
        return np.stack([sample, apply & (k >= self.delay)], -1).astype(float)[None]


def make_clock(rate: Any, duration: float, substeps: Any, delay: Any) -> Clock:
    """A clock from what users give: rate [Hz], duration and delay [s], steps per period (None: as the delay needs)."""
    expect(is_number(rate) and rate > 0, "simulate", "a rate > 0 in Hz", rate)
    expect(is_number(duration) and duration > 0, "simulate", "a duration > 0 in seconds", duration)
    if substeps is not None and not is_whole(substeps, least=1):
        raise ShapeError(where="simulate", expected="substeps as a whole number >= 1", got=quote(substeps))
    period = 1 / float(rate)
    samples = round(duration / period)
    if samples < 1:
        raise ShapeError(f"a run of {duration:g} s has no sample at {rate:g} Hz", where="simulate")
    if samples * (substeps or 1) > MAX_STEPS:
        cause = f"{duration:g} s at {rate:g} Hz are more than {MAX_STEPS:g} steps"
        raise ShapeError(cause, where="simulate", remedy="run parts of it")
    if not is_number(delay) or not 0 <= delay <= period * (1 + 1e-9):
        raise ShapeError(where="simulate", expected=f"a delay from 0 to one period ({period:g} s)", got=quote(delay))
    if substeps is None:
        substeps = Fraction(delay / period).limit_denominator(MAX_SUBSTEPS_FOR_DELAY).denominator
    waits = delay / period * substeps
    if abs(waits - round(waits)) > 1e-6:
        cause = f"a delay of {delay:g} s is {waits:.3g} steps of the integrator"
        raise ShapeError(cause, where="simulate", remedy="choose substeps to make it whole")
    return Clock(period, samples, int(substeps), round(waits))


class PayloadInterval(NamedTuple):
    """Steps between two changes of what the arm carries."""

    first: int
    last: int
    theta: NDArray  # (..., 10 n)
    grips: tuple[tuple[NDArray, NDArray], ...]  # theta before and after each body at rest that is seized at `first`

    def seize(self, plant: Plant, rows: Mapping[str, NDArray]) -> None:
        """Let the blows act on the state of a single run, rows (1, steps, ...) by name."""
        state = {name: row[0, self.first] for name, row in rows.items() if name not in OUTPUTS}
        for name, value in plant.grip(state, self.grips).items():
            state[name][...] = value


@dataclass(frozen=True, eq=False)
class Schedule:
    """Everything of a run that does not depend on its state."""

    plant: Plant
    clock: Clock
    motion: JointMotion  # the reference at every step, each (steps, n)
    channels: Mapping[str, NDArray] = field(default_factory=dict)  # what the law computed beforehand, (steps, ...)
    feels: bool = False  # whether the law's channel `wrench` is what a wrist sensor shows
    end: JointMotion | None = None  # the reference after the last step, each (1, n): there the law is sampled once more
    slower: Schedule | None = None  # whose disturbances pass through faster here

    @property
    def kind(self) -> PlantFeatures:
        """The plant's kind, and whether the law feels forces."""
        return self.plant.kind.with_wrist(self.feels)

    def for_law(self, law: Law) -> Schedule:
        """The same with the law's channels."""
        t = np.arange(self.clock.steps) * self.clock.h
        rows = {name: np.ascontiguousarray(x, float) for name, x in law.channels(t, self.motion).items()}
        for name, x in rows.items():
            fits = x.shape[:1] == t.shape
            expect(fits, "simulate", f"{len(t)} rows in the law's channel '{name}'", got=f"shape {x.shape}")
        feels = "wrench" in law.senses
        if feels:
            rows["wrench"] = (self.plant.wrist or WristSensor()).errors(self.clock)
        return replace(self, channels=rows, feels=feels)

    def at_rate(self, by: int) -> Schedule:
        """The same reference and disturbances passed through faster: for linearisation, step lengths alone matter."""
        return replace(self, clock=replace(self.clock, period=self.clock.period / by), slower=self)

    @cached_property
    def reference_rows(self) -> NDArray:
        """(1, steps, 3, n)."""
        if self.slower is not None:
            return self.slower.reference_rows
        steps, n = self.motion.q.shape
        return np.stack(self.motion, axis=-2, out=pool().empty((steps, 3, n)))[None]

    @cached_property
    def disturbances(self) -> dict[str, NDArray]:
        """Wrench and base motion at the three instants of every step, (1, steps, 3, ...), without copies."""
        if self.slower is not None:
            return self.slower.disturbances
        kind, disturbances = self.plant.kind, {}
        t = np.arange(2 * self.clock.steps + 1) * (self.clock.h / 2)
        for name, wanted, rows in (
            ("wrench", kind.wrench, self.plant.wrenches),
            ("base_motion", kind.base_motion, self.plant.base_motions),
        ):
            if wanted:
                halves = np.ascontiguousarray(rows(t))
                step = halves.strides[0]
                shape = (1, self.clock.steps, 3, *halves.shape[1:])
                disturbances[name] = as_strided(halves, shape, (0, 2 * step, *halves.strides), writeable=False)
        return disturbances

    def constants(self, theta: NDArray) -> dict[str, NDArray]:
        """The plant's other data, each (1 or lanes, 1, ...); `theta` is (1 or lanes, 10 n)."""
        return plant_data(self.plant, self.kind, self.clock.h, theta)

    def sample_of(self, change: Change) -> int:
        """The sample at which a change acts: the first that is not before it."""
        return int(np.ceil(change.t / self.clock.period - 1e-9))

    def spans(self) -> Iterator[PayloadInterval]:
        """The run in stretches of constant payload."""
        arm, theta = self.plant.arm, self.plant.own_theta
        load, first = np.zeros(theta.shape[-1]), 0
        grips: list[tuple[NDArray, NDArray]] = []
        for change in self.plant.changes:
            at = min(self.sample_of(change), self.clock.samples) * self.clock.substeps
            if at > first:
                yield PayloadInterval(first, at, theta + load, tuple(grips))
                first, grips = at, []
            before = load
            load = load + added_parameters(arm, change) if isinstance(change, PickUp) else np.zeros_like(load)
            if isinstance(change, PickUp) and change.at_rest:
                grips.append((theta + before, theta + load))
        if first < self.clock.steps:
            yield PayloadInterval(first, self.clock.steps, theta + load, tuple(grips))
