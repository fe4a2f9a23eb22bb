"""What the arm's description says about its links before a log is seen, and how much of it to believe.

Distances between bodies are measured by their pseudo-inertias P (4, 4): the LogDet divergence

    D(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4

does not depend on units or frames, and is infinite for impossible bodies (Lee, Wensing, Park 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.base.reduction import arm_size
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia

# Bodies thinner than this fraction of the arm's size are blurred: descriptions with points and rods mean "small".
BLUR = 0.05
LIGHTEST = 1e-3  # of the heaviest link: the least mass a prior has
NO_PRIOR = 1e-3  # strength of the stand-in bodies behind an arm of unknown inertia: data always win
UNITS = np.array([Inertia(unit).pseudo_inertia for unit in np.eye(inertial.SIZE)])  # (10, 4, 4)


@dataclass(frozen=True, eq=False)
class Prior:
    """Bodies to stay near to; `known` is false where the arm's description has none and they are mere stand-ins."""

    bodies: NDArray  # (n, 4, 4) pseudo-inertias, positive definite
    theta: NDArray  # (10 n,) their parameters
    known: bool

    @classmethod
    def of(cls, arm: Arm) -> Prior:
        """The arm's own links, or bodies of 1 kg about as large as a link where they are unknown."""
        size = arm_size(arm)
        known = not np.isnan(arm.theta).any() and bool(np.any(arm.theta))
        if not known:
            links = [Inertia.from_com(1.0, (0, 0, 0), np.eye(3) * (0.2 * size) ** 2)] * arm.n
        else:
            links = [link.inertia for link in arm.links]
        heaviest = max(link.mass for link in links)
        bodies = np.array([_blurred(link, size, heaviest) for link in links])
        return cls(bodies, np.concatenate([_parameters(P) for P in bodies]), known)

    @cached_property
    def inverses(self) -> NDArray:
        """(n, 4, 4)"""
        return np.linalg.inv(self.bodies)

    @cached_property
    def metric(self) -> NDArray:
        """Curvature (10 n, 10 n) of the divergence at the prior."""
        return hessian(self.inverses)

    def inertia(self, arm: Arm) -> float:
        """What the bodies' whole mass has at the distance of the arm's size [kg m²]."""
        return float(self.bodies[:, 3, 3].sum()) * arm_size(arm) ** 2

    def base_precision(self, base: BaseParameters, more: NDArray) -> NDArray:
        """The same knowledge about base parameters: inverse of P metric^-1 P', zero where nothing is known.

        `more` (count, k) are further independent uncertainties, one standard deviation each, such as of rotors.
        """
        if not self.known:
            return np.zeros((base.count, base.count))
        P = base.P[:, : len(self.theta)]
        covariance = P @ np.linalg.inv(self.metric) @ P.T + more @ more.T
        return np.linalg.inv((covariance + covariance.T) / 2)


def hessian(inverses: NDArray) -> NDArray:
    """Second derivatives (10 n, 10 n) of -sum of log det P over theta: tr(P^-1 U_a P^-1 U_b) a link."""
    n, size = len(inverses), inertial.SIZE
    H = np.zeros((size * n, size * n))
    for i, inverse in enumerate(inverses):
        V = inverse @ UNITS
        H[size * i : size * (i + 1), size * i : size * (i + 1)] = np.einsum("aij,bji->ab", V, V)
    return H


def pseudo_inertias(theta: NDArray) -> NDArray:
    """(n, 4, 4) of theta (10 n,)."""
    return np.einsum("ia,ajk->ijk", theta.reshape(-1, inertial.SIZE), UNITS)


def _blurred(link: Inertia, size: float, heaviest: float) -> NDArray:
    """The pseudo-inertia, made positive definite."""
    P = link.pseudo_inertia.copy()
    P[3, 3] = max(P[3, 3], LIGHTEST * heaviest, 1e-6)
    P[:3, :3] += P[3, 3] * (BLUR * size) ** 2 * np.eye(3)
    values, vectors = np.linalg.eigh(P)
    return vectors * np.maximum(values, 1e-9 * values[-1]) @ vectors.T


def _parameters(P: NDArray) -> NDArray:
    """theta (10,) of a pseudo-inertia."""
    sigma = P[:3, :3]
    return Inertia.from_tensor(P[3, 3], P[:3, 3], np.trace(sigma) * np.eye(3) - (sigma + sigma.T) / 2).theta
