"""A rigid body in symbols, and how it looks from other frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.motion import is_identity, rotate
from armdyn.spatial import inertia as inertial
from armdyn.trace.symbols import Symbol, ca

NEGLIGIBLE_ENTRY = 1e-18

Wrench = tuple[Symbol, Symbol]  # a force and a moment


def link_theta(theta: Symbol, i: int) -> Symbol:
    """The ten parameters of link i."""
    return theta[inertial.entries(i)]


def parameter_row(mass: Symbol, first: Symbol, a: Symbol, b: Symbol) -> Symbol:
    """m mass + h.first + a.I b as a row over the ten parameters."""
    row = ca.SX.zeros(1, inertial.SIZE)
    row[inertial.MASS], row[inertial.FIRST] = mass, first.T
    for i in range(3):
        row[int(inertial.TENSOR[i, i])] = a[i] * b[i]
        for k in range(i):
            row[int(inertial.TENSOR[i, k])] = a[i] * b[k] + a[k] * b[i]
    return row


def symmetric(xx: Symbol, xy: Symbol, xz: Symbol, yy: Symbol, yz: Symbol, zz: Symbol) -> Symbol:
    """The 3x3 matrix of six entries, those below the diagonal being the very same symbols."""
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class Body(NamedTuple):
    """Mass, first moments and tensor about the frame's origin."""

    m: Symbol
    h: Symbol
    I: Symbol

    @classmethod
    def of(cls, theta: Symbol) -> Body:
        """The body with the ten parameters `theta`."""
        rows = [[theta[int(k)] for k in row] for row in inertial.TENSOR]
        return cls(theta[inertial.MASS], theta[inertial.FIRST], ca.blockcat(rows))

    @property
    def theta(self) -> Symbol:
        """The ten parameters of the body."""
        entries = {int(inertial.TENSOR[r, c]): self.I[r, c] for r in range(3) for c in range(r, 3)}
        return ca.vertcat(self.m, self.h, *(entries[k] for k in sorted(entries)))

    def joined(self, other: Body) -> Body:
        """Both bodies as one."""
        return Body(self.m + other.m, self.h + other.h, self.I + other.I)

    def shifted(self, p: Symbol) -> Body:
        """The body seen from a frame in which the present origin is at `p`; the axes stay."""
        p = ca.SX(p)
        if p.is_zero():
            return self
        h, k = self.h, self.h + self.m * p
        # I' = I + (h.p + k.p) 1 - k p' - p h', with k the new first moments (Steiner).
        x, y, z = ca.vertsplit((h + k) * p)
        A = ca.mtimes(k, p.T) + ca.mtimes(p, h.T)
        return Body(self.m, k, self.I + symmetric(y + z, -A[0, 1], -A[0, 2], x + z, -A[1, 2], x + y))

    def turned(self, R: NDArray) -> Body:
        """The body described in other axes: vectors v become R v."""
        return Body(self.m, rotate(R, self.h), turned_tensor(R, self.I))


def is_zero(p: Symbol) -> bool:
    """Whether a vector of symbols or numbers is zero whatever they stand for."""
    return bool(ca.SX(p).is_zero())


def cross_z(v: Symbol) -> Symbol:
    """v x z."""
    return ca.vertcat(v[1], -v[0], 0)


def turned_matrix(R: NDArray, A: Symbol) -> Symbol:
    """R A R' for any A and a constant rotation R."""
    return A if is_identity(R) else ca.mtimes(ca.mtimes(R, A), R.T)


def turned_tensor(R: NDArray, A: Symbol) -> Symbol:
    """R A R' for a symmetric A and a constant rotation R, as a linear map of the six entries of A.

    Products of direction cosines below 1e-18 are dropped: beside the others, which are of the order of one,
    they cannot change a double. URDFs with rounded right angles have many.
    """
    if is_identity(R):
        return A
    rows, columns = np.triu_indices(3)
    # The weight of entry (a, b) of A in entry (i, j) of R A R'.
    weights = R[np.ix_(rows, rows)] * R[np.ix_(columns, columns)]
    weights += (rows != columns) * R[np.ix_(rows, columns)] * R[np.ix_(columns, rows)]
    weights[np.abs(weights) <= NEGLIGIBLE_ENTRY] = 0.0
    turned = ca.mtimes(
        ca.sparsify(ca.DM(weights)), ca.vertcat(*(A[int(a), int(b)] for a, b in zip(rows, columns, strict=True)))
    )
    return symmetric(*(turned[k] for k in range(6)))
