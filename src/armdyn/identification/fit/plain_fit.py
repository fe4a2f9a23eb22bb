"""Least squares with plain friction and no prior: parameters from the data alone, for honest statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.estimators.least_squares import ROUNDS
from armdyn.identification.fit.choice import Choice, Options, starting_terms
from armdyn.identification.fit.equations import Equations, solve_scaled
from armdyn.identification.fit.perturbation import Perturbation, perturbation
from armdyn.identification.fit.result import BaseEstimate, FrictionValues
from armdyn.identification.fit.spread import Spread, estimate_spread
from armdyn.identification.fit.terms import ALWAYS, OFFSET, ROTOR, TERMS
from armdyn.model.arm import Arm
from armdyn.precision import SIX_DIGITS

NOTABLE_SHARE = np.sqrt(SIX_DIGITS)  # kg/kg or N/kg: change of a parameter by a rotor, below which it is round-off


class PlainFit(NamedTuple):
    """The estimate and its covariance."""

    estimate: BaseEstimate
    spread: Spread
    compute_bound: Callable[[], Perturbation]  # computes how far it can be off at worst

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Parameters that the logs do not determine."""
        pairs = zip(self.estimate.labels, self.spread.undetermined, strict=True)
        return tuple(name for name, lost in pairs if lost)


def plain_fit(choice: Choice, rotors: tuple[int, ...], geared: bool = True) -> PlainFit:
    """The estimate, with rotors of the joints named as parameters of their own; others may have some where `geared`."""
    base = choice.base
    used = _plain_terms(choice, rotors)
    equations = _weigh(choice.equations, used)
    x = _least_squares(equations, used)
    spread = _with_models(choice, equations, used, x, estimate_spread(choice.rows, equations, used, x))
    spread = _with_rotors_of_lifts(equations, used, x, spread) if geared else spread
    term_indices = np.flatnonzero(used)[base.count :] - base.count
    names = tuple(f"{TERMS[k % len(TERMS)].symbol}{k // len(TERMS) + 1}" for k in term_indices)
    std = np.sqrt(np.maximum(np.diag(spread.covariance), 0.0))
    estimate = BaseEstimate(x[used], std, base, names, spread.covariance)
    return PlainFit(estimate, spread, partial(perturbation, replace(choice.rows, parts=()), equations, used, x))


def _with_models(choice: Choice, equations: Equations, used: NDArray, x: NDArray, spread: Spread) -> Spread:
    """The spread with what the joint terms as they were chosen would change of base parameters.

    Plain friction without rotors is a model, too. Terms are shrunk as the evidence asks for, links are not: a rotor
    that is one with a link's inertia stays with the link, one that the data tell from it takes from it what is its own.
    """
    kinds = equations.weights / choice.equations.weights
    finer = np.repeat(kinds**2, (equations.size - equations.count) // len(kinds))
    shrunk = np.concatenate(
        [np.zeros(equations.count), np.diag(choice.posterior.prior_precision)[equations.count :] * finer]
    )
    other = equations.fit(used | choice.used, np.diag(shrunk * choice.used), np.zeros(equations.size))
    change = np.zeros(len(spread.covariance))
    known = np.flatnonzero(~spread.undetermined[: equations.count])
    change[known] = (x - other)[known]
    return spread._replace(covariance=spread.covariance + np.outer(change, change))


def _with_rotors_of_lifts(equations: Equations, used: NDArray, x: NDArray, spread: Spread) -> Spread:
    """The spread with what rotors of lifts would change of weights and offsets, which together feel like them.

    A rotor of J kg has inertia but no weight: it takes J from the mass, and the offset changes by J g. No log tells
    J; it is at most all of the mass, and half of that is a standard deviation.
    """
    k, count, covariance = np.flatnonzero(used), equations.count, spread.covariance.copy()
    for j in range(equations.n):
        rotor, offset = (count + len(TERMS) * j + term for term in (ROTOR, OFFSET))
        if used[rotor] or not used[offset]:
            continue
        A = equations.total(np.append(k, rotor)).A
        change = solve_scaled(A[:-1, :-1], A[:-1, -1:])[:, 0]
        left = A[-1, -1] - A[-1, :-1] @ change
        mass = np.flatnonzero(change[:count] > NOTABLE_SHARE)
        if left <= SIX_DIGITS * A[-1, -1] and len(mass) and abs(change[k == offset]) > NOTABLE_SHARE:
            change *= 0.5 * max(float(np.min(x[mass] / change[mass])), 0.0)
            covariance += np.outer(change, change)
    return spread._replace(covariance=covariance)


def _weigh(equations: Equations, used: NDArray) -> Equations:
    """Joints weighed by 1 / residual of least squares, found by iteration."""
    for _ in range(ROUNDS):
        x = _least_squares(equations, used)
        # A joint that is fitted to the last digit must not drown the others.
        noise = np.sqrt(np.maximum(equations.errors(x), 1e-12 * equations.powers.sum()) / equations.samples.sum())
        equations = equations.with_weights(1 / np.maximum(noise, max(1e-3 * float(np.median(noise)), 1e-300)))
    return equations


def _least_squares(equations: Equations, used: NDArray) -> NDArray:
    """Parameters (size,) by weighted least squares: no prior, nothing that need be consistent."""
    size = equations.size
    return equations.fit(used, np.zeros((size, size)), np.zeros(size))


def _plain_terms(choice: Choice, rotors: tuple[int, ...]) -> NDArray:
    """The plain model, with those waves of balancers that are not one with the weight of links.

    About a level axis the first wave of a balancer is a weight: base parameters then mean both together.
    """
    equations, options = choice.equations, Options(rotors=rotors)
    used = starting_terms(equations, options, np.zeros(equations.n, bool), unexcited=True)
    if len(equations.weights) == equations.n:
        used[equations.count :].reshape(equations.n, -1)[~choice.rows.measured] = False
    waves = starting_terms(equations, options, choice.rows.statistics.balanced) & ~used
    for k in np.flatnonzero(waves):
        A = equations.total(np.append(np.flatnonzero(used), k)).A
        left = A[-1, -1] - A[-1, :-1] @ solve_scaled(A[:-1, :-1], A[:-1, -1:])[:, 0]
        used[k] = left > SIX_DIGITS * A[-1, -1]
    return used


def friction_values(arm: Arm, estimate: BaseEstimate) -> FrictionValues:
    """Plain friction of the estimate beside that of the fitted arm."""
    both = (estimate.theta, estimate.std)
    values, std = (
        np.array([_of_symbol(x, estimate, term.symbol, arm.n, absent) for term in ALWAYS])
        for x, absent in zip(both, (np.nan, np.inf), strict=True)
    )
    chosen = tuple(joint.friction for joint in arm.coordinate_joints)
    return FrictionValues(values[0], values[1], values[2], std, chosen)


def _of_symbol(values: NDArray, estimate: BaseEstimate, symbol: str, n: int, absent: float) -> NDArray:
    """The entries (n,) of one joint term, `absent` where no torque of the joint was measured."""
    known = dict(zip(estimate.labels, values.tolist(), strict=True))
    return np.array([known.get(f"{symbol}{j + 1}", absent) for j in range(n)])
