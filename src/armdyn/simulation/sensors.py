"""What instruments make of the truth: quantised, noisy, late, lost and doubled samples."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError, shown
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.sensing import FINEST, quantised

RIPPLE_WAVES = 12
Numbers: TypeAlias = Any  # a float, or numbers of all joints; an array or a float once built
PER_JOINT = ("resolution", "q_noise", "qd_noise", "tau_noise", "ripple")


@dataclass(frozen=True)
class Sensors:
    """Instruments of an arm; zero means perfect.

    Parameters
    ----------
    resolution : float or array_like, shape (n,)
        Step of the encoders at the joint [rad or m]; zero for analog ones (LVDT, resolver, potentiometer).
    q_noise, qd_noise, tau_noise : float or array_like, shape (n,)
        Standard deviations of positions before quantisation, velocities and torques (analog signals).
    difference : bool
        Velocities from differences of measured positions instead of a tachometer.
    ripple : float or array_like, shape (n,)
        Amplitude of torque ripple as a part of the torque, twelve waves a turn of the joint.
    delay : int
        Age of what the controller sees, in samples.
    lost, doubled : float
        Probabilities that a sample is lost (the controller then sees the last one again) or logged twice.
    jitter : float
        Standard deviation of time stamps in a log [s].
    """

    resolution: Numbers = 0.0
    q_noise: Numbers = 0.0
    qd_noise: Numbers = 0.0
    tau_noise: Numbers = 0.0
    difference: bool = False
    ripple: Numbers = 0.0
    delay: int = 0
    lost: float = 0.0
    doubled: float = 0.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in PER_JOINT:
                object.__setattr__(self, f.name, _per_joint(f.name, value))
            elif f.name != "difference" and not (isinstance(value, int | float | np.number) and 0 <= value < np.inf):
                raise ShapeError(f"Sensors: {f.name}: expected a number >= 0, got {shown(value)}")
        if not (self.lost < 1 and self.doubled <= 1):
            raise ShapeError("Sensors: expected probabilities below 1")
        if self.delay != int(self.delay):
            raise ShapeError(f"Sensors: delay: expected a whole number of samples, got {self.delay}")

    def check_size(self, n: int) -> None:
        """Complain about numbers for other than n joints."""
        for name in PER_JOINT:
            if np.shape(getattr(self, name)) not in ((), (n,)):
                raise ShapeError(f"Sensors: {name}: expected one number or {n}, got {np.shape(getattr(self, name))}")

    @property
    def smooth(self) -> Sensors:
        """The same without what has no derivative or comes by chance: late, and differentiated if these are."""
        return Sensors(delay=self.delay, difference=self.difference)

    def resolutions(self, n: int) -> NDArray:
        """Steps of n encoders that numbers can be divided by."""
        step = np.broadcast_to(np.asarray(self.resolution, float), n)
        return np.where(step > 0, step, FINEST)

    def position(self, q: NDArray, rng: np.random.Generator) -> NDArray:
        """What encoders show of positions."""
        q = q + self.q_noise * rng.standard_normal(q.shape) if np.any(self.q_noise) else q
        return quantised(q, self.resolutions(q.shape[-1])) if np.any(self.resolution) else q

    def torque(self, q: NDArray, tau: NDArray, rng: np.random.Generator) -> NDArray:
        """What current sensors show of torques."""
        if np.any(self.ripple):
            tau = tau * (1 + self.ripple * np.sin(RIPPLE_WAVES * q))
        return tau + self.tau_noise * rng.standard_normal(tau.shape) if np.any(self.tau_noise) else tau

    def velocity(self, qd: NDArray, rng: np.random.Generator) -> NDArray:
        """What tachometers show."""
        return qd + self.qd_noise * rng.standard_normal(qd.shape) if np.any(self.qd_noise) else qd

    def record(self, result: SimulationResult, seed: int | None = 0) -> Recording:
        """A run as these instruments would have logged it; the same for the same seed."""
        if result.batch:
            raise ShapeError("record: a log holds one run; select one of the batch first")
        self.check_size(result.n)
        rng, t = np.random.default_rng(seed), result.t
        q, qd = self.position(result.q, rng), result.qd
        if self.difference:
            qd = np.diff(q, axis=0, prepend=q[:1]) / np.diff(t, prepend=t[0] - 1)[:, None]
        qd, tau = self.velocity(qd, rng), self.torque(result.q, result.tau, rng)
        stamps = t + (self.jitter * rng.standard_normal(len(t)) if self.jitter else 0.0)
        times = np.where(rng.random(len(t)) < self.lost, 0, 1 + (rng.random(len(t)) < self.doubled))
        rows = np.repeat(np.arange(len(t)), times)
        return Recording(stamps[rows], q[rows], qd[rows], tau[rows])


def _per_joint(name: str, value: Any) -> Any:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim > 1 or not (np.isfinite(array) & (array >= 0)).all():
        raise ShapeError(f"Sensors: {name}: expected a number >= 0, or one a joint, got {shown(value)}")
    return array if array.ndim else float(array)


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
