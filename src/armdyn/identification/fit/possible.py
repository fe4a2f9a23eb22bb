"""Possible bodies behind a structure that was chosen, and what being possible costs on data not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.consistent import Consistent, consistent_fit
from armdyn.identification.fit.equations import Equations, System
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.prior import NO_PRIOR, Prior
from armdyn.identification.fit.selection import Selection
from armdyn.identification.fit.terms import ROTOR, TERMS
from armdyn.spatial import inertia as inertial


class Possible(NamedTuple):
    """Bodies and joint terms."""

    theta: NDArray  # (10 n,)
    terms: NDArray  # (n, terms)
    minimum: Consistent
    held_out: float  # relative error on held-out blocks
    held_out_logs: NDArray  # (logs,) of each log under the fit to the others; empty for one log


class _Lifted(NamedTuple):
    """In all parameters y = [theta, rotors in the base parameters, joint terms]; those used are x = lift y."""

    equations: Equations
    used: NDArray
    lift: NDArray
    belief: NDArray  # precision of the joint terms
    prior: Prior
    strength: float
    start: NDArray
    positive: NDArray
    masses: MassBounds | None

    def fit(self) -> Consistent:
        return self._fit(self.equations.total, None)

    def without(self, blocks: NDArray, near: Consistent) -> NDArray:
        """Parameters (size,) of the fit to all blocks but these; few steps from the fit to all."""
        total, folds = self.equations.total, self.equations.folds
        rest = System(*(whole - part[blocks].sum(axis=0) for whole, part in zip(total, folds, strict=True)))
        least = self._fit(rest, near)
        x = np.zeros(self.equations.size)
        x[self.used] = self.lift @ np.concatenate([least.theta, least.joint])
        return x

    def _fit(self, system: System, near: Consistent | None) -> Consistent:
        A, b, c = system
        k = self.used
        lifted = System(self.lift.T @ (A[np.ix_(k, k)] + self.belief) @ self.lift, self.lift.T @ b[k], c)
        return consistent_fit(lifted, self.prior, self.strength, self.start, self.positive, near, self.masses)


def possible(selected: Selection, x: NDArray, masses: MassBounds | None = None) -> Possible:
    """Possible bodies near the prior with the joint terms selected; least squares `x` to start with.

    Rotors that are one with links are told apart from them here, for links alone could not have their inertia.
    """
    problem = _lifted(selected, x, masses)
    found = problem.fit()
    lumped, n = selected.drives.lumped, selected.base.source.n
    terms = np.zeros(n * len(TERMS))
    terms[selected.joint_terms] = found.joint[len(lumped) :]
    by_joint = terms.reshape(n, len(TERMS))
    by_joint[lumped, ROTOR] += found.joint[: len(lumped)]
    blocks = np.arange(len(selected.equations.logs))
    without = np.array([problem.without(blocks == k, found) for k in blocks])
    held_out = selected.equations.relative(without)
    return Possible(found.theta, by_joint, found, held_out, _held_out_logs(problem, found))


def _held_out_logs(problem: _Lifted, found: Consistent) -> NDArray:
    """Relative errors (logs,) of each log under the fit to the others; empty where there is one."""
    equations = problem.equations
    errors = []
    for number in range(int(equations.logs.max()) + 1):
        own = equations.logs == number
        if own.all():
            return np.empty(0)
        x = problem.without(own, found)
        squares = sum(equations.errors(x, int(k)).sum() for k in np.flatnonzero(own))
        errors.append(np.sqrt(squares / max(float(equations.grams[own, :, -1, -1].sum()), 1e-300)))
    return np.array(errors)


def _lifted(selected: Selection, x: NDArray, masses: MassBounds | None) -> _Lifted:
    base, terms, lumped, used = selected.base, selected.joint_terms, selected.drives.lumped, selected.used
    links = inertial.SIZE * base.source.n
    lift = np.zeros((len(used), links + len(lumped) + len(terms)))
    lift[: base.count, :links] = base.P[:, :links]
    lift[: base.count, links : links + len(lumped)] = selected.drives.shares[:, lumped]
    lift[base.count :, links + len(lumped) :] = np.eye(len(terms))
    # What is believed about bodies is in the divergence.
    belief = selected.belief[np.ix_(used, used)]
    belief[: base.count] = belief[:, : base.count] = 0.0
    belief += np.diag(selected.habit[used])
    inertias = [max(base.source.joints[j].drive.reflected_inertia, 1e-3) for j in lumped]
    return _Lifted(
        selected.equations,
        used,
        lift,
        belief,
        selected.prior,
        max(selected.strength, NO_PRIOR),
        np.concatenate([inertias, x[base.count + terms]]),
        np.array([True] * len(lumped) + [TERMS[k % len(TERMS)].positive for k in terms], bool),
        masses,
    )
