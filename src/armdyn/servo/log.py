"""A log of an arm with position servos: what was commanded, and where the joints were."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.log import MIN_SAMPLES, Record

SMOOTHING_WINDOW_S = 0.2  # servos of low-cost arms answer within some 50 ms
ENCODER_NOISE = 2e-4  # rad or m: no encoder of such arms is better
# Stamps and positions of single precision differ by less [s], [rad or m].
SAME_TIME_S, SAME_POSITION = 1e-6, 1e-5


class ServoSegment(NamedTuple):
    """A part of a log without gaps, times counted from its first measurement."""

    t: NDArray  # (N,) [s], from 0
    q: NDArray  # (N, n)
    command_t: NDArray  # (K,) [s], the first at or before 0 where there is one
    command: NDArray  # (K, n)
    payload: NDArray | None = None  # (10 n,): what the arm carried more than is described

    @property
    def dt(self) -> float:
        """The usual time between measurements [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def sent(self) -> NDArray:
        """The command last sent at the time of each measurement, (N, n)."""
        return self.sent_at(self.t)

    def sent_at(self, t: NDArray) -> NDArray:
        """Return the command last sent at times (T,), (T, n)."""
        last = np.searchsorted(self.command_t, t + SAME_TIME_S, side="right") - 1
        return self.command[np.clip(last, 0, None)]

    def part(self, first: int, last: int) -> ServoSegment:
        """The measurements from `first` up to `last`, with the commands that act then."""
        return _piece(self.t[first:last], self.q[first:last], self.command_t, self.command)._replace(
            payload=self.payload
        )


@dataclass(frozen=True, eq=False)
class ServoLog(Record):
    """Commanded and measured joint positions; times of each strictly rise.

    A command is sent at its time, and holds until the next one.
    """

    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n) measured [rad or m]
    command: NDArray  # (K, n) [rad or m]
    command_t: NDArray | None = None  # (K,) [s]; None: those of the measurements
    name: str = "log"
    notes: tuple[str, ...] = ()
    path: Path | None = None

    def __post_init__(self) -> None:
        stamps = self.t if self.command_t is None else self.command_t
        for name, value in (("t", self.t), ("q", self.q), ("command", self.command), ("command_t", stamps)):
            object.__setattr__(self, name, np.asarray(value, float))
        for t, x, what in ((self.t, self.q, "q"), (self.stamps, self.command, "command")):
            if t.ndim != 1 or x.ndim != 2 or len(x) != len(t) or x.shape[1] != self.q.shape[1]:
                expected = f"{what} of shape (N, n) with N times"
                raise ReadError(where=self.name, expected=expected, got=f"{x.shape}, {t.shape}")
            if not (np.isfinite(x).all() and np.isfinite(t).all()):
                raise ReadError(f"{what} has values that are not finite numbers", where=self.name)
            if len(t) < MIN_SAMPLES:
                raise ReadError(where=self.name, expected=f"at least {MIN_SAMPLES} samples", got=len(t))
            if not (np.diff(t) > 0).all():
                raise ReadError(where=self.name, expected="times that rise from sample to sample")

    @property
    def stamps(self) -> NDArray:
        """When commands were sent, (K,) [s]."""
        assert self.command_t is not None
        return self.command_t

    def __repr__(self) -> str:
        rate = f"{self.duration:.1f} s at {1 / self.dt:.0f} Hz"
        return f"<ServoLog '{self.name}': {len(self)} samples of {self.n} joints, {rate}>"

    @cached_property
    def pieces(self) -> tuple[ServoSegment, ...]:
        """The parts between gaps."""
        ends = [0, *(self.gaps + 1).tolist(), len(self)]
        return tuple(
            _piece(self.t[a:b], self.q[a:b], self.stamps, self.command)
            for a, b in pairwise(ends)
            if b - a >= MIN_SAMPLES
        )


def _piece(t: NDArray, q: NDArray, command_t: NDArray, command: NDArray) -> ServoSegment:
    """Measurements and the commands from the last before them on."""
    first = max(int(np.searchsorted(command_t, t[0] - 1.0, side="right")) - 1, 0)
    last = int(np.searchsorted(command_t, t[-1], side="right"))
    return ServoSegment(t - t[0], q, command_t[first:last] - t[0], command[first:last])


def resolution(q: NDArray) -> NDArray:
    """The smallest step (n,) between readings, zero where readings are as good as continuous."""
    steps = []
    for x in q.T:
        apart = np.diff(np.sort(x))
        apart = apart[apart > SAME_POSITION]
        # Encoders repeat their readings; simulated ones without resolution never do.
        steps.append(float(apart.min()) if 0 < len(apart) < 0.9 * len(x) - 1 else 0.0)
    return np.array(steps)


def encoder_error(q: NDArray) -> NDArray:
    """Error (n,) of replays that the encoders alone make, root mean square."""
    return np.sqrt(resolution(q) ** 2 / 12 + ENCODER_NOISE**2)


def smooth(t: NDArray, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Smoothed x (N, n), its rate and the rate of that, at times t (N,) that are about even."""
    from scipy.signal import savgol_filter

    dt = float(np.median(np.diff(t)))
    half = max(2, round(SMOOTHING_WINDOW_S / dt / 2))  # five samples at least, for a cubic
    # Beyond its ends a motion goes on as if turned about them.
    padded = np.pad(x, ((half, half), (0, 0)), mode="reflect", reflect_type="odd")
    q, qd, qdd = (savgol_filter(padded, 2 * half + 1, 3, k, dt, axis=0)[half:-half] for k in range(3))
    return q, qd, qdd
