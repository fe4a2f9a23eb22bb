"""What instruments make of the truth: quantised, noisy, late, lost and doubled samples."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError, shown
from armdyn.simulation.result import SimulationResult


@dataclass(frozen=True)
class Sensors:
    """Instruments of an arm; zero means perfect. The same numbers serve all joints.

    Parameters
    ----------
    resolution : float
        Step of the encoders at the joint [rad or m].
    q_noise, qd_noise, tau_noise : float
        Standard deviations of positions before quantisation, velocities and torques (analog signals).
    difference : bool
        Velocities from differences of measured positions instead of a tachometer.
    ripple : float
        Amplitude of torque ripple as a part of the torque, twelve waves a turn of the joint.
    delay : int
        Age of what the controller sees, in samples.
    lost, doubled : float
        Probabilities that a sample is lost (the controller then sees the last one again) or logged twice.
    jitter : float
        Standard deviation of time stamps in a log [s].
    """

    resolution: float = 0.0
    q_noise: float = 0.0
    qd_noise: float = 0.0
    tau_noise: float = 0.0
    difference: bool = False
    ripple: float = 0.0
    delay: int = 0
    lost: float = 0.0
    doubled: float = 0.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "difference" and not (isinstance(value, int | float | np.number) and 0 <= value < np.inf):
                raise ShapeError(f"Sensors: {f.name}: expected a number >= 0, got {shown(value)}")
        if not (self.lost < 1 and self.doubled <= 1):
            raise ShapeError("Sensors: expected probabilities below 1")
        if self.delay != int(self.delay):
            raise ShapeError(f"Sensors: delay: expected a whole number of samples, got {self.delay}")

    def position(self, q: NDArray, rng: np.random.Generator) -> NDArray:
        """What encoders show of positions."""
        q = q + self.q_noise * rng.standard_normal(q.shape) if self.q_noise else q
        return np.round(q / self.resolution) * self.resolution if self.resolution else q

    def torque(self, q: NDArray, tau: NDArray, rng: np.random.Generator) -> NDArray:
        """What current sensors show of torques."""
        if self.ripple:
            tau = tau * (1 + self.ripple * np.sin(RIPPLE_WAVES * q))
        return tau + self.tau_noise * rng.standard_normal(tau.shape) if self.tau_noise else tau

    def velocity(self, qd: NDArray, rng: np.random.Generator) -> NDArray:
        """What tachometers show."""
        return qd + self.qd_noise * rng.standard_normal(qd.shape) if self.qd_noise else qd

    def record(self, result: SimulationResult, seed: int | None = 0) -> Recording:
        """A run as these instruments would have logged it; the same for the same seed."""
        if result.batch:
            raise ShapeError("record: a log holds one run; select one of the batch first")
        rng, t = np.random.default_rng(seed), result.t
        q, qd = self.position(result.q, rng), result.qd
        if self.difference:
            qd = np.diff(q, axis=0, prepend=q[:1]) / np.diff(t, prepend=t[0] - 1)[:, None]
        qd, tau = self.velocity(qd, rng), self.torque(result.q, result.tau, rng)
        stamps = t + (self.jitter * rng.standard_normal(len(t)) if self.jitter else 0.0)
        times = np.where(rng.random(len(t)) < self.lost, 0, 1 + (rng.random(len(t)) < self.doubled))
        rows = np.repeat(np.arange(len(t)), times)
        return Recording(stamps[rows], q[rows], qd[rows], tau[rows])


RIPPLE_WAVES = 12


class Instruments:
    """Sensors at work in a loop: what the controller sees at each sample."""

    def __init__(self, sensors: Sensors, period: float, seed: int | None) -> None:
        self.sensors, self.period = sensors, period
        self._rng = np.random.default_rng(seed)
        self._past: deque[tuple[NDArray, NDArray]] = deque(maxlen=int(sensors.delay) + 1)
        self._last: NDArray | None = None

    def read(self, q: NDArray, qd: NDArray) -> tuple[NDArray, NDArray]:
        """Positions and velocities as measured at the next sample."""
        s, rng = self.sensors, self._rng
        if not (self._past and s.lost and rng.random() < s.lost):
            seen = s.position(q, rng)
            if s.difference:
                speed = np.zeros_like(seen) if self._last is None else (seen - self._last) / self.period
            else:
                speed = qd
            self._last = seen
            self._past.append((seen, s.velocity(speed, rng)))
        else:
            self._past.append(self._past[-1])
        return self._past[0]


class Recording(NamedTuple):
    """A log as instruments wrote it: stamps may jitter, repeat and leave gaps."""

    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n)
    qd: NDArray
    tau: NDArray

    def csv(self) -> str:
        """Text with the columns that `read_log` knows."""
        n = self.q.shape[1]
        names = [f"{kind}{i + 1}" for kind in ("q", "qd", "tau") for i in range(n)]
        rows = np.column_stack(self).tolist()
        return "\n".join([",".join(["t", *names]), *(",".join(map(repr, row)) for row in rows)]) + "\n"
