"""How far parameters can be off at worst: the perturbation bound of least squares, Kapadia, equation (4.1).

Standard deviations say how far noise throws the estimate as a rule. The bound says how far errors of these sizes could
throw it if they conspired: noise of positions in every column of the regressor, and all that the model leaves
unexplained along the direction that the motion shows least. Columns have unit length here, as section 4.3 asks for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.equations import Equations
from armdyn.identification.fit.rows import Rows, grid
from armdyn.identification.fit.spread import places
from armdyn.identification.motion.differentiate import MAX_JUDGED, METHODS, differentiate
from armdyn.identification.motion.track import CUTOFF_HZ


class Perturbation(NamedTuple):
    """Errors of the two sides, and the bound for the parameters of the plain model that follows."""

    regressor_error: float  # spectral norm of the regressor's error over that of the regressor, columns of unit length
    torque_error: float  # norm of the unexplained torque over that of the torque, both weighted
    relative: float  # bound of norm(x - truth) over norm(x), columns of unit length; infinite: nothing is certain
    parameters: NDArray  # (p,) how far each parameter can be off at most


def lawson_hanson(
    largest: float, smallest: float, x: float, residual: float, regressor_error: float, torque_error: float
) -> float:
    """Bound of norm(x - truth) from the regressor's singular values and the norms of x, residual and errors.

    Lawson and Hanson (1974), as Kapadia, equation (4.1).
    """
    if not smallest - regressor_error > 0:
        return np.inf
    condition = largest / smallest
    inner = regressor_error * (x + residual / smallest) + torque_error
    return condition * inner / (largest * (1 - regressor_error / smallest))


def perturbation(rows: Rows, equations: Equations, used: NDArray, x: NDArray) -> Perturbation:
    """The bound for the weighted least squares x (size,) of the columns that are used."""
    k = np.flatnonzero(used)
    A, _, squares = equations.total(k)
    length = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values = np.linalg.eigvalsh(A / np.outer(length, length))
    largest, smallest = np.sqrt(values[-1]), np.sqrt(max(values[0], 0.0))
    residual = float(np.sqrt(equations.errors(x) @ equations.weights**2))
    torque = float(np.sqrt(squares))
    noise = _regressor_error(rows, equations, k, length)
    scaled = float(np.linalg.norm(x[k] * length))
    bound = lawson_hanson(largest, smallest, scaled, residual, noise, residual)
    return Perturbation(noise / largest, residual / max(torque, 1e-300), bound / max(scaled, 1e-300), bound / length)


def _regressor_error(rows: Rows, equations: Equations, k: NDArray, length: NDArray) -> float:
    """Spectral norm of what noise of the size that smoothing took from the positions changes in the columns k."""
    whole = rows.tracks[0]
    last = max(MAX_JUDGED, 4 * len(grid(whole, rows.filters.band)[0]))
    s = whole.part(slice(0, last))
    cutoff = rows.filters.cutoff or CUTOFF_HZ
    noisy = differentiate(
        s.q + s.noise * np.random.default_rng(0).normal(size=s.q.shape), s.dt, method=METHODS[0], cutoff=cutoff
    )
    clean = differentiate(s.q, s.dt, method=METHODS[0], cutoff=cutoff)
    terms = np.zeros(equations.size - equations.count, bool)
    terms[k[k >= equations.count] - equations.count] = True
    wanted = np.asarray(terms.reshape(equations.n, -1).any(axis=0))
    first, second = (rows.part_of(s._replace(q=m.q, qd=m.qd, qdd=m.qdd), wanted).Y for m in (clean, noisy))
    change = second - first
    gram = np.zeros((len(k), len(k)))
    for kind, weight in enumerate(equations.weights):
        here, at = places(equations.owns[kind], k)
        D = weight * change[kind][:, here]
        gram[np.ix_(at, at)] += D.T @ D
    gram *= equations.samples.sum() / max(change.shape[1], 1)
    return float(np.sqrt(np.linalg.eigvalsh(gram / np.outer(length, length))[-1]))
