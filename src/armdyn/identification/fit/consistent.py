"""The physically consistent fit: physically consistent bodies, friction that brakes, near to the prior.

    minimise  x'Ax/2 - b'x + strength * sum_i D(P_i, P0_i) - barrier * sum log(room)

over all ten parameters of every link and the joint terms; room is the distance from each bound: of friction, which
brakes, and of masses where some are known. It is convex, and its terms keep every iterate possible; Newton's method
with a line search always ends, and its decrement bounds what is left to gain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.equations import System
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.prior import UNITS, Prior, hessian, pseudo_inertias

BARRIER_WEIGHT = 1e-2  # of the logarithms that keep to the bounds, in units of half a squared sigma
MIN_RIDGE = 1e-13  # least addition to the diagonal of a scaled Hessian that is singular to round-off
CERTIFIED_DECREMENT = 1e-9  # of Newton's method (squared, halved), at which the minimum is certified; same units
MAX_STEPS = 100  # of Newton's method per stage, far more than self-concordant functions need
GENTLE_SHARE = 1e-2  # of what is to be gained: strength from which Newton takes few steps; of that, where a stage ends
LAST_STAGES = 3  # that are left for a problem similar to one that was solved
BOUNDARY_EIGENVALUE = 1e-3  # relative to the prior: a body whose smallest one is below it sits on the boundary


class Minimum(NamedTuple):
    """The minimum found."""

    theta: NDArray  # (10 n,)
    joint: NDArray  # (joint parameters,)
    gap: float  # bound of what a better point could gain, relative to one squared sigma
    iterations: int
    boundary: tuple[int, ...]  # links that are barely physically consistent bodies
    inner: NDArray  # all parameters at a minimum further from the walls, to start similar problems from


def consistent_fit(
    system: System,
    prior: Prior,
    strength: float,
    start: NDArray,
    positive: NDArray,
    near: Minimum | None = None,
    masses: MassBounds | None = None,
    more: tuple[NDArray, NDArray] | None = None,
) -> Minimum:
    """Minimise over theta (10 n,) and joint parameters.

    Parameters
    ----------
    system : System
        Normal equations of [theta, joint parameters].
    prior : Prior
    strength : float
        Weight of the divergence from the prior.
    start : ndarray
        Joint parameters to begin with, within `more`.
    positive : ndarray of bool
        Which joint parameters must be positive.
    near : Minimum, optional
        The minimum of a similar problem, from which few steps are left.
    masses : MassBounds, optional
        Between which masses lie.
    more : tuple of ndarray, optional
        Further bounds of the joint parameters y: G (k, joint parameters) and h (k,) of G y > h.
    """
    links = len(prior.theta)
    size = np.maximum(np.abs(start), 1e-6 * max(np.abs(start).max(initial=0.0), 1.0))
    bodies = prior.theta if masses is None else masses.inside(prior.theta)
    x = np.concatenate([bodies, np.where(positive, np.maximum(start, 0.1 * size), start)])
    bounds = _bounds(links, positive, masses, more)
    stages = _stages(system, strength, x)
    if near is not None:
        x, stages = near.inner, stages[-LAST_STAGES:]
    decrement, iterations, inner = np.inf, 0, x
    for number, stage in enumerate(stages, start=1):
        problem = _Problem(system, prior, float(stage), BARRIER_WEIGHT * float(stage) / strength, bounds, links)
        enough = max(CERTIFIED_DECREMENT, GENTLE_SHARE * float(stage) if number < len(stages) else 0.0)
        x, decrement, steps = _newton(problem, x, enough)
        iterations += steps
        inner = x if number <= len(stages) - LAST_STAGES + 1 else inner
    theta = x[:links]
    smallest = np.linalg.eigvals(prior.inverses @ pseudo_inertias(theta)).real.min(axis=1)
    barely = tuple(np.flatnonzero(smallest < BOUNDARY_EIGENVALUE).tolist())
    return Minimum(theta, x[links:], decrement, iterations, barely, inner)


def _stages(system: System, strength: float, x: NDArray) -> NDArray:
    """Strengths of the divergence, each a tenth of the one before: weak ones are steep walls, approached gently."""
    least = _solve(system.A + 1e-12 * np.diag(np.diag(system.A)), system.b)
    values = [y @ system.A @ y / 2 - system.b @ y for y in (x, least)]
    gentle = float(np.clip(GENTLE_SHARE * (values[0] - values[1]), max(strength, 1.0), 1e12 * strength))
    return np.geomspace(gentle, strength, max(LAST_STAGES, int(np.ceil(np.log10(gentle / strength))) + 1))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a step too far is worth infinity, and is halved
def _newton(problem: _Problem, x: NDArray, enough: float) -> tuple[NDArray, float, int]:
    """The minimum by Newton's method with a line search, what is left to gain there, and the number of steps."""
    value, decrement, iterations = problem.value(x), np.inf, 0
    while iterations < MAX_STEPS:
        iterations += 1
        gradient, H = problem.derivatives(x)
        scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        step = -scale * _solve(H * np.outer(scale, scale), scale * gradient)
        decrement = float(-gradient @ step) / 2
        if decrement < enough:
            break
        length, trial_value = 1.0, np.inf
        while length > 1e-12:
            trial_value = problem.value(x + length * step)
            if trial_value <= value - 0.1 * length * 2 * decrement:
                break
            length /= 2
        if not trial_value < value:
            break  # round-off: the decrement says how far from the minimum this is
        x, value = x + length * step, trial_value
    return x, decrement, iterations


