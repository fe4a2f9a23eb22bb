"""Joint motions as finite Fourier series."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import check_positive
from armdyn.errors import ShapeError, expect
from armdyn.trajectory.protocol import GRID_RATE_HZ, HoldAtEnds, JointMotion

DRIFT_TERMS = 5  # terms of the polynomial


class Basis(NamedTuple):
    """Matrices (N, 2 H + 1) that make positions, velocities and accelerations of a series' coefficients."""

    q: NDArray
    qd: NDArray
    qdd: NDArray


def fourier_basis(t: NDArray, frequency: float, harmonics: int) -> Basis:
    """Return the basis of `q = c_0 + sum_k (a_k sin k w t - b_k cos k w t) / (k w)`, columns in the order c_0, a, b.

    So a_k and b_k are velocities (Swevers et al. 1997, eq. 9).
    """
    rate = 2 * np.pi * frequency * np.arange(1, harmonics + 1)
    sine, cosine = np.sin(np.multiply.outer(t, rate)), np.cos(np.multiply.outer(t, rate))
    one = np.ones((*np.shape(t), 1))
    return Basis(
        np.concatenate([one, sine / rate, -cosine / rate], -1),
        np.concatenate([0 * one, cosine, sine], -1),
        np.concatenate([0 * one, -sine * rate, cosine * rate], -1),
    )


def drift_basis(t: NDArray, duration: float) -> Basis:
    """Return the basis (N, 5) of polynomials of degree 1 to 5 whose velocities are Legendre's P_0 ... P_4 over the
    duration.
    """
    from numpy.polynomial import legendre

    x, unit = 2 * np.asarray(t) / duration - 1, np.eye(DRIFT_TERMS)
    return Basis(
        np.moveaxis(legendre.legval(x, legendre.legint(unit, axis=0)), 0, -1) * (duration / 2),
        np.moveaxis(legendre.legval(x, unit), 0, -1),
        np.moveaxis(legendre.legval(x, legendre.legder(unit, axis=0)), 0, -1) * (2 / duration),
    )


@dataclass(frozen=True, eq=False)
class FourierSeries(HoldAtEnds):
    """`q = c_0 + sum_k (a_k sin k w t - b_k cos k w t) / (k w)` from 0 to `duration`, with w = 2 pi `frequency`.

    A polynomial of degree five may be added, which lets a series begin and end at rest without giving up any of its
    own freedom (Park 2006, Fourier-based optimal excitation trajectories).

    Parameters
    ----------
    coefficients : ndarray, shape (n, 2 H + 1)
        A row per joint: c_0 [rad or m], then a_1 ... a_H and b_1 ... b_H [/s].
    frequency : float
        Frequency of the first harmonic [Hz]; one period need not be the duration.
    duration : float
        [s]; before and after, the joints stand still.
    drift : ndarray, shape (n, 5), optional
        Legendre coefficients of the polynomial's velocity over the duration [/s].
    """

    coefficients: NDArray
    frequency: float
    duration: float
    drift: NDArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", np.array(self.coefficients, float))
        if self.coefficients.ndim != 2 or self.coefficients.shape[1] % 2 == 0:
            raise ShapeError(where="FourierSeries", expected="coefficients (n, 2 H + 1)", got=self.coefficients.shape)
        if self.drift is not None:
            object.__setattr__(self, "drift", np.array(self.drift, float))
            fits = self.drift.shape == (self.n, DRIFT_TERMS)
            expect(fits, "FourierSeries", f"drift ({self.n}, {DRIFT_TERMS})", self.drift.shape)
        check_positive("FourierSeries", frequency=self.frequency, duration=self.duration)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.coefficients)

    @property
    def harmonics(self) -> int:
        """Number of harmonics H."""
        return self.coefficients.shape[1] // 2

    def inside(self, t: NDArray) -> JointMotion:
        """Joint motion at times from 0 to `duration`."""
        motion = [matrix @ self.coefficients.T for matrix in fourier_basis(t, self.frequency, self.harmonics)]
        if self.drift is not None:
            basis = drift_basis(t, self.duration)
            motion = [x + B @ self.drift.T for x, B in zip(motion, basis, strict=True)]
        return JointMotion(*motion)

    def derivative_bound(self, order: int) -> NDArray:
        """Return what no derivative of an order >= 1 of the joints' positions (n,) exceeds at any time.

        Harmonics add up at most; Legendre's polynomials and their derivatives are largest at the ends.
        """
        _, a, b = np.split(self.coefficients, [1, self.harmonics + 1], axis=1)
        rate = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        bound = np.hypot(a, b) @ rate ** (order - 1.0)
        if self.drift is not None:
            ends = np.array([_legendre_at_one(j, order - 1) for j in range(DRIFT_TERMS)])
            bound += np.abs(self.drift) @ ends * (2 / self.duration) ** (order - 1)
        return np.asarray(bound)

    def peaks(self, center: NDArray, rate: float = GRID_RATE_HZ) -> JointMotion:
        """Upper bounds (n,) of abs(q - center), abs(qd) and abs(qdd) at all times.

        Between samples h apart a function leaves the straight line by h² / 8 times its second derivative at most.
        """
        steps = max(4, int(np.ceil(self.duration * rate)))
        q, qd, qdd = self(np.linspace(0.0, self.duration, steps + 1))
        rise = (self.duration / steps) ** 2 / 8
        return JointMotion(
            *(np.abs(x).max(0) + rise * self.derivative_bound(k) for k, x in ((2, q - center), (3, qd), (4, qdd)))
        )


def _legendre_at_one(degree: int, derivative: int) -> float:
    """The largest value of a derivative of Legendre's polynomial P_degree between -1 and 1."""
    if derivative > degree:
        return 0.0
    return factorial(degree + derivative) / (2**derivative * factorial(derivative) * factorial(degree - derivative))


def peak_factor(harmonics: int, samples: int) -> float:
    """Return how far a series may rise above its largest value at `samples` equal steps of its period, as a factor.

    For a trigonometric polynomial p of degree H, max |p| <= max |p(t_k)| / cos(pi H / N), N > 2 H samples
    (Ehlich and Zeller 1964).
    """
    expect(samples > 2 * harmonics, "peak_factor", f"more than {2 * harmonics} samples per period", got=samples)
    return float(1 / np.cos(np.pi * harmonics / samples))
