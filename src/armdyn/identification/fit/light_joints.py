"""Plain friction of joints whose torques are small beside those of others: each from its own rows, under the bodies.

The least noise is one for all joints, so that bodies are told by joints that feel them. A light joint's whole torque
may be less than it, and its friction would be taken for nothing; but friction acts on no other joint. So the bodies
stay what they are, and viscous friction, Coulomb friction and offset are then those that the joint's own rows ask for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.equations import Equations
from armdyn.identification.fit.terms import TERMS

LIGHT = 1.0  # deviation of a joint's torque over the least noise, below which the joint is light
PLAIN = np.array([term.kind in ("viscous", "coulomb", "offset") for term in TERMS])
RIDGE = 1e-9  # of the columns' squares: what is not felt stays zero


def light_joints(deviations: NDArray, floor: float) -> NDArray:
    """Joints (k,) whose torques deviate by less than the least noise, a share of the deviation of all."""
    return np.flatnonzero(deviations < LIGHT * floor * np.sqrt(np.mean(deviations**2)))


def with_own_friction(
    equations: Equations, used: NDArray, x: NDArray, joints: NDArray, blocks: NDArray | None = None
) -> NDArray:
    """Parameters x (size,) with the plain friction of some joints as their own rows, of some blocks, ask for."""
    from scipy.optimize import lsq_linear

    x, terms = x.copy(), len(TERMS)
    for j in joints if len(equations.weights) == equations.n else ():
        gram = equations.grams[slice(None) if blocks is None else blocks, j].sum(axis=0)
        first = equations.count + j * terms
        kinds = np.flatnonzero(PLAIN & used[first : first + terms])
        own = x[equations.owns[j]]
        at = equations.count + kinds
        own[at] = 0.0
        A, b = gram[np.ix_(at, at)], gram[at, -1] - gram[at, :-1] @ own
        size = np.sqrt(np.maximum(np.diag(A), 1e-300))
        root = np.linalg.cholesky(A / np.outer(size, size) + RIDGE * np.eye(len(at)))
        least = np.where([TERMS[k].positive for k in kinds], 0.0, -np.inf)
        found = lsq_linear(root.T, np.linalg.solve(root, b / size), (least, np.inf))
        x[first + kinds] = found.x / size
    return x