def _solve(H: NDArray, gradient: NDArray) -> NDArray:
    """H⁻¹ gradient for H with a unit diagonal; along directions that nothing tells anything about no step is needed.

    Round-off may make a nearly singular H indefinite, and the step one uphill: then its diagonal is made larger.
    """
    from scipy.linalg.lapack import dposv

    flat = 0.0
    while flat < 1.0:
        _, step, failed = dposv(H + flat * np.eye(len(H)) if flat else H, gradient, lower=1)
        if not failed and gradient @ step >= 0:
            return np.asarray(step)
        flat = max(10 * flat, MIN_RIDGE)
    return gradient


class _Bounds(NamedTuple):
    """G x > h"""

    G: NDArray  # (k, parameters)
    h: NDArray  # (k,)


def _bounds(
    links: int, positive: NDArray, masses: MassBounds | None, more: tuple[NDArray, NDArray] | None = None
) -> _Bounds:
    signs = np.eye(len(positive))[positive]
    G, h = np.hstack([np.zeros((len(signs), links)), signs]), np.zeros(len(signs))
    if more is not None:
        G, h = np.vstack([G, np.pad(more[0], ((0, 0), (links, 0)))]), np.concatenate([h, more[1]])
    if masses is None:
        return _Bounds(G, h)
    rows, limits = masses.rows(links)
    return _Bounds(np.vstack([G, np.pad(rows, ((0, 0), (0, len(positive))))]), np.concatenate([h, limits]))


class _Problem(NamedTuple):
    system: System
    prior: Prior
    strength: float
    barrier: float
    bounds: _Bounds
    links: int

    def value(self, x: NDArray) -> float:
        if not np.isfinite(x).all():
            return np.inf
        room = self.bounds.G @ x - self.bounds.h
        bodies = pseudo_inertias(x[: self.links])
        if (room <= 0).any() or np.linalg.eigvalsh(bodies).min() <= 0:
            return np.inf
        fit = x @ self.system.A @ x / 2 - self.system.b @ x
        divergence = np.sum(self.prior.inverses * bodies) - np.linalg.slogdet(bodies)[1].sum()
        return float(fit + self.strength * divergence - self.barrier * np.log(room).sum())

    def derivatives(self, x: NDArray) -> tuple[NDArray, NDArray]:
        inverses = np.linalg.inv(pseudo_inertias(x[: self.links]))
        gradient, H = self.system.A @ x - self.system.b, self.system.A.copy()
        difference = self.prior.inverses - inverses
        gradient[: self.links] += self.strength * np.einsum("ijk,akj->ia", difference, UNITS).ravel()
        H[: self.links, : self.links] += self.strength * hessian(inverses)
        steep = self.bounds.G / (self.bounds.G @ x - self.bounds.h)[:, None]
        gradient -= self.barrier * steep.sum(axis=0)
        H += self.barrier * steep.T @ steep
        return gradient, H
