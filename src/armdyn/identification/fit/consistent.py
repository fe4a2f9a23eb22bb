"""The physically consistent fit: physically consistent bodies, friction that brakes, near to the prior.

    minimise  x'Ax/2 - b'x + strength * sum_i D(P_i, P0_i) - barrier * sum log(room)

over all ten parameters of every link and the joint terms; room is the distance from each bound: of friction, which
brakes, and of masses where some are known. It is convex, and its terms keep every iterate possible; Newton's method
with a line search always ends, and its decrement bounds what is left to gain.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.equations import System
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.prior import UNITS, ReferenceBodies, hessian_blocks, pseudo_inertias
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.precision import MAX_ITERATIONS, NEGLIGIBLE, ROUND_OFF
from armdyn.spatial import inertia as inertial

# `SMALL_SHARE` is, of half a squared sigma, the weight of the logarithms that keep to the bounds; of what is to be
# gained, the strength from which Newton's method takes few steps, and of that where a stage ends; of the prior's
# eigenvalues, that below which a body sits on the boundary.
LAST_STAGES = round(math.log10(10 / SMALL_SHARE))  # that are left for a problem similar to one that was solved


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
    reference: ReferenceBodies,
    strength: float,
    start: NDArray,
    positive: NDArray,
    masses: MassBounds | None = None,
    more: tuple[NDArray, NDArray] | None = None,
) -> Minimum:
    """Minimise over theta (10 n,) and joint parameters.

    Parameters
    ----------
    system : System
        Normal equations of [theta, joint parameters].
    reference : ReferenceBodies
    strength : float
        Weight of the divergence from the prior.
    start : ndarray
        Joint parameters to begin with, within `more`.
    positive : ndarray of bool
        Which joint parameters must be positive.
    masses : MassBounds, optional
        Between which masses lie.
    more : tuple of ndarray, optional
        Further bounds of the joint parameters y: G (k, joint parameters) and h (k,) of G y > h.
    """
    links = len(reference.theta)
    size = np.maximum(np.abs(start), 1e-6 * max(np.abs(start).max(initial=0.0), 1.0))
    bodies = reference.theta if masses is None else masses.inside(reference.theta)
    x = np.concatenate([bodies, np.where(positive, np.maximum(start, 0.1 * size), start)])
    problem = _Problem(System(*(np.asarray(part)[None] for part in system)), reference, strength, 0.0,
                       _bounds(links, positive, masses, more), links)  # fmt: skip
    return _minima(problem, x[None], _stages(system, strength, x))[0]


def similar_fits(
    systems: System,
    near: Minimum,
    reference: ReferenceBodies,
    strength: float,
    positive: NDArray,
    masses: MassBounds | None = None,
    more: tuple[NDArray, NDArray] | None = None,
) -> list[Minimum]:
    """Fits to several systems (v, ...), each a few steps from the minimum of a similar one.

    They begin at the minimum itself where little is to be gained there, else further from the walls.
    """
    links = len(reference.theta)
    problem = _Problem(systems, reference, strength, SMALL_SHARE, _bounds(links, positive, masses, more), links)
    x = np.tile(np.concatenate([near.theta, near.joint]), (len(systems.A), 1))
    gains = problem.newton_step(problem.point(x))[1]
    if SMALL_SHARE * gains.max() < strength:
        return _minima(problem, x, _last_stages(strength, 1))
    return _minima(problem, np.tile(near.inner, (len(x), 1)), _last_stages(strength, LAST_STAGES))


def _minima(problem: _Problem, x: NDArray, stages: NDArray) -> list[Minimum]:
    """The minima of problems (v,) from x (v, parameters), by strengths of the divergence down to its own."""
    reference, links, weight = problem.reference, problem.links, SMALL_SHARE / problem.strength
    decrements, iterations, inner = np.full(len(x), np.inf), np.zeros(len(x), int), x
    for number, stage in enumerate(stages.tolist(), start=1):
        enough = max(NEGLIGIBLE, SMALL_SHARE * stage if number < len(stages) else 0.0)
        x, decrements, steps = _newton(problem._replace(strength=stage, barrier=weight * stage), x, enough)
        iterations += steps
        inner = x.copy() if number <= len(stages) - LAST_STAGES + 1 else inner
    smallest = np.linalg.eigvals(reference.inverses @ pseudo_inertias(x[:, :links])).real.min(axis=2)
    barely = [tuple(np.flatnonzero(row < SMALL_SHARE).tolist()) for row in smallest]
    rows = zip(x, decrements.tolist(), iterations.tolist(), barely, inner, strict=True)
    return [Minimum(y[:links], y[links:], gap, count, thin, inside) for y, gap, count, thin, inside in rows]


def _stages(system: System, strength: float, x: NDArray) -> NDArray:
    """Strengths of the divergence, each a tenth of the one before: weak ones are steep walls, approached gently."""
    least = _solve(system.A + 1e-12 * np.diag(np.diag(system.A)), system.b)
    values = [y @ system.A @ y / 2 - system.b @ y for y in (x, least)]
    gentle = float(np.clip(SMALL_SHARE * (values[0] - values[1]), max(strength, 1.0), 1e12 * strength))
    return _last_stages(strength, max(LAST_STAGES, int(np.ceil(np.log10(gentle / strength))) + 1))


def _last_stages(strength: float, n: int) -> NDArray:
    return strength * 10.0 ** np.arange(n)[::-1]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a step too far is worth infinity, and is halved
def _newton(problem: _Problem, x: NDArray, enough: float) -> tuple[NDArray, NDArray, NDArray]:
    """The minima by Newton's method with a line search, what is left to gain there, and the numbers of steps."""
    point, active = problem.point(x), np.arange(len(x))
    values, decrements, iterations = problem.values(point), np.full(len(x), np.inf), np.zeros(len(x), int)
    for _ in range(MAX_ITERATIONS):
        at, some = point.of(active), problem.of(active)
        steps, decrements[active] = some.newton_step(at)
        iterations[active] += 1
        left = np.flatnonzero(~(decrements[active] < enough))
        if not len(left):
            break
        active, at, some = active[left], at.of(left), some.of(left)
        direction, gains, lengths = some.direction(steps[left]), 0.2 * decrements[active], np.ones(len(left))
        while True:
            trial = _Point(*(
                a + lengths.reshape(-1, *[1] * (a.ndim - 1)) * change for a, change in zip(at, direction, strict=True)
            ))  # fmt: skip
            reached = some.values(trial)
            far = ~(reached <= values[active] - lengths * gains) & (lengths > 1e-12)
            if not far.any():
                break
            lengths[far] /= 2
        lower = reached < values[active]  # else round-off: the decrement says how far from the minimum this is
        active = active[lower]
        for whole, part in zip(point, trial, strict=True):
            whole[active] = part[lower]
        values[active] = reached[lower]
        if not len(active):
            break
    return point.x, decrements, iterations


