"""How far along a path at which time: laws s(t) from 0 to a length, with exact derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import check_positive
from armdyn.trajectory.protocol import HoldAtEnds, MotionSegment


class Progress(NamedTuple):
    """Distance along a path, its rate and the rate of that, each of the times' shape."""

    s: NDArray
    sd: NDArray
    sdd: NDArray


class Timing(Protocol):
    """A law of motion along a path: `s, sd, sdd = timing(t)` for 0 <= t <= duration, at rest outside."""

    @property
    def length(self) -> float: ...  # noqa: D102
    @property
    def duration(self) -> float: ...  # noqa: D102
    @property
    def breaks(self) -> tuple[float, ...]: ...  # noqa: D102
    def __call__(self, t: ArrayLike) -> Progress: ...  # noqa: D102


@dataclass(frozen=True)
class TimeLaw(HoldAtEnds):
    """A law of motion by numbers, all of them > 0."""

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, **vars(self))

    @property
    def breaks(self: MotionSegment[Any]) -> tuple[float, ...]:
        """Times between which the acceleration is smooth: the ends, unless the law has others."""
        return (0.0, self.duration)


Polynomial = TypeVar("Polynomial", bound="RestToRest")


@dataclass(frozen=True)
class RestToRest(TimeLaw, ABC):
    """A polynomial from rest to rest.

    Parameters
    ----------
    length : float
        Distance to go [m or rad].
    duration : float
        Time for it [s].
    """

    length: float
    duration: float

    # Largest velocity and acceleration over the unit interval.
    peak_velocity: ClassVar[float]
    peak_acceleration: ClassVar[float]

    @classmethod
    def within(cls: type[Polynomial], length: float, velocity: float, acceleration: float) -> Polynomial:
        """The fastest one that keeps to a velocity and an acceleration."""
        check_positive(f"{cls.__name__}.within", length=length, velocity=velocity, acceleration=acceleration)
        slow = cls.peak_velocity * length / velocity
        return cls(length, max(slow, float(np.sqrt(cls.peak_acceleration * length / acceleration))))

    @staticmethod
    @abstractmethod
    def unit(x: NDArray) -> Progress:
        """The motion over the unit interval."""

    def inside(self, t: NDArray) -> Progress:
        """Distance, velocity and acceleration at times from 0 to `duration`."""
        s, sd, sdd = self.unit(t / self.duration)
        rate = self.length / self.duration
        return Progress(self.length * s, rate * sd, rate / self.duration * sdd)


class Cubic(RestToRest):
    """Motion from rest to rest; the acceleration jumps at both ends. Parameters as of `RestToRest`."""

    peak_velocity = 3 / 2
    peak_acceleration = 6.0

    @staticmethod
    def unit(x: NDArray) -> Progress:
        """3 x² - 2 x³."""
        return Progress(x**2 * (3 - 2 * x), 6 * x * (1 - x), 6 - 12 * x)


class Quintic(RestToRest):
    """Motion from rest to rest with accelerations that begin and end at zero. Parameters as of `RestToRest`."""

    peak_velocity = 15 / 8
    peak_acceleration = 10 / np.sqrt(3)

    @staticmethod
    def unit(x: NDArray) -> Progress:
        """10 x³ - 15 x⁴ + 6 x⁵."""
        return Progress(x**3 * (10 + x * (6 * x - 15)), 30 * x**2 * (1 - x) ** 2, 60 * x * (1 - x) * (1 - 2 * x))


