"""Joint motions made of polynomials of degree five, joined in position, velocity and, if wanted, acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import expect
from armdyn.trajectory.protocol import HoldAtEnds, JointMotion


@dataclass(frozen=True, eq=False)
class PiecewiseQuintic(HoldAtEnds):
    """A polynomial of degree five in each interval between knots.

    Parameters
    ----------
    knots : ndarray, shape (K + 1,)
        Ascending times from 0 [s].
    coefficients : ndarray, shape (K, 6, n)
        Coefficients of powers 0 to 5 of the part (0 to 1) of the interval that has passed.
    """

    knots: NDArray
    coefficients: NDArray

    def __post_init__(self) -> None:
        fits = self.knots.ndim == 1 and self.coefficients.shape[:2] == (len(self.knots) - 1, 6)
        got = f"{self.knots.shape} and {self.coefficients.shape}"
        expect(fits, "PiecewiseQuintic", "K + 1 knots and coefficients (K, 6, n)", got=got)
        expect(self.knots[0] == 0 and (np.diff(self.knots) > 0).all(), "PiecewiseQuintic", "ascending knots from 0")

    @classmethod
    def through(cls, knots: NDArray, start: JointMotion, end: JointMotion) -> PiecewiseQuintic:
        """Build it from the motions (K, n) at the start and at the end of each interval."""
        h = np.diff(knots)[:, None]
        q, v, a = start.q, h * start.qd, h**2 / 2 * start.qdd
        # What the end asks beyond the first three terms, of position, velocity and acceleration
        x, y, z = end.q - q - v - a, h * end.qd - v - 2 * a, h**2 * end.qdd - 2 * a
        rest = (10 * x - 4 * y + z / 2, -15 * x + 7 * y - z, 6 * x - 3 * y + z / 2)
        return cls(np.asarray(knots), np.stack([q, v, a, *rest], axis=1))

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.knots[-1])

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.coefficients.shape[2]

    def inside(self, t: NDArray) -> JointMotion:
        """Joint motion at times from 0 to `duration`."""
        k = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)
        h = (self.knots[k + 1] - self.knots[k])[..., None]
        x = (t - self.knots[k])[..., None] / h
        c = np.moveaxis(self.coefficients[k], -2, 0)
        q = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))))
        qd = (c[1] + x * (2 * c[2] + x * (3 * c[3] + x * (4 * c[4] + x * 5 * c[5])))) / h
        qdd = (2 * c[2] + x * (6 * c[3] + x * (12 * c[4] + x * 20 * c[5]))) / h**2
        return JointMotion(q, qd, qdd)
