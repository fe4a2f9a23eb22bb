"""What the arm's description says about its links before a log is seen, and the covariance of that.

Distances between bodies are measured by their pseudo-inertias P (4, 4): the LogDet divergence

    D(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4

does not depend on units or frames, and is infinite for impossible bodies (Lee, Wensing, Park 2019).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.base.reduction import arm_size
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE, SIX_DIGITS, SOLUTION_ERROR
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia

# Bodies thinner than this fraction of the arm's size are blurred: descriptions with points and rods mean "small".
BLUR_SHARE = 0.05
LIGHTEST_SHARE = 1e-3  # of the heaviest link: the least mass a prior has
NO_PRIOR = 1e-3  # strength of the stand-in bodies behind an arm of unknown inertia: data always win
UNITS = np.array([Inertia(unit).pseudo_inertia for unit in np.eye(inertial.SIZE)])  # (10, 4, 4)


@dataclass(frozen=True, eq=False)
class ReferenceBodies:
    """Bodies to stay near to; `known` is false where the arm's description has none and they are mere stand-ins."""

    bodies: NDArray  # (n, 4, 4) pseudo-inertias, positive definite
    theta: NDArray  # (10 n,) their parameters
    known: bool
    wide: tuple[int, ...] = ()  # links of which nothing is described beside others that are

    @classmethod
    def of(cls, arm: Arm) -> ReferenceBodies:
        """The arm's own links, or stand-ins where they are unknown: as heavy as the others, where some are known."""
        described = [link.inertia for link in arm.links if np.isfinite(link.inertia.theta).all()]
        if not any(np.any(link.theta) for link in described):
            return cls.stand_in(arm)
        mass = max(float(np.median([link.mass for link in described])), 1e-6)
        wide = np.isnan(arm.theta.reshape(arm.n_joints, -1)).any(axis=1)
        links = [_generic(arm, mass) if some else link.inertia for some, link in zip(wide, arm.links, strict=True)]
        return replace(cls._of(links, arm, True), wide=tuple(np.flatnonzero(wide).tolist()))

    @classmethod
    def stand_in(cls, arm: Arm) -> ReferenceBodies:
        """Bodies of 1 kg about as large as a link."""
        return cls._of([_generic(arm, 1.0)] * arm.n_joints, arm, False)

    @classmethod
    def _of(cls, links: list[Inertia], arm: Arm, known: bool) -> ReferenceBodies:
        heaviest = max(link.mass for link in links)
        bodies = np.array([_blur(link, arm_size(arm), heaviest) for link in links])
        return cls(bodies, np.concatenate([_parameters(P) for P in bodies]), known)

    @cached_property
    def covariance(self) -> NDArray:
        """Covariance of theta (10 n, 10 n) about the bodies, whose own size is one standard deviation, or many if
        unknown.
        """
        size = np.ones((len(self.bodies), inertial.SIZE))
        size[list(self.wide)] = 1 / np.sqrt(NO_PRIOR)
        return np.linalg.inv(self.metric) * np.outer(size, size)

    @cached_property
    def inverses(self) -> NDArray:
        """(n, 4, 4)"""
        return np.linalg.inv(self.bodies)

    @cached_property
    def metric(self) -> NDArray:
        """Curvature (10 n, 10 n) of the divergence at the reference."""
        return hessian(self.inverses)


def why_no_prior(arm: Arm) -> str:
    """Why the described inertia cannot be what the arm has, or nothing; bodies that are a trace too thin may be."""
    theta = arm.theta.reshape(-1, inertial.SIZE)
    described = [(name, body) for name, body in zip(arm.link_names, theta, strict=True) if not np.isnan(body).any()]
    if not any(body.any() for _, body in described):
        return "no inertia is described"
    blur = (BLUR_SHARE * arm_size(arm)) ** 2 * np.diag([1.0, 1.0, 1.0, 0.0])
    for name, body in described:
        if body[0] < 0:
            return f"link '{name}' has the mass {body[0]:.3g} kg"
        P = np.einsum("a,ajk->jk", body, UNITS) + body[0] * blur
        if np.linalg.eigvalsh(P)[0] < -1e-9 * max(np.trace(P), 1e-300):
            return f"link '{name}' is described as no body can be"
    return ""


def determined(information: NDArray, reference: ReferenceBodies) -> NDArray:
    """Whether data tell each parameter (n, 10) to better than a body's own size, with hardly any prior to help.

    Parameters
    ----------
    information : ndarray, shape (10 n + k, 10 n + k)
        Inverse covariance of theta and of k other parameters by the data, in which the others' own prior is.
    reference : ReferenceBodies
    """
    links = len(reference.theta)
    both = information.copy()
    both[:links, :links] += NO_PRIOR * reference.metric
    scale = 1 / np.sqrt(np.maximum(np.diag(both), 1e-300))
    after = np.diag(np.linalg.pinv(both * np.outer(scale, scale), hermitian=True))[:links] * scale[:links] ** 2
    return np.asarray(after < np.diag(np.linalg.inv(reference.metric))).reshape(-1, inertial.SIZE)


def precision_in(base: BaseParameters, covariance: NDArray) -> NDArray:
    """Precision (count, count) of base parameters whose links have a covariance (10 n, 10 n); finite always."""
    P = base.P[:, : len(covariance)]
    return precision_of(P @ covariance @ P.T)