@dataclass(frozen=True)
class Trapezoid(TimeLaw):
    """The fastest motion from rest to rest within a velocity and an acceleration; a triangle if short.

    Parameters
    ----------
    length : float
        Distance to go [m or rad].
    velocity, acceleration : float
        Largest values of both [/s, /s²].
    """

    length: float
    velocity: float
    acceleration: float

    @property
    def ramp(self) -> float:
        """Time of speeding up, and of slowing down [s]."""
        return min(self.velocity / self.acceleration, float(np.sqrt(self.length / self.acceleration)))

    @property
    def peak(self) -> float:
        """Velocity that is reached."""
        return self.acceleration * self.ramp

    @property
    def duration(self) -> float:
        """Time for the whole distance [s]."""
        return self.length / self.peak + self.ramp

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times between which the acceleration is constant."""
        ends = (0.0, self.ramp, self.duration - self.ramp, self.duration)
        # A triangle has no cruise; round-off may leave one of no length.
        return ends if ends[2] - ends[1] > 1e-12 * self.duration else (0.0, self.ramp, self.duration)

    def inside(self, t: NDArray) -> Progress:
        """Distance, velocity and acceleration at times from 0 to `duration`."""
        a, left = self.acceleration, self.duration - t
        rising, falling = t < self.ramp, t >= self.breaks[-2]
        s = np.where(rising, a * t**2 / 2, self.peak * (t - self.ramp / 2))
        s = np.where(falling, self.length - a * left**2 / 2, s)
        sd = a * np.minimum(np.minimum(t, left), self.ramp)
        return Progress(s, sd, np.where(falling, -a, np.where(rising, a, 0.0)))


@dataclass(frozen=True)
class ConstantAcceleration(TimeLaw):
    """Motion from rest with constant acceleration: it does not end at rest.

    Parameters
    ----------
    acceleration : float
        [m/s² or rad/s²].
    duration : float
        [s].
    """

    acceleration: float
    duration: float

    @property
    def length(self) -> float:
        """Distance gone at the end."""
        return self.acceleration * self.duration**2 / 2

    def inside(self, t: NDArray) -> Progress:
        """Distance, velocity and acceleration at times from 0 to `duration`."""
        a = self.acceleration
        return Progress(a * t**2 / 2, a * t, np.full_like(t, a))


@dataclass(frozen=True)
class SCurve(TimeLaw):
    """The fastest motion from rest to rest within a velocity, an acceleration and a jerk.

    Parameters
    ----------
    length : float
        Distance to go [m or rad].
    velocity, acceleration, jerk : float
        Largest values [/s, /s², /s³].
    """

    length: float
    velocity: float
    acceleration: float
    jerk: float

    @cached_property
    def phases(self) -> NDArray:
        """Durations (7,) of the phases of jerk +, 0, -, 0, -, 0, + [s]."""
        L, V, A, J = self.length, self.velocity, self.acceleration, self.jerk
        ramp, bend = self._ramp(V)
        if V * ramp > L:  # the velocity is not reached: V' ramp(V') = L
            V = A / 2 * (np.sqrt((A / J) ** 2 + 4 * L / A) - A / J)
            if V < A**2 / J:
                V = np.cbrt(J * L**2 / 4)  # nor is the acceleration: ramp = 2 sqrt(V' / J)
            ramp, bend = self._ramp(V)
        cruise = max(0.0, L / V - ramp)
        return np.array([bend, ramp - 2 * bend, bend, cruise, bend, ramp - 2 * bend, bend])

    def _ramp(self, velocity: float) -> tuple[float, float]:
        """Time from rest to a velocity, and the part of it in which the acceleration grows."""
        if velocity * self.jerk >= self.acceleration**2:
            bend = self.acceleration / self.jerk
            return bend + velocity / self.acceleration, bend
        bend = float(np.sqrt(velocity / self.jerk))
        return 2 * bend, bend

    @property
    def duration(self) -> float:
        """Time for the whole distance [s]."""
        return float(self.phases.sum())

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times between which the jerk is constant."""
        ends = np.cumsum(self.phases)
        return (0.0, *(float(x) for x, h in zip(ends, self.phases, strict=True) if h > 1e-12 * ends[-1]))

    @cached_property
    def _knots(self) -> NDArray:
        """Rows t, s, sd, sdd, jerk at the start of every phase (7, 5)."""
        rows = np.zeros((8, 5))
        for k, (h, sign) in enumerate(zip(self.phases, (1, 0, -1, 0, -1, 0, 1), strict=True)):
            t, s, v, a, _ = rows[k]
            j = rows[k, 4] = sign * self.jerk
            rows[k + 1, :4] = t + h, s + h * (v + h * (a / 2 + h * j / 6)), v + h * (a + h * j / 2), a + h * j
        return rows[:7]

    def inside(self, t: NDArray) -> Progress:
        """Distance, velocity and acceleration at times from 0 to `duration`."""
        k = np.clip(np.searchsorted(self._knots[:, 0], t, side="right") - 1, 0, 6)
        begin, s, v, a, j = np.moveaxis(self._knots[k], -1, 0)
        h = t - begin
        return Progress(s + h * (v + h * (a / 2 + h * j / 6)), v + h * (a + h * j / 2), a + h * j)
