"""A robot that exists in simulation, in real time: it moves on while the caller computes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.simulation.loop.plan import SimulationSettings, SimulationTiming, make_plan
from armdyn.simulation.loop.python_loop import NativeRun
from armdyn.simulation.plant.plant import Plant


class SimulatedRobot:
    """A plant behind `read`, `write` and `stop`, for `run_law` and for trying one's own loops.

    Between two reads it moves for as many periods as have passed on the clock, with the torques written last. The
    clock starts at the first read.

    Parameters
    ----------
    plant : Plant or Arm
    q0 : array_like, shape (n,)
        Pose at the start.
    rate : float
        Steps in which it moves on [Hz].
    duration : float
        Time for which it can run [s].
    clock : callable
        Seconds that have passed; default the computer's clock.
    """

    def __init__(
        self,
        plant: Plant | Arm,
        q0: ArrayLike,
        *,
        rate: float = 1000.0,
        duration: float = 60.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        plan = make_plan(
            plant, lambda t, q, qd, ref: 0 * q, q0, SimulationSettings(SimulationTiming(duration, rate), check=False)
        )
        self._run = NativeRun(plan.schedule, plan.q0[0], plan.qd0[0])
        self._layout, self._clock, self._periods = plan.schedule.clock, clock, 0
        self._begin: float | None = None
        self._tau = np.zeros(plan.schedule.plant.arm.n)
        self.stopped = False

    def read(self) -> tuple[NDArray, NDArray]:
        """Positions and velocities now, each (n,)."""
        now = self._clock()
        begin = self._begin = now if self._begin is None else self._begin
        self._advance(int((now - begin) / self._layout.period + 1e-6))
        step = self._periods * self._layout.substeps
        return self._run.rows["q"][0, step].copy(), self._run.rows["qd"][0, step].copy()

    def write(self, tau: ArrayLike) -> None:
        """Command torques (n,) from now on."""
        self._tau = np.array(tau, float)

    def stop(self) -> None:
        """Command zero torques."""
        self._tau, self.stopped = 0 * self._tau, True

    def _advance(self, periods: int) -> None:
        if periods > self._layout.samples:
            duration = self._layout.samples * self._layout.period
            remedy = "make it with a longer duration"
            raise ArmdynError(f"its {duration:g} s are over", where="SimulatedRobot", remedy=remedy)
        while self._periods < periods:
            at = self._periods * self._layout.substeps
            self._run.command[0, at : at + self._layout.substeps] = self._tau
            self._run.period()
            self._periods += 1