def precision_of(covariance: NDArray) -> NDArray:
    """Return the inverse of a covariance (p, p), floored so that nothing overflows."""
    size = np.diag(covariance)
    scale = 1 / np.sqrt(np.maximum(size, SOLUTION_ERROR * max(size.max(initial=0.0), 1e-300)))
    values, vectors = np.linalg.eigh(covariance * np.outer(scale, scale))
    return (vectors / np.maximum(values, NEGLIGIBLE)) @ vectors.T * np.outer(scale, scale)


GYRATION = 0.25  # radius of generic bodies, and distance from the line between the joints, relative to its length


def generic_covariance(arm: Arm) -> NDArray:
    """Second moments (10 n, 10 n) of random bodies of about 1 kg strung along each link: nothing else is known of them.

    Masses are log-normal, centres lie between the joints at the link's ends and beside, radii of gyration are a
    quarter of the link's length, which is at least half the mean one.
    """
    return _generic_covariance(_ends(arm).tobytes(), 0.1 * arm_size(arm))


@lru_cache(maxsize=8)
def _generic_covariance(places: bytes, least: float) -> NDArray:
    ends = np.frombuffer(places).reshape(-1, 2, 3)
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    shortest = max(0.5 * float(lengths.mean()), least, 1e-3)
    n, size = len(ends), inertial.SIZE
    covariance, to_theta = np.zeros((size * n, size * n)), np.linalg.pinv(UNITS.reshape(size, 16).T)
    # Three nodes integrate polynomials of the fifth degree: places along the line, and about it in three directions.
    (along, of_line), (about, of_normal) = np.polynomial.legendre.leggauss(3), np.polynomial.hermite_e.hermegauss(3)
    u, *z = (x.ravel() for x in np.meshgrid((1 + along) / 2, about, about, about, indexing="ij"))
    weights = np.einsum("i,j,k,l->ijkl", of_line, of_normal, of_normal, of_normal).ravel()
    weights /= weights.sum()
    for i, (first, last) in enumerate(ends):
        length = max(float(lengths[i]), shortest)
        point = np.ones((len(u), 4))
        point[:, :3] = first + (last - first) * u[:, None] + GYRATION * length * np.stack(z, axis=1)
        # Moments of log-normal radii and masses, whose logarithms deviate by 0.4 and 0.5.
        square = (GYRATION * length) ** 2 * np.exp(0.32)
        spread = square**2 * np.expm1(0.64)
        P = point[:, :, None] * point[:, None] + square * np.diag([1.0, 1.0, 1.0, 0.0])
        theta, axes = to_theta @ P.reshape(-1, 16).T, to_theta[:, [0, 5, 10]]
        k = slice(size * i, size * (i + 1))
        moments = np.exp(0.5) * ((theta * weights) @ theta.T + spread * axes @ axes.T)
        covariance[k, k] = moments + NEGLIGIBLE * np.diag(np.diag(moments))
    covariance.flags.writeable = False
    return covariance


def _ends(arm: Arm) -> NDArray:
    """Return where in its own frame each link begins and ends (n, 2, 3): at its joint and at the next one."""
    ends = np.zeros((arm.n_joints, 2, 3))
    for i, joint in enumerate(arm.joints):
        ends[i, 0] = -joint.after[:3, :3].T @ joint.after[:3, 3]
        following = next((arm.joints[k].before for k, parent in enumerate(arm.parents) if parent == i), arm.tool_pose)
        ends[i, 1] = following[:3, 3] if i in arm.parents or i == arm.tip_index else ends[i, 0]
    return ends


def hessian(inverses: NDArray) -> NDArray:
    """Second derivatives (10 n, 10 n) of -sum of log det P over theta: tr(P^-1 U_a P^-1 U_b) a link."""
    n, size = len(inverses), inertial.SIZE
    H, links = np.zeros((n, size, n, size)), np.arange(n)
    H[links, :, links] = hessian_blocks(inverses)
    return H.reshape(size * n, size * n)


def hessian_blocks(inverses: NDArray) -> NDArray:
    """The same (..., 10, 10) of each link, from P^-1 (..., 4, 4)."""
    V = inverses[..., None, :, :] @ UNITS
    left, right = (x.reshape(*inverses.shape[:-2], inertial.SIZE, 16) for x in (V, V.swapaxes(-1, -2)))
    return np.asarray(left @ right.swapaxes(-1, -2))


def pseudo_inertias(theta: NDArray) -> NDArray:
    """(..., n, 4, 4) of theta (..., 10 n)."""
    flat = theta.reshape(*theta.shape[:-1], -1, inertial.SIZE) @ UNITS.reshape(inertial.SIZE, 16)
    return np.asarray(flat.reshape(*flat.shape[:-1], 4, 4))


def _generic(arm: Arm, mass: float) -> Inertia:
    """A body about as large as a link."""
    return Inertia.from_com(mass, (0, 0, 0), mass * np.eye(3) * (0.2 * arm_size(arm)) ** 2)


def _blur(link: Inertia, size: float, heaviest: float) -> NDArray:
    """The pseudo-inertia, made positive definite."""
    P = link.pseudo_inertia.copy()
    P[3, 3] = max(P[3, 3], LIGHTEST_SHARE * heaviest, 1e-6)
    P[:3, :3] += P[3, 3] * (BLUR_SHARE * size) ** 2 * np.eye(3)
    values, vectors = np.linalg.eigh(P)
    return vectors * np.maximum(values, SIX_DIGITS * values[-1]) @ vectors.T


def _parameters(P: NDArray) -> NDArray:
    """theta (10,) of a pseudo-inertia."""
    sigma = P[:3, :3]
    return Inertia.from_tensor(P[3, 3], P[:3, 3], np.trace(sigma) * np.eye(3) - (sigma + sigma.T) / 2).theta
