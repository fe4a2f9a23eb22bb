"""Fourier series within an arm's limits as points of a linear space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.trajectory.excitation.interior_point import Bounds
from armdyn.trajectory.fourier import Basis, FourierSeries, drift_basis, fourier_basis, peak_factor
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import SAMPLES_PER_PERIOD

States = tuple[NDArray, NDArray, NDArray]


@dataclass(frozen=True, eq=False)
class SeriesSpace:
    """Variables x (n, m) are coordinates of the coefficients, such that the motion keeps to its ends."""

    limits: MotionLimits
    duration: float
    harmonics: int
    frequency: float
    at_rest: bool
    samples: int

    def _series_basis(self, t: NDArray) -> Basis:
        """Basis of the coefficients, with those of the polynomial if the motion is to be at rest at its ends."""
        basis = fourier_basis(t, self.frequency, self.harmonics)
        if not self.at_rest:
            return basis
        return Basis(*(np.hstack(pair) for pair in zip(basis, drift_basis(t, self.duration), strict=True)))

    @cached_property
    def directions(self) -> NDArray:
        """Coefficients (c, m) in which a joint may move: all, or those that start and end at rest where they began."""
        if not self.at_rest:
            return np.eye(2 * self.harmonics + 1)
        ends = self._series_basis(np.array([0.0, self.duration]))
        rate = 2 * np.pi * self.frequency
        rows = np.concatenate([np.diff(ends.q, axis=0) * rate, ends.qd, ends.qdd / rate])
        _, s, Vt = np.linalg.svd(rows)
        return Vt[int((s > 1e-9 * s[0]).sum()) :].T

    def _basis(self, t: NDArray) -> Basis:
        """Basis that gives the states of x at some times."""
        return Basis(*(B @ self.directions for B in self._series_basis(t)))

    @cached_property
    def times(self) -> NDArray:
        """Times of the samples [s]."""
        return np.linspace(0.0, self.duration, self.samples, endpoint=False)

    @cached_property
    def basis(self) -> Basis:
        """Basis that gives the samples of x."""
        return self._basis(self.times)

    @cached_property
    def constraint_basis(self) -> Basis:
        """Basis that gives the states of x at which searches look at constraints: enough for the highest harmonic."""
        return self._basis(self._grid(SAMPLES_PER_PERIOD * self.harmonics, max(1.0, self.frequency * self.duration)))

    def _grid(self, per_period: int, periods: float) -> NDArray:
        return np.linspace(0.0, self.duration, int(np.ceil(per_period * periods)) + 1)

    @cached_property
    def bounds(self) -> Bounds:
        """Limits of positions, velocities and accelerations: at all times of a series alone, else see `peak`."""
        # Twice as many as searches look at: between them a series rises by 0.3 % at most.
        count = 2 * SAMPLES_PER_PERIOD * self.harmonics
        t = np.arange(count) / count / self.frequency
        if self.at_rest:
            t = self._grid(count, self.frequency * self.duration)
        factor = peak_factor(self.harmonics, count)
        matrices = (factor * B @ self.directions for B in self._series_basis(t))
        rows = [B / limit[:, None, None] for B, limit in zip(matrices, self._room, strict=True)]
        return Bounds(np.concatenate(rows, axis=1))

    @property
    def _room(self) -> States:
        return self.limits.half_range, self.limits.velocity, self.limits.acceleration

    def series(self, x: NDArray) -> FourierSeries:
        """The motion that x stands for."""
        coefficients = x @ self.directions.T
        coefficients[:, 0] += self.limits.center
        series, drift = np.split(coefficients, [2 * self.harmonics + 1], axis=1)
        return FourierSeries(series, self.frequency, self.duration, drift if self.at_rest else None)

    def states(self, x: NDArray, basis: Basis | None = None) -> States:
        """Positions, velocities, accelerations (N, n) at the samples, or where another basis gives them."""
        basis = self.basis if basis is None else basis
        return basis.q @ x.T + self.limits.center, basis.qd @ x.T, basis.qdd @ x.T

    def at_pose(self, pose: NDArray) -> NDArray:
        """The x that stays in one pose."""
        return np.outer(pose - self.limits.center, self.directions[0])

    def peak(self, x: NDArray) -> float:
        """An upper bound of positions, velocities and accelerations at all times, as parts of their limits."""
        peaks = self.series(x).peaks(self.limits.center)
        return float(max((peak / most).max() for peak, most in zip(peaks, self._room, strict=True)))
