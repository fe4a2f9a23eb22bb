"""A control loop on a clock: a law, a robot, deadlines, a watchdog, and a log that survives the end."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array
from armdyn.control.laws.guarded import Guarded
from armdyn.control.protocol import Law, Reference, Values, nested_laws
from armdyn.control.settings import one_number
from armdyn.errors import ArmdynError, expect
from armdyn.files import write_arrays, write_whole
from armdyn.trajectory.protocol import JointMotion

SPIN_TIME = 2e-4  # s before a deadline that are waited for awake: sleeping wakes up late


class RobotDriver(Protocol):
    """A robot as the loop needs it; each call must return within a small part of a period."""

    def read(self) -> tuple[ArrayLike, ArrayLike]:
        """Measured positions and velocities, each (n,)."""

    def write(self, tau: NDArray) -> None:
        """Command torques (n,)."""

    def stop(self) -> None:
        """Bring the robot to rest; called once at the end, whatever ended the loop."""


class LoopOutcome(Enum):
    """The reason for which a loop ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    DEADLINES_MISSED = "deadlines missed"
    ROBOT_FAILED = "robot failed"


@dataclass(frozen=True, eq=False)
class LoopRecord:
    """The last samples of a loop and how well it kept its clock; arrays have one row a sample."""

    outcome: LoopOutcome
    rate: float  # [Hz]
    n_samples: int  # in the whole run, those that are no longer in the arrays included
    n_missed: int  # periods without a sample
    t: NDArray  # (k,) scheduled times [s]
    lateness: NDArray  # (k,) from the scheduled time until the robot is read [s]
    computing: NDArray  # (k,) from there until torques are written [s]
    q: NDArray  # (k, n) measured
    qd: NDArray
    tau: NDArray  # commanded
    q_ref: NDArray
    error: Exception | None = None  # of the robot

    def __str__(self) -> str:
        late, busy = (1e6 * np.percentile(x, (50, 99, 100)) if len(x) else np.zeros(3) for x in self.times)
        return (
            f"{self.outcome.value} after {self.n_samples} samples at {self.rate:g} Hz, {self.n_missed} periods missed\n"
            f"lateness   median {late[0]:.0f}, 99 % {late[1]:.0f}, largest {late[2]:.0f} us\n"
            f"computing  median {busy[0]:.0f}, 99 % {busy[1]:.0f}, largest {busy[2]:.0f} us"
        )

    @property
    def times(self) -> tuple[NDArray, NDArray]:
        """Lateness and computing time of every sample [s]."""
        return self.lateness, self.computing

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write times, positions, velocities and torques as `.csv` or `.npz`, which `read_log` reads."""
        columns = {"t": self.t, "q": self.q, "qd": self.qd, "tau": self.tau}
        if Path(path).suffix.lower() == ".npz":
            return write_arrays(path, columns)
        expect(Path(path).suffix.lower() == ".csv", path, "a name that ends in .csv or .npz", error=ArmdynError)
        heads = ["t", *(f"{name}{i + 1}" for name in ("q", "qd", "tau") for i in range(self.q.shape[1]))]
        table = np.column_stack(list(columns.values()))
        lines = [",".join(f"{x:.9g}" for x in row) for row in table]
        return write_whole(path, "\n".join([",".join(heads), *lines, ""]))


def run_law(
    law: Law,
    robot: RobotDriver,
    reference: Callable[[NDArray], JointMotion] | ArrayLike,
    *,
    rate: float,
    duration: float,
    max_missed: int = 10,
    log_duration: float = 60.0,
) -> LoopRecord:
    """Run a law on a robot at a fixed rate, and stop the robot whatever happens.

    Samples lie on an absolute clock: a late sample does not shift those after it. A sample that is late by a period or
    more takes the reference of its own time; the periods between count as missed. Garbage collection rests.

    Parameters
    ----------
    law : Law
        A law without `Guarded` gets one that holds the arm's weight when measurements are lost.
    robot : RobotDriver
    reference : callable or array_like, shape (n,)
        A motion as `simulate` takes it, or a pose to hold.
    rate : float
        [Hz]
    duration : float
        [s]
    max_missed : int
        Periods in a row that may be missed; after more the robot is stopped.
    log_duration : float
        Time of which samples are recorded, the last ones [s].

    Notes
    -----
    Python on an ordinary kernel keeps 100 Hz well and 1 kHz mostly; the record says how well. Export the law as C
    (`law_code`) where a deadline must not be missed.
    """
    expect(isinstance(law, Law), "run_law", "a control law", law, ArmdynError)
    rate, duration = (one_number(x, "run_law", f"a {what} > 0") for x, what in ((rate, "rate"), (duration, "duration")))
    if not any(isinstance(part, Guarded) for part in nested_laws(law)):
        law = Guarded(law, fallback="gravity")
    loop = _Loop(law, robot, reference, rate, max(round(rate * duration), 1))
    return loop.run(max_missed, max(round(rate * log_duration), 1))


class _Loop:
    """The parts of a running loop."""

    def __init__(self, law: Law, robot: RobotDriver, reference: Any, rate: float, n_periods: int) -> None:
        self.law, self.robot, self.rate, self.n_periods = law, robot, rate, n_periods
        t = np.arange(n_periods) / rate
        if callable(reference):
            self.motion = reference(t)
        else:
            pose = finite_array(reference, (law.arm.n,), "run_law: reference")
            self.motion = JointMotion(np.tile(pose, (n_periods, 1)), *np.zeros((2, n_periods, law.arm.n)))
        self.channels = law.channels(t, self.motion)

    def run(self, max_missed: int, n_rows: int) -> LoopRecord:
        n, law = self.law.arm.n, self.law
        rows = _Ring(min(n_rows, self.n_periods), n)
        params, period, rest = law.params, 1 / self.rate, np.zeros(n)
        state: Values = law.init()
        # The first step compiles or loads a kernel: before the clock starts, and without a robot.
        law.step(law.arm, params, state, rest, rest, self._reference(0), period)
        outcome, error, n_missed, k = LoopOutcome.COMPLETED, None, 0, 0
        collecting = gc.isenabled()
        gc.disable()
        begin = time.perf_counter()
        try:
            while k < self.n_periods:
                _wait_until(begin + k * period)
                read_at = time.perf_counter() - begin
                late = int(read_at * self.rate) - k
                if late > max_missed:
                    outcome = LoopOutcome.DEADLINES_MISSED
                    break
                if late > 0:
                    n_missed, k = n_missed + late, k + late
                    if k >= self.n_periods:
                        break
                q, qd = (np.asarray(x, float) for x in self.robot.read())
                reference = self._reference(k)
                tau, state = law.step(law.arm, params, state, q, qd, reference, period)
                self.robot.write(tau)
                written_at = time.perf_counter() - begin
                rows.add(k * period, read_at - k * period, written_at - read_at, q, qd, tau, reference.q)
                k += 1
        except KeyboardInterrupt:
            outcome = LoopOutcome.INTERRUPTED
        except Exception as failure:  # a driver may raise anything; the robot must be stopped and the log kept
            outcome, error = LoopOutcome.ROBOT_FAILED, failure
        finally:
            self.robot.stop()
            if collecting:
                gc.enable()
        return LoopRecord(outcome, self.rate, rows.count, n_missed, **rows.arrays(), error=error)

    def _reference(self, k: int) -> Reference:
        q, qd, qdd = (rows[k] for rows in self.motion)
        return Reference(q, qd, qdd, {name: rows[k] for name, rows in self.channels.items()})


class _Ring:
    """The last rows of numbers, in memory that is allocated beforehand."""

    def __init__(self, n_rows: int, n: int) -> None:
        self.count = 0
        scalars = {name: np.zeros(n_rows) for name in ("t", "lateness", "computing")}
        self._columns = scalars | {name: np.zeros((n_rows, n)) for name in ("q", "qd", "tau", "q_ref")}

    def add(self, *row: Any) -> None:
        """Write one row over the oldest."""
        place = self.count % len(self._columns["t"])
        for column, value in zip(self._columns.values(), row, strict=True):
            column[place] = value
        self.count += 1

    def arrays(self) -> dict[str, NDArray]:
        """The columns by name, the oldest row first."""
        size = len(self._columns["t"])
        order = np.arange(max(self.count - size, 0), self.count) % size
        return {name: column[order] for name, column in self._columns.items()}


def _wait_until(moment: float) -> None:
    """Sleep until shortly before a moment of `perf_counter`, then wait awake."""
    if (rest := moment - time.perf_counter() - SPIN_TIME) > 0:
        time.sleep(rest)
    while time.perf_counter() < moment:
        pass
