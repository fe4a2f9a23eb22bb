"""A plant integrated by SciPy's adaptive steps, with every event of its friction located in time.

Much slower than fixed steps, and meant for judging them: smooth stretches are accurate to the tolerance, and a
joint stops and breaks away at its own instant instead of at the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import is_number
from armdyn.dynamics.shafts import at_shafts, from_shafts
from armdyn.errors import ShapeError, SimulationError, check_choice, expect
from armdyn.precision import MAX_ITERATIONS, NEGLIGIBLE
from armdyn.simulation.loop.programs import Shapes, keyed_rollout, plant_shapes, program_of
from armdyn.simulation.loop.python_loop import PlantRun
from armdyn.simulation.loop.record import RUNAWAY_VELOCITY, Runaway
from armdyn.simulation.loop.schedule import PayloadInterval, Schedule
from armdyn.simulation.plant.advance import PlantStep, Slip
from armdyn.simulation.plant.parts import PlantFeatures
from armdyn.simulation.plant.plant import Plant
from armdyn.trace.program import Program

# Data of fixed steps that a derivative has no use for.
DROPPED = ("dt", "decay", "limit")
METHODS = ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")


Margin = Callable[[float, NDArray], float]


class Event(NamedTuple):
    """A joint moves in another direction, or none, from where a margin falls to zero."""

    joint: int
    direction: float
    margin: Margin


class Accuracy(NamedTuple):
    """Method and tolerances by which SciPy integrates."""

    tolerance: float
    method: str


def make_accuracy(tolerance: Any, method: Any) -> Accuracy:
    """An accuracy from what users give."""
    expect(is_number(tolerance) and 0 < tolerance < 1, "simulate", "a tolerance between 0 and 1", tolerance)
    check_choice("simulate", "solver", method, METHODS, ShapeError)
    return Accuracy(float(tolerance), method)


def rates_program(plant: Plant, kind: PlantFeatures) -> Program:
    """Accelerations of links and elastic joints' rotors, and which joints can stick and what holding them takes."""
    n = plant.arm.n
    N = n + len(kind.elastic)
    data = {k: v for k, v in plant_shapes(plant, kind)[1].items() if k not in DROPPED}
    data |= {name: (1, *shape[1:]) for name, shape in data.items() if name in ("wrench", "base_motion")}
    dry = kind.friction == "dry"
    inputs = {"x": (N,), "v": (N,), "tau": (n,), **({"direction": (n,), "moving": (n,)} if dry else {}), **data}
    outputs: Shapes = {"a": (N,), **(dict.fromkeys(("dry", "above", "below"), (n,)) if dry else {})}

    def formula(values: Any) -> dict[str, Any]:
        step = PlantStep(plant.arm, kind, {name: values[name] for name in data})
        now = values["x"], values["v"], values["tau"]
        if not dry:
            return {"a": step.acceleration(*now, 0, None)}
        slip = Slip(values["moving"], values["direction"])
        above, below = step.margins(*now, slip)
        return {"a": step.acceleration(*now, 0, slip), "dry": step.is_dry(*now), "above": above, "below": below}

    return program_of("rates", inputs, outputs, formula)


