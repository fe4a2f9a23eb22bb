"""The S-curve: a law of motion along a path with limited jerk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.trajectory.timing import Law, Progress


@dataclass(frozen=True)
class SCurve(Law):
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
