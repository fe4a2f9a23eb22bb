"""A plant integrated by SciPy's adaptive steps, with every event of its friction located in time.

Much slower than fixed steps, and meant for judging them: smooth stretches are accurate to the tolerance, and a
joint stops and breaks away at its own instant instead of at the next step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import SimulationError
from armdyn.simulation.advance import Slip, Step
from armdyn.simulation.loop import Shapes, keyed_rollout, plant_shapes, program_of
from armdyn.simulation.payload import after_grip
from armdyn.simulation.plant import Kind, Plant
from armdyn.simulation.schedule import Schedule
from armdyn.trace.program import Program
from armdyn.trace.symbols import ca

# More events than this in one step of the run mean that they pile up.
MOST_EVENTS = 200
# Data of fixed steps that a derivative has no use for.
DROPPED = ("dt", "decay", "limit")


def rates_program(plant: Plant, kind: Kind) -> Program:
    """Accelerations for given directions of sliding, and what holding the stuck joints takes."""
    n = plant.arm.n
    data = {k: v for k, v in plant_shapes(plant, kind)[1].items() if k not in DROPPED}
    data |= {name: (1, *shape[1:]) for name, shape in data.items() if name in ("wrench", "base_motion")}
    dry = kind.friction == "dry"
    inputs = {"q": (n,), "qd": (n,), "tau": (n,), **({"direction": (n,), "moving": (n,)} if dry else {}), **data}
    outputs: Shapes = {"qdd": (n,), **({"above": (n,), "below": (n,)} if dry else {})}

    def formula(values: Any) -> dict[str, Any]:
        step = Step(plant.arm, kind, {name: values[name] for name in data})
        q, qd, tau = values["q"], values["qd"], values["tau"]
        if not dry:
            return {"qdd": step.acceleration(q, qd, tau, 0, None)}
        qdd = step.acceleration(q, qd, tau, 0, Slip(values["moving"], values["direction"]))
        M, net = step.equations(q, qd, tau, 0)
        forward, backward = step.breakaway(q, tau)
        holding = net - ca.mtimes(M, qdd)
        return {"qdd": qdd, "above": forward - holding, "below": holding - backward}

    return program_of("rates", inputs, outputs, formula)


class AdaptiveRun:
    """The plant between samples; the same interface as `python_loop.Run`."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray, tolerance: float) -> None:
        self.schedule, self.plant, self.tolerance = schedule, schedule.plant, tolerance
        self.n, steps, self.kind = self.plant.arm.n, schedule.clock.steps, self.plant.kind
        self.shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("q", "qd", "tau"), (self.n,))
        self.rows = {name: np.empty((1, steps + (name != "tau"), self.n)) for name in self.shapes}
        self.q, self.qd = self.rows["q"][0], self.rows["qd"][0]
        self.q[0], self.qd[0] = q0, qd0
        self.command = np.zeros((1, steps, self.n))
        self.theta = self.plant.own_theta.reshape(-1)
        self._motor, self._at = np.zeros(self.n), 0
        self._bind()
        self._dry = np.zeros(self.n, bool)
        if self.kind.friction == "dry":
            self._direction = np.sign(qd0)
            self._evaluate(0.0, np.concatenate([q0, qd0]), np.zeros(self.n), np.ones(self.n))
            self._dry = self._out["above"].ravel() + self._out["below"].ravel() > 0

    def _bind(self) -> None:
        """Buffers of the native function for rates."""
        key = ("rates", self.plant.arm.trace_key, self.kind)
        constants = {k: v for k, v in self.schedule.constants(self.theta[None]).items() if k not in DROPPED}
        rollout = keyed_rollout(key, lambda: rates_program(self.plant, self.kind), frozenset(constants))
        self._in = {port.name: np.zeros((1, 1, *port.shape)) for port in rollout.inputs} | constants
        self._out = {port.name: np.zeros((1, 1, *port.shape)) for port in rollout.outputs}
        self._run = rollout.bind(self._in, self._out)

    def set_theta(self, step: int, theta: NDArray, blow: bool) -> None:
        """Change what the arm carries from a step on."""
        if blow:
            q, qd = self.q[step], self.qd[step]
            self.qd[step] = after_grip(self.plant.arm, q, qd, self.theta, theta, self.kind.rotors)
        self.theta = theta
        self._in["theta"][:] = theta

    def at_encoders(self, step: int) -> tuple[NDArray, NDArray]:
        """Positions and velocities (n,) where encoders sit."""
        return self.q[step].copy(), self.qd[step].copy()

    def period(self) -> None:
        """All steps of one period."""
        for k in range(self._at, self._at + self.schedule.clock.substeps):
            self._advance(k)
        self._at += self.schedule.clock.substeps

    # -- one step ---------------------------------------------------------------------------------------

    def _torque(self, s: float) -> NDArray:
        """Of the drives, s seconds into the step."""
        if not self.kind.lag:
            return self._held
        lag = np.asarray(self.plant.motor_lag)
        left = np.where(lag > 0, np.exp(-s / np.where(lag > 0, lag, 1.0)), 0.0)
        return self._held + (self._motor - self._held) * left

    def _evaluate(self, s: float, x: NDArray, tau: NDArray, moving: NDArray) -> None:
        """Fill the outputs for a state s seconds into the step."""
        into, t = self._in, self._at * self.schedule.clock.h + s
        into["q"][:], into["qd"][:], into["tau"][:] = x[: self.n], x[self.n :], tau
        if self.kind.friction == "dry":
            into["direction"][:], into["moving"][:] = self._direction, moving
        if self.kind.wrench:
            into["wrench"][:] = self.plant.wrenches(np.array([t]))
        if self.kind.base_motion:
            into["base_motion"][:] = self.plant.base_motions(np.array([t]))
        self._run()

    def _moving(self) -> NDArray:
        return np.where(self._dry, np.abs(self._direction) if self._dry.any() else 1.0, 1.0)

    def _advance(self, k: int) -> None:
        """From one step to the next, stretch by stretch between events."""
        limit = self.plant.torque_limits
        self._held = np.clip(self.command[0, k], -limit, limit)
        self.rows["tau"][0, k] = self._torque(0.0)
        s, h, x, at = 0.0, self.schedule.clock.h, np.concatenate([self.q[k], self.qd[k]]), self._at
        self._at = k
        for _ in range(MOST_EVENTS):
            self._release(s, x)
            s, x, done = self._stretch(s, x, h)
            if done:
                break
        else:
            raise SimulationError(f"friction events pile up at t = {k * h:g} s; use fixed steps there")
        self._motor, self._at = self._torque(h), at
        self.q[k + 1], self.qd[k + 1] = x[: self.n], x[self.n :]

    def _release(self, s: float, x: NDArray) -> None:
        """Let stuck joints go that cannot be held, the most overloaded first."""
        for _ in range(self.n if self._dry.any() else 0):
            self._evaluate(s, x, self._torque(s), self._moving())
            above, below = self._out["above"].ravel(), self._out["below"].ravel()
            stuck = self._dry & (self._direction == 0)
            excess = np.where(stuck, np.minimum(above, below), 0.0)
            i = int(np.argmin(excess))
            if not excess[i] < 0:
                return
            self._direction[i] = 1.0 if above[i] < below[i] else -1.0

    def _stretch(self, s: float, x: NDArray, end: float) -> tuple[float, NDArray, bool]:
        """Integrate to the end of the step or the next event."""
        from scipy.integrate import solve_ivp

        n, moving = self.n, self._moving()

        def rates(t: float, y: NDArray) -> NDArray:
            self._evaluate(t, y, self._torque(t), moving)
            return np.concatenate([y[n:], self._out["qdd"].ravel()])

        sliding = [i for i in range(n) if self._dry[i] and self._direction[i] != 0]
        stuck = [i for i in range(n) if self._dry[i] and self._direction[i] == 0]
        events: list[Any] = [_stops(n, i, self._direction[i]) for i in sliding]
        events += [self._breaks(i, name, moving) for i in stuck for name in ("above", "below")]
        for event in events:
            event.terminal, event.direction = True, -1
        found = solve_ivp(
            rates, (s, end), x, "DOP853", events=events or None, rtol=self.tolerance, atol=self.tolerance * 1e-2
        )
        x = found.y[:, -1].copy()
        if found.status != 1:
            return end, x, True
        which = next(k for k, times in enumerate(found.t_events) if len(times))
        if which < len(sliding):
            i = sliding[which]
            self._direction[i], x[n + i] = 0.0, 0.0
        else:
            i, side = divmod(which - len(sliding), 2)
            self._direction[stuck[i]] = -1.0 if side else 1.0
        return float(found.t[-1]), x, False

    def _breaks(self, i: int, name: str, moving: NDArray) -> Any:
        """How far a stuck joint is from breaking away."""

        def event(t: float, y: NDArray) -> float:
            self._evaluate(t, y, self._torque(t), moving)
            return float(self._out[name].ravel()[i])

        return event


def _stops(n: int, i: int, direction: float) -> Any:
    """The velocity of a sliding joint along its direction."""

    def event(t: float, y: NDArray) -> float:
        return float(y[n + i] * direction)

    return event