def _inverses(bodies: NDArray) -> NDArray:
    """Inverses of pseudo-inertias; round-off may put bodies that vanish on the boundary, where there are none."""
    try:
        return np.linalg.inv(bodies)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(bodies, hermitian=True)


def _solve(H: NDArray, right: NDArray) -> NDArray:
    """H⁻¹ right; along directions that nothing tells anything about no step is needed.

    Round-off may make a nearly singular H indefinite, and the step one uphill: then its scaled diagonal is made larger.
    """
    from scipy.linalg.lapack import dposv

    _, step, failed = dposv(H.T, right, lower=1)
    scale, ridge = 1 / np.sqrt(np.maximum(H.diagonal(), 1e-300)), ROUND_OFF
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
    """Points of problems (v,) and the parts of their functions there, all linear along a step."""

    x: NDArray  # (v, parameters)
    pull: NDArray  # (v, parameters) A x
    bodies: NDArray  # (v, n, 4, 4)
    room: NDArray  # (v, k) from each bound

    def of(self, problems: NDArray) -> _Point:
        return _Point(*(part[problems] for part in self))


class _Problem(NamedTuple):
    """Problems (v,) that differ by their data alone."""

    system: System
    reference: ReferenceBodies
    strength: float
    barrier: float
    bounds: _Bounds
    links: int

    def of(self, problems: NDArray) -> _Problem:
        if len(problems) == len(self.system.A):
            return self
        return self._replace(system=System(*(part[problems] for part in self.system)))

    def direction(self, x: NDArray) -> _Point:
        pull = (self.system.A @ x[:, :, None])[:, :, 0]
        return _Point(x, pull, pseudo_inertias(x[:, : self.links]), x @ self.bounds.G.T)

    def point(self, x: NDArray) -> _Point:
        at = self.direction(x.copy())
        return at._replace(room=at.room - self.bounds.h)

    def values(self, at: _Point) -> NDArray:
        """(v,), infinite where bodies are none or bounds are passed."""
        divergence = np.sum(self.reference.inverses * at.bodies, axis=(1, 2, 3)) - _log_determinants(at.bodies).sum(
            axis=1
        )
        fit = np.sum(at.x * (at.pull / 2 - self.system.b), axis=1)
        values = fit + self.strength * divergence - self.barrier * np.log(at.room).sum(axis=1)
        return np.where(np.isfinite(values), values, np.inf)

    def newton_step(self, at: _Point) -> tuple[NDArray, NDArray]:
        """Return the steps of Newton's method (v, parameters), and half of what they seem to gain (v,)."""
        gradients, H = self.derivatives(at)
        steps = np.array([_solve(*pair) for pair in zip(H, -gradients, strict=True)])
        return steps, -np.sum(gradients * steps, axis=1) / 2

    def derivatives(self, at: _Point) -> tuple[NDArray, NDArray]:
        inverses, size = _inverses(at.bodies), inertial.SIZE
        gradients, H = at.pull - self.system.b, self.system.A.copy()
        difference = (self.reference.inverses - inverses).reshape(*inverses.shape[:2], 16)
        gradients[:, : self.links] += self.strength * (difference @ UNITS.reshape(size, 16).T).reshape(len(H), -1)
        for i, block in enumerate((self.strength * hessian_blocks(inverses)).swapaxes(0, 1)):
            H[:, size * i : size * (i + 1), size * i : size * (i + 1)] += block
        first = int(self.bounds.G.any(axis=0).argmax())  # parameter that is bounded
        steep = self.bounds.G[:, first:] / at.room[:, :, None]
        gradients[:, first:] -= self.barrier * steep.sum(axis=1)
        H[:, first:, first:] += self.barrier * steep.swapaxes(1, 2) @ steep
        return gradients, H


def _log_determinants(P: NDArray) -> NDArray:
    """Logarithms (...) of the determinants of P (..., 4, 4) by its pivots; nan where it is not positive definite."""
    P, logarithms = P.copy(), np.zeros(P.shape[:-2])
    for k in range(P.shape[-1]):
        pivot = P[..., k, k].copy()
        logarithms += np.log(pivot)
        P[..., k:, k:] -= P[..., k:, k, None] * P[..., None, k, k:] / pivot[..., None, None]
    return logarithms