class AdaptiveRun(PlantRun):
    """Steps as long as an accuracy allows."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray, accuracy: Accuracy) -> None:
        n, start = schedule.plant.arm.n, plant_shapes(schedule.plant, schedule.plant.kind)[0]
        super().__init__(schedule, q0, qd0, {**start, "tau": (n,)})
        self.accuracy, self._at, self._dry = accuracy, 0, np.zeros(n, bool)
        self._motor, self._direction = self.start["motor"], self.start["direction"]
        self._rubbing = PlantStep(self.plant.arm, self.kind, {}).rubbing
        self._held = np.zeros(n)
        self._bind()
        if self.kind.friction == "dry":
            self._evaluate(0.0, *self._state(0), np.zeros(n), np.ones(n))
            self._dry = self._out["dry"].ravel() > 0

    def _bind(self) -> None:
        """Buffers of the native function for rates."""
        key = ("rates", self.plant.arm.trace_key, self.kind)
        theta = self.plant.own_theta.reshape(1, -1)
        constants = {k: v for k, v in self.schedule.constants(theta).items() if k not in DROPPED}
        rollout = keyed_rollout(key, lambda: rates_program(self.plant, self.kind), frozenset(constants))
        self._in = {port.name: np.zeros((1, 1, *port.shape)) for port in rollout.inputs} | constants
        self._out = {port.name: np.zeros((1, 1, *port.shape)) for port in rollout.outputs}
        self._run = rollout.bind(self._in, self._out)

    def _state(self, step: int) -> tuple[NDArray, NDArray]:
        """Positions and velocities (N,) of links and elastic joints' rotors."""
        x, v = (
            np.concatenate([self.rows[name][0, step] for name in names if name in self.rows])
            for names in (("q", "rotor_q"), ("qd", "rotor_qd"))
        )
        return x, v

    def carry(self, span: PayloadInterval) -> None:
        """Change what the arm carries."""
        super().carry(span)
        if self.kind.friction == "dry":
            self._direction = self.rows["direction"][0, span.first].copy()
        self._in["theta"][:] = span.theta

    def period(self) -> None:
        """All steps of one period."""
        for _ in range(self.clock.substeps):
            self._advance()
            self._at += 1

    # -- one step ---------------------------------------------------------------------------------------

    def _torque(self, s: float) -> NDArray:
        """Return the torque of the drives, s seconds into the step."""
        if not self.kind.lag:
            return self._held
        lag = np.asarray(self.plant.motor_lag)
        left = np.where(lag > 0, np.exp(-s / np.where(lag > 0, lag, 1.0)), 0.0)
        return self._held + (self._motor - self._held) * left

    def _evaluate(self, s: float, x: NDArray, v: NDArray, tau: NDArray, moving: NDArray) -> None:
        """Fill the outputs for a state s seconds into the step."""
        into, t = self._in, self._at * self.clock.h + s
        into["x"][:], into["v"][:], into["tau"][:] = x, v, tau
        if self.kind.friction == "dry":
            into["direction"][:], into["moving"][:] = self._direction, moving
        if self.kind.wrench:
            into["wrench"][:] = self.plant.wrenches(np.array([t]))
        if self.kind.base_motion:
            into["base_motion"][:] = self.plant.base_motions(np.array([t]))
        self._run()

    def _moving(self) -> NDArray:
        return np.where(self._dry, np.abs(self._direction), 1.0)

    def _advance(self) -> None:
        """Integrate from one step to the next, stretch by stretch between events."""
        k, h, limit = self._at, self.clock.h, self.plant.torque_limits
        self._held = np.clip(self.command[0, k], -limit, limit)
        self.rows["tau"][0, k] = self._torque(0.0)
        s, state = 0.0, np.concatenate(self._state(k))
        for _ in range(MAX_ITERATIONS):
            self._release(s, *np.split(state, 2))
            s, state = self._stretch(s, state, h)
            if s == h:
                break
        else:
            raise SimulationError(f"friction events pile up at t = {k * h:g} s", remedy="use fixed steps there")
        self._motor = self._torque(h)
        self._fill(state)

    def _fill(self, state: NDArray) -> None:
        """Fill the rows after the step."""
        n, parts = self.plant.arm.n, np.split(state, 2)
        after = {"motor": self._motor, "direction": self._direction}
        for name, part in zip(("q", "qd"), parts, strict=True):
            after |= {name: part[:n], f"rotor_{name}": part[n:]}
        self.write(self._at + 1, after)

    def _release(self, s: float, x: NDArray, v: NDArray) -> None:
        """Let stuck joints go that cannot be held, the most overloaded first."""
        for _ in range(int(self._dry.sum())):
            self._evaluate(s, x, v, self._torque(s), self._moving())
            above, below = self._out["above"].ravel(), self._out["below"].ravel()
            stuck = self._dry & (self._direction == 0)
            # A pull that reaches breakaway to the last bit must not set off events for ever.
            excess = np.where(stuck, np.minimum(above, below) + NEGLIGIBLE * (above + below), 0.0)
            i = int(np.argmin(excess))
            if not excess[i] < 0:
                return
            self._direction[i] = 1.0 if above[i] < below[i] else -1.0

    def _stretch(self, s: float, state: NDArray, end: float) -> tuple[float, NDArray]:
        """Integrate to the end of the step or the next event: its time, and the state then."""
        from scipy.integrate import solve_ivp

        moving, (tolerance, method) = self._moving(), self.accuracy

        def rates(t: float, y: NDArray) -> NDArray:
            x, v = np.split(y, 2)
            self._evaluate(t, x, v, self._torque(t), moving)
            return np.concatenate([v, self._out["a"].ravel()])

        events = self._events(moving)
        margins = [_end_at_zero(_distance), *(event.margin for event in events)]
        accuracy = {"rtol": tolerance, "atol": tolerance * 1e-2}
        solution = solve_ivp(rates, (s, end), state, method, events=margins, **accuracy)
        if solution.status < 0:
            t = self._at * self.clock.h + solution.t[-1]
            raise SimulationError(f"{method} gave up at t = {t:g} s: {solution.message.rstrip('.')}")
        state = solution.y[:, -1].copy()
        if len(solution.t_events[0]):
            self._fill(state)
            raise Runaway(self._at)
        for event, times in zip(events, solution.t_events[1:], strict=True):
            if len(times):
                self._direction[event.joint] = event.direction
        self._rest(state, moving)
        return (float(solution.t[-1]) if solution.status == 1 else end), state

    def _rest(self, state: NDArray, moving: NDArray) -> None:
        """Let joints rest that stopped, and those whose velocity passed zero by rounding at the same instant."""
        speeds = self._speeds(state)
        stopped = self._dry & (moving > 0) & (speeds * self._direction <= 0)
        if stopped.any():
            self._direction[stopped] = speeds[stopped] = 0.0
            state[len(state) // 2 + np.array(self._rubbing)] = from_shafts(self.plant.arm, speeds)

    def _speeds(self, state: NDArray) -> NDArray:
        """Velocities (n,) of the shafts, at which friction acts."""
        return np.array(at_shafts(self.plant.arm, state[len(state) // 2 + np.array(self._rubbing)]))

    def _events(self, moving: NDArray) -> list[Event]:
        """Return the events that may end a stretch: sliding joints stop, stuck ones break away."""
        events = []
        for i in np.flatnonzero(self._dry).tolist():
            if self._direction[i]:
                events.append(Event(i, 0.0, _end_at_zero(self._speed(i))))
            else:
                events += [Event(i, 1.0, _end_at_zero(self._margin(i, "above", moving)))]
                events += [Event(i, -1.0, _end_at_zero(self._margin(i, "below", moving)))]
        return events

    def _speed(self, i: int) -> Margin:
        """The velocity of a sliding joint along its direction."""
        direction = self._direction[i]
        return lambda t, y: float(self._speeds(y)[i] * direction)

    def _margin(self, i: int, name: str, moving: NDArray) -> Margin:
        """Return how far a stuck joint is from breaking away."""

        def margin(t: float, y: NDArray) -> float:
            x, v = np.split(y, 2)
            self._evaluate(t, x, v, self._torque(t), moving)
            band = self._out["above"].ravel()[i] + self._out["below"].ravel()[i]
            return float(self._out[name].ravel()[i] + NEGLIGIBLE * band)

        return margin


def _distance(t: float, y: NDArray) -> float:
    """Return the distance from just beyond all bounds, so that `RunRecord.watch` sees it; asked of accepted steps
    alone.
    """
    return float(1.001 * RUNAWAY_VELOCITY - np.abs(y[len(y) // 2 :]).max())


def _end_at_zero(margin: Any) -> Margin:
    """A function of time and state whose zeros, coming from above, end SciPy's integration."""
    margin.terminal, margin.direction = True, -1
    return margin
