"""What instruments make of the truth: quantised, noisy, late, lost and doubled samples.

In the loop the controller sees positions and velocities, quantised, noisy and late, and the last ones again where a
sample is lost. It sees neither torques nor time stamps: their errors, and doubled samples, are of logs alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import as_floats
from armdyn.errors import ShapeError, expect, quote
from armdyn.names import renamed_keywords
from armdyn.simulation.readings import Readings
from armdyn.simulation.sensing import FINEST_RESOLUTION, LOGGER, Instruments, NoiseGenerator, stream

if TYPE_CHECKING:
    from armdyn.simulation.result import SimulationResult

RIPPLE_WAVES = 12
Numbers: TypeAlias = Any  # a float, or numbers of all joints; an array or a float once built
PER_JOINT = ("resolution", "q_noise", "qd_noise", "tau_noise", "ripple")
MAX_DELAY_SAMPLES = 1000  # samples: each is a state of the closed loop


@dataclass(frozen=True)
class Sensors:
    """Instruments of an arm; zero means perfect.

    Positions and velocities act in the loop and in logs, the rest in logs alone: controllers see no torques and no
    time stamps.

    Parameters
    ----------
    resolution : float or array_like, shape (n,)
        Step of the encoders at the joint [rad or m]; zero for analog ones (LVDT, resolver, potentiometer).
    q_noise, qd_noise, tau_noise : float or array_like, shape (n,)
        Standard deviations of positions before quantisation, velocities and torques (analog signals).
    difference : bool
        Velocities from differences of measured positions instead of a tachometer.
    ripple : float or array_like, shape (n,)
        Relative amplitude of the ripple of measured currents, twelve waves per turn of the joint.
    delay : int
        Age of what the controller sees, and of what is logged with its torque, in samples.
    lost, doubled : float
        Probabilities that a sample is lost (the controller then sees the last one again, and a log lacks it) or
        logged twice.
    jitter : float
        Standard deviation of time stamps in a log [s].

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> sensors = armdyn.Sensors(resolution=1e-4)  # rad
    >>> law = armdyn.GravityPD(arm, [400.0, 100.0], [40.0, 10.0])
    >>> armdyn.simulate(arm, law, [0.4, 0.2], 0.5, 500, sensors=sensors).complete
    True
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
                raise ShapeError(where=f"Sensors: {f.name}", expected="a number >= 0", got=quote(value))
        for name in ("lost", "doubled"):
            expect(getattr(self, name) < 1, f"Sensors: {name}", "a probability below 1", got=f"{getattr(self, name):g}")
        fits = self.delay == int(self.delay) and self.delay <= MAX_DELAY_SAMPLES
        expect(fits, "Sensors: delay", f"a whole number of samples, {MAX_DELAY_SAMPLES} at most", got=self.delay)

    def check_size(self, n: int) -> None:
        """Complain about numbers for other than n joints."""
        for name in PER_JOINT:
            fits = np.shape(getattr(self, name)) in ((), (n,))
            expect(fits, f"Sensors: {name}", f"one number or {n}", got=np.shape(getattr(self, name)))

    @property
    def smooth(self) -> Sensors:
        """The same without what has no derivative or comes by chance: late, and differentiated if these are."""
        return Sensors(delay=self.delay, difference=self.difference)

    def resolutions(self, n: int) -> NDArray:
        """Steps of n encoders that numbers can be divided by."""
        step = np.broadcast_to(np.asarray(self.resolution, float), n)
        return np.where(step > 0, step, FINEST_RESOLUTION)

    def record(self, run: SimulationResult, seed: int = 0) -> Readings:
        """A single run as these instruments show it, whatever its controller saw; the same for the same seed.

        A reading is taken at every sample that the run kept: with `simulate(..., every=10)` delays and losses are
        those of a slower logger.
        """
        expect(not run.batch, "record", "one run", remedy="choose one of the batch with `run`")
        self.check_size(run.n)
        period = float(run.t[1] - run.t[0]) if len(run.t) > 1 else 1.0
        instruments = Instruments(self, period, len(run.t), run.n, seed)
        readings = [instruments.read(*truth) for truth in zip(*run.at_encoders, strict=True)]
        q, qd = (np.array([row[k] for row in readings]).reshape(run.q.shape) for k in range(2))
        arrived = 1 - NoiseGenerator(self, run.n, 1, seed).losses(len(run.t))[0]
        return self.logged(Readings(run.t, q, qd, run.tau, arrived), run.q, seed)

    @renamed_keywords
    def logged(self, readings: Readings, q: NDArray, seed: int) -> Readings:
        """Readings as a log shows them: stamps jitter, samples are doubled, torques have ripple at true positions q."""
        return Logger(self, int(np.prod(q.shape[:-2])), seed).log(readings, q)


class Logger:
    """Effect of chance on the logs of some runs, rows after rows: the same, however many come at once."""

    def __init__(self, sensors: Sensors, runs: int, seed: int) -> None:
        self.sensors = sensors
        self._noise, self._jitter, self._doubled = zip(
            *(stream(seed, k, LOGGER).spawn(3) for k in range(runs)), strict=True
        )

    def log(self, readings: Readings, q: NDArray) -> Readings:
        """The next readings as a log shows them; `q` (..., T, n) are the true positions."""
        (T, n), sensors, tau, t, copies = q.shape[-2:], self.sensors, readings.tau, readings.t, readings.copies
        if np.any(sensors.ripple):
            tau = tau * (1 + sensors.ripple * np.sin(RIPPLE_WAVES * q))
        if np.any(sensors.tau_noise):
            noise = np.array([rng.standard_normal((T, n)) for rng in self._noise]).reshape(q.shape)
            tau = tau + sensors.tau_noise * noise
        if sensors.jitter:
            t = t + sensors.jitter * np.array([rng.standard_normal(T) for rng in self._jitter]).reshape(t.shape)
        if sensors.doubled:
            chance = np.array([rng.random(T) for rng in self._doubled]).reshape(t.shape)
            copies = copies * (1 + (chance < sensors.doubled))
        return Readings(t, readings.q, readings.qd, tau, copies)


def _per_joint(name: str, value: Any) -> Any:
    array = as_floats(value)
    if array.ndim > 1 or not (np.isfinite(array) & (array >= 0)).all():
        raise ShapeError(where=f"Sensors: {name}", expected="a number >= 0, or one per joint", got=quote(value))
    return array if array.ndim else float(array)


# Encoders of a common arm: twelve bits at the motor behind a gear of 128, and velocities that are as noisy as
# differences of such positions at 1 kHz (step / sqrt(6) / period).
REAL_SENSORS = Sensors(resolution=2 * np.pi / 2**19, qd_noise=0.005)
