"""What the data alone say: least squares with plain friction and no prior, whose statistics no choice has touched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.checks.doubt import require_brakes
from armdyn.identification.fit.equations import solved
from armdyn.identification.fit.perturbation import Perturbation, perturbation
from armdyn.identification.fit.result import BaseEstimate, FrictionValues
from armdyn.identification.fit.selection import Selection, free, weighed
from armdyn.identification.fit.spread import Spread, spread
from armdyn.identification.fit.structure import starting_terms
from armdyn.identification.fit.terms import ALWAYS, TERMS
from armdyn.model.arm import Arm

ALIKE = 1e-7  # share of a column's square that others must leave unexplained, or it is one with them


class Plain(NamedTuple):
    """The estimate and how sure it is."""

    estimate: BaseEstimate
    sure: Spread
    bound: Perturbation

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Parameters on which the logs have no say."""
        pairs = zip(self.estimate.labels, self.sure.undetermined, strict=True)
        return tuple(name for name, lost in pairs if lost)


def plain(selected: Selection) -> Plain:
    """The estimate; refused where friction would drive a joint."""
    base = selected.base
    used = _told_apart(selected)
    equations = weighed(selected.equations, used)
    x = free(equations, used)
    sure = spread(selected.rows, equations, used, x)
    own = np.flatnonzero(used)[base.count :] - base.count
    names = [f"{TERMS[k % len(TERMS)].symbol}{k // len(TERMS) + 1}" for k in own]
    std = np.sqrt(np.maximum(np.diag(sure.covariance), 0.0))
    labels = (*base.labels, *names)
    estimate = BaseEstimate(x[used], std, (*base.names, *names), labels, base.count, sure.covariance)
    _require_brakes(selected, estimate)
    return Plain(estimate, sure, perturbation(selected.rows, equations, used, x))


def _told_apart(selected: Selection) -> NDArray:
    """The plain model, with those waves of balancers that are not one with the weight of links.

    About a level axis the first wave of a balancer is a weight: base parameters then mean both together.
    """
    A, own = selected.equations.total.A, selected.drives.own
    used = starting_terms(selected.equations, own)
    waves = starting_terms(selected.equations, own, selected.rows.reach.balanced) & ~used
    for k in np.flatnonzero(waves):
        u = np.flatnonzero(used)
        left = A[k, k] - A[k, u] @ solved(A[np.ix_(u, u)], A[u, k, None])[:, 0]
        used[k] = left > ALIKE * A[k, k]
    return used


def friction_values(arm: Arm, estimate: BaseEstimate) -> FrictionValues:
    """Plain friction of the estimate beside that of the fitted arm."""
    both = (estimate.theta, estimate.std)
    values, std = (np.array([_of_symbol(x, estimate, term.symbol, arm.n) for term in ALWAYS]) for x in both)
    return FrictionValues(values[0], values[1], values[2], std, tuple(joint.friction for joint in arm.joints))


def _of_symbol(values: NDArray, estimate: BaseEstimate, symbol: str, n: int) -> NDArray:
    """The entries (n,) of one joint term."""
    return np.array([values[estimate.labels.index(f"{symbol}{j + 1}")] for j in range(n)])


def _require_brakes(selected: Selection, estimate: BaseEstimate) -> None:
    arm = selected.base.source
    speed = selected.rows.reach.top / 2
    viscous, coulomb = (_of_symbol(estimate.theta, estimate, symbol, arm.n) for symbol in ("Fv", "Fc"))
    sigmas = [_of_symbol(estimate.std, estimate, symbol, arm.n) for symbol in ("Fv", "Fc")]
    # The two errors are of opposite sign, so that this is on the safe side.
    sigma = np.hypot(sigmas[0] * speed, sigmas[1])
    require_brakes(arm, viscous * speed + coulomb, sigma, selected.rows.reach.torque)
