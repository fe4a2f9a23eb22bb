"""What a controller sees through its sensors: one formula for arrays, sample by sample, and for kernels.

A reading is quantised and noisy; a line of the last `delay + 1` readings makes it late; a lost reading repeats the
one before. Noise is drawn beforehand, one stream per run, so that every path sees the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import is_whole
from armdyn.errors import expect

if TYPE_CHECKING:
    from armdyn.simulation.sensors import Sensors

# Stands for perfect encoders next to quantised ones: dividing and rounding by a power of two this small changes no bit.
FINEST_RESOLUTION = 2.0**-600


class Sensing(NamedTuple):
    """Errors that readings have; all else is folded away."""

    noisy: bool
    quantised: bool
    difference: bool
    lossy: bool
    delay: int

    @classmethod
    def of(cls, sensors: Sensors) -> Sensing:
        """The kind of given sensors."""
        noisy = bool(np.any(sensors.q_noise) or np.any(sensors.qd_noise))
        quantised = bool(np.any(sensors.resolution))
        return cls(noisy, quantised, bool(sensors.difference), sensors.lost > 0, int(sensors.delay))

    @property
    def states(self) -> tuple[str, ...]:
        """Names of what readings depend on besides the truth, each (n,): late readings, the last fresh position."""
        past = [f"{what}{k}" for k in range(self.delay + 1) for what in ("q", "qd")]
        return (*(past if self.remembers else ()), *(("last",) if self.difference else ()))

    @property
    def remembers(self) -> bool:
        """Whether readings are kept."""
        return self.delay > 0 or self.lossy


class NoiseSample(NamedTuple):
    """Effect of chance on one reading: noise (n,) of positions and velocities, 1 if it is lost."""

    q: Any = 0.0
    qd: Any = 0.0
    lost: Any = 0.0


def quantise(q: Any, resolution: Any, floor: Callable[[Any], Any] = np.floor) -> Any:
    """The nearest mark of an encoder."""
    return floor(q / resolution + 0.5) * resolution


def reading(
    kind: Sensing,
    memory: dict[str, Any],
    truth: tuple[Any, Any],
    draw: NoiseSample,
    resolution: Any,
    period: Any,
    floor: Callable[[Any], Any] = np.floor,
) -> tuple[Any, Any, dict[str, Any]]:
    """Position and velocity as the controller sees them at a sample, and what is remembered of them."""
    q, qd = truth
    if kind.noisy:
        q = q + draw.q
    if kind.quantised:
        q = quantise(q, resolution, floor)
    after: dict[str, Any] = {}
    if kind.difference:
        qd = (q - memory["last"]) / period
        after["last"] = q if not kind.lossy else draw.lost * memory["last"] + (1 - draw.lost) * q
    if kind.noisy:
        qd = qd + draw.qd
    if not kind.remembers:
        return q, qd, after
    values = {"q": q, "qd": qd}
    if kind.lossy:
        values = {name: draw.lost * memory[f"{name}0"] + (1 - draw.lost) * x for name, x in values.items()}
    for name, x in values.items():
        line = [x, *(memory[f"{name}{k}"] for k in range(kind.delay))]  # the newest reading first
        after |= {f"{name}{k}": old for k, old in enumerate(line)}
    return after[f"q{kind.delay}"], after[f"qd{kind.delay}"], after


def first_memory(
    kind: Sensing, truth: tuple[NDArray, NDArray], draw: NoiseSample, resolution: NDArray, period: float
) -> dict[str, NDArray]:
    """The memory before the first sample, as if its reading had been there for ever; a difference is then zero."""
    fresh, zero = kind._replace(delay=0, lossy=False), np.zeros_like(truth[0])
    q = reading(fresh._replace(difference=False), {}, truth, draw, resolution, period)[0]
    qd = reading(fresh, {"last": q}, truth, draw, resolution, period)[1]
    return {name: (qd if name.startswith("qd") else q) + zero for name in kind.states}


NOISE, LOSS, LOGGER = range(3)  # streams of random numbers of one run


def stream(seed: Any, run: int, what: int) -> np.random.Generator:
    """Random numbers of one kind for one run: run k of a batch has the seed of the first plus k."""
    return np.random.default_rng(None if seed is None else seed + run).spawn(3)[what]


class NoiseGenerator:
    """Noise and packet loss of the readings of all runs of a batch."""

    def __init__(self, sensors: Sensors, n: int, runs: int, seed: Any) -> None:
        expect(seed is None or is_whole(seed), "simulate: seed", "a whole number >= 0 or None", seed)
        self.kind, self.n, self._lost = Sensing.of(sensors), n, sensors.lost
        self._scale = np.stack([np.broadcast_to(x, n) for x in (sensors.q_noise, sensors.qd_noise)])
        self._noise, self._loss = ([stream(seed, k, what) for k in range(runs)] for what in (NOISE, LOSS))

    def noise(self, count: int) -> NDArray:
        """Noise of the next `count` samples, (runs, count, 2, n)."""
        return self._scale * np.stack([rng.standard_normal((count, 2, self.n)) for rng in self._noise])

    def lost(self, count: int) -> NDArray:
        """1 where one of the next `count` samples is lost, (runs, count, 1)."""
        return np.stack([(rng.random((count, 1)) < self._lost).astype(float) for rng in self._loss])

    def losses(self, count: int, every: int = 1) -> NDArray:
        """The same for one in so many of `count` samples as whole numbers, (runs, count / every)."""
        if not self.kind.lossy:
            return np.zeros((len(self._loss), -(-count // every)), int)
        return self.lost(count)[:, ::every, 0].astype(int)

    def draws(self, count: int) -> dict[str, NDArray]:
        """Return what of both there is."""
        streams = (("noise", self.kind.noisy, self.noise), ("lost", self.kind.lossy, self.lost))
        return {name: draw(count) for name, is_there, draw in streams if is_there}


def first_draw(draws: dict[str, NDArray]) -> NoiseSample:
    """Return the noise at the first of the drawn samples, arrays (runs, n); a first reading is never lost."""
    noise = draws.get("noise")
    return NoiseSample() if noise is None else NoiseSample(noise[:, 0, 0], noise[:, 0, 1])


class Instruments:
    """Sensors at work in a loop of one run: what the controller sees at each sample."""

    def __init__(self, sensors: Sensors, period: float, samples: int, n: int, seed: Any) -> None:
        self.kind, self.period = Sensing.of(sensors), period
        self.resolution = sensors.resolutions(n)
        self._draws = NoiseGenerator(sensors, n, 1, seed).draws(samples + 1)  # one at the end of the run
        self._memory: dict[str, Any] | None = None
        self._at = 0

    def read(self, q: NDArray, qd: NDArray) -> tuple[NDArray, NDArray]:
        """Positions and velocities (n,) as measured at the next sample."""
        kind, k, truth = self.kind, self._at, (q, qd)
        if self._memory is None:
            draw = NoiseSample(*(np.ravel(x) for x in first_draw(self._draws)))
            self._memory = first_memory(kind, truth, draw, self.resolution, self.period)
        noise = self._draws["noise"][0, k] if kind.noisy else (0.0, 0.0)
        lost = self._draws["lost"][0, k, 0] if kind.lossy else 0.0
        draw = NoiseSample(noise[0], noise[1], lost)
        q, qd, self._memory = reading(kind, self._memory, truth, draw, self.resolution, self.period)
        self._at += 1
        return q, qd
