"""A body's ten parameters as its pseudo-inertia, positive definite for consistent bodies (Wensing et al. 2018).

P(phi) = sum phi_k E_k, the integral of [r; 1] [r; 1]' dm
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.unknowns import AdaptiveParameters
from armdyn.spatial import inertia as inertial
from armdyn.trace.symbols import Symbol, ca, diagonal

BODY = inertial.SIZE
# Typical extent of loads [m] and least eigenvalue of their pseudo-inertia in that unit of length [kg].
LOAD_SIZE_M, MIN_EIGENVALUE_KG = 0.1, 1e-4
# Sweeps of Jacobi's method: it converges quadratically, 4x4 matrices are diagonal to round-off after five.
JACOBI_SWEEPS = 5


@cache
def units() -> NDArray:
    """E (10, 4, 4)."""
    return np.array([inertial.Inertia(unit).pseudo_inertia for unit in np.eye(BODY)])


def gram() -> NDArray:
    """Scalar products (10, 10) of the E."""
    return np.einsum("kij,lij->kl", units(), units())


def pseudo_inertia(phi: ArrayLike) -> NDArray:
    """Pseudo-inertia matrices (..., 4, 4) of bodies (..., 10)."""
    return np.einsum("...k,kij->...ij", np.asarray(phi, float), units())


def is_body(unknowns: AdaptiveParameters) -> bool:
    """Whether the first ten unknowns are those of one load."""
    return unknowns.S.shape[1] == BODY and unknowns.names[:BODY] == tuple(f"{name} of load" for name in inertial.NAMES)


def small_ball() -> NDArray:
    """A physically consistent body to start from: a ball of 0.1 kg and 5 cm."""
    moment = 0.1 * 0.4 * 0.05**2
    return np.array([0.1, 0, 0, 0, moment, 0, moment, 0, 0, moment])


# -- symbols ------------------------------------------------------------------------------------------------


def assemble(x: Symbol) -> Symbol:
    """The matrix sum x_k E_k (4, 4)."""
    total = ca.SX.zeros(4, 4)
    for k, unit in enumerate(units()):
        total = total + x[k] * ca.sparsify(ca.DM(unit))
    return total


def dual(rate: Symbol) -> Symbol:
    """The matrix B (4, 4) with tr(B P(x)) = rate' x for all x."""
    return assemble(ca.mtimes(ca.DM(np.linalg.inv(gram())), rate))


def parameters(P: Symbol) -> Symbol:
    """The ten parameters of a pseudo-inertia."""
    back = np.einsum("kl,lij->kij", np.linalg.inv(gram()), units())
    return ca.vertcat(*(ca.sum1(ca.sum2(ca.DM(back[k]) * P)) for k in range(BODY)))


def scaling(size: Symbol | float) -> Symbol:
    """Factors (4, 4) that make all entries of a pseudo-inertia masses, lengths being measured in `size` [m]."""
    length = ca.vertcat(*([1 / size] * 3), 1)
    return ca.mtimes(length, length.T)


def possible_body(phi: Symbol) -> Symbol:
    """The physically consistent body nearest to ten numbers phi; phi itself, up to round-off, if it is one."""
    scale = scaling(LOAD_SIZE_M)
    return parameters(within(scale * assemble(phi), MIN_EIGENVALUE_KG, np.inf) / scale)


def within(P: Symbol, least: Symbol | float, largest: Symbol | float) -> Symbol:
    """The symmetric matrix P with its eigenvalues brought between two bounds; P itself if they are there.

    Of all matrices within the bounds the nearest, by the norm of Frobenius and by the log-det divergence alike.
    """
    values, V = diagonal(P, JACOBI_SWEEPS)
    lifted = ca.diag(ca.vertcat(*(ca.fmin(ca.fmax(least - value, 0), largest - value) for value in values)))
    return P + ca.mtimes([V, lifted, V.T])
