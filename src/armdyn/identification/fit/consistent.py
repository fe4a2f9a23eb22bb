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
    point, decrement, iterations = problem.point(x), np.inf, 0
    value = problem.value(point)
    while iterations < MAX_STEPS:
        iterations += 1
        gradient, H = problem.derivatives(point)
        step = _solve(H, -gradient)
        decrement = float(-gradient @ step) / 2
        if decrement < enough:
            break
        direction, length, trial_value, trial = problem.direction(step), 1.0, np.inf, point
        while length > 1e-12:
            trial = _Point(*(at + length * change for at, change in zip(point, direction, strict=True)))
            trial_value = problem.value(trial)
            if trial_value <= value - 0.1 * length * 2 * decrement:
                break
            length /= 2
        if not trial_value < value:
            break  # round-off: the decrement says how far from the minimum this is
        point, value = trial, trial_value
    return point.x, decrement, iterations


def _solve(H: NDArray, right: NDArray) -> NDArray:
    """H⁻¹ right; along directions that nothing tells anything about no step is needed.

    Round-off may make a nearly singular H indefinite, and the step one uphill: then its scaled diagonal is made larger.
    """
    from scipy.linalg.lapack import dposv

    _, step, failed = dposv(H.T, right, lower=1)
    scale, ridge = 1 / np.sqrt(np.maximum(H.diagonal(), 1e-300)), MIN_RIDGE
    while (failed or not right @ step >= 0) and ridge < 1.0:
        scaled = H * np.outer(scale, scale) + ridge * np.eye(len(H))
        _, step, failed = dposv(scaled, scale * right, lower=1)
        step, ridge = scale * step, 10 * ridge
    return np.asarray(step) if ridge < 1.0 else scale**2 * right


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


class _Point(NamedTuple):
    """A point and the parts of the function there, all linear along a step."""

    x: NDArray  # (parameters,)
    pull: NDArray  # (parameters,) A x
    bodies: NDArray  # (n, 4, 4)
    room: NDArray  # (k,) from each bound


class _Problem(NamedTuple):
    system: System
    prior: Prior
    strength: float
    barrier: float
    bounds: _Bounds
    links: int

    def direction(self, x: NDArray) -> _Point:
        return _Point(x, self.system.A @ x, pseudo_inertias(x[: self.links]), self.bounds.G @ x)

    def point(self, x: NDArray) -> _Point:
        at = self.direction(x)
        return at._replace(room=at.room - self.bounds.h)

    def value(self, at: _Point) -> float:
        if not np.isfinite(at.x).all() or (at.room <= 0).any():
            return np.inf
        try:
            factors = np.linalg.cholesky(at.bodies)
        except np.linalg.LinAlgError:
            return np.inf
        logarithm = 2 * np.log(np.einsum("ikk->ik", factors)).sum()
        divergence = np.vdot(self.prior.inverses, at.bodies) - logarithm
        fit = at.x @ (at.pull / 2 - self.system.b)
        return float(fit + self.strength * divergence - self.barrier * np.log(at.room).sum())

    def derivatives(self, at: _Point) -> tuple[NDArray, NDArray]:
        inverses, links = np.linalg.inv(at.bodies), self.links
        gradient, H = at.pull - self.system.b, self.system.A.copy()
        difference = (self.prior.inverses - inverses).reshape(-1, 16)
        gradient[:links] += self.strength * (difference @ UNITS.reshape(-1, 16).T).ravel()
        H[:links, :links] += self.strength * hessian(inverses)
        bounded = np.flatnonzero(self.bounds.G.any(axis=0))
        steep = self.bounds.G[:, bounded] / at.room[:, None]
        gradient[bounded] -= self.barrier * steep.sum(axis=0)
        H[np.ix_(bounded, bounded)] += self.barrier * steep.T @ steep
        return gradient, H
