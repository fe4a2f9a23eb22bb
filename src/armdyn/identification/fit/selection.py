"""The model that the data support: weights of the joints, joint terms and strength of the prior, each given the others.

Nothing here need be possible bodies; `possible` finds those behind the structure chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.identification.fit.equations import Equations, solve
from armdyn.identification.fit.geared import Geared
from armdyn.identification.fit.prior import Prior
from armdyn.identification.fit.rows import Rows
from armdyn.identification.fit.structure import STRENGTHS, Choice, choose, starting_terms
from armdyn.identification.fit.terms import LOAD, ROTOR, TERMS, Reach, Term, modest, with_terms
from armdyn.spatial import inertia as inertial

SWEEPS = 3  # through all joints: once the terms of one are right, those of others stand out from less noise
UNFELT = 1e-16  # mean square of a column of round-off


class Selection(NamedTuple):
    """Equations of the logs and the structure chosen for them."""

    base: BaseParameters
    prior: Prior
    drives: Geared
    rows: Rows
    equations: Equations
    choice: Choice
    belief: NDArray  # (size, size) precision of what is believed about the parameters beforehand

    @property
    def strength(self) -> float:
        """With which the description's bodies are believed; zero where it has none."""
        return self.choice.strength if self.prior.known else 0.0

    @property
    def used(self) -> NDArray:
        """Positions of the parameters that are used."""
        return np.flatnonzero(self.choice.used)

    @property
    def joint_terms(self) -> NDArray:
        """Positions of the joint terms that are used, counted from the first of the first joint."""
        return self.used[self.used >= self.base.count] - self.base.count

    @property
    def habit(self) -> NDArray:
        """Precision (size,) of friction: at the arm's top speed it is at most about as large as the joint's torque.

        It counts as one sample, and is heard where a joint hardly moves.
        """
        reach = self.rows.reach
        precision = modest(("viscous", "coulomb"), reach.torque, reach.top.max())
        return np.concatenate([np.zeros(self.base.count), precision.ravel()])

    @property
    def structure(self) -> tuple[tuple[str, ...], ...]:
        """Joint terms that are used, in words, a joint at a time."""
        used = self.choice.used[self.base.count :].reshape(-1, len(TERMS))
        return tuple(tuple(dict.fromkeys(_told(TERMS[k]) for k in np.flatnonzero(row))) for row in used)

    @property
    def held_out(self) -> float:
        """Relative error on held-out blocks."""
        return self.equations.relative(self.choice.without)

    @property
    def held_out_weighted(self) -> float:
        """The same in units of the joints' noise: those that are measured well count most."""
        share = self.choice.held_out.sum() / max(self.equations.folds.c.sum(), 1e-300)
        return float(np.sqrt(share))


def _told(term: Term) -> str:
    if term.travel:
        return "coulomb with presliding"
    return "balancer" if term.kind.startswith("balance") else term.kind


def select(rows: Rows, prior: Prior, drives: Geared, strength: float | None, optional: tuple[str, ...]) -> Selection:
    """Choose from joint terms of the kinds `optional`, and the prior's strength where it is None."""
    base = rows.base
    equations = Equations.of(rows, base.count)
    used = starting_terms(equations, drives.own, rows.reach.balanced)
    # Joints that stand still show no friction: what is described stays.
    used[base.count :] &= equations.felt[base.count :] > UNFELT
    precision, centre = _base_prior(base, prior, equations, drives)
    terms = np.arange(base.count, equations.size)
    precision[terms, terms] += _believed_terms(rows.reach, rows.filters.form).ravel()
    if "load" in optional:
        rows, equations = _loaded(rows, equations, used, precision, centre)
    strengths = STRENGTHS if strength is None else np.array([strength], float)
    for _ in range(SWEEPS):
        choice = choose(weighed(equations, used), used, precision, centre, optional, strengths)
        before, used = used, choice.used
        if np.array_equal(used, before):
            break
        if used[base.count + LOAD :: len(TERMS)].any():
            # What loads the joints has grown by the friction that loads make.
            rows, equations = _loaded(rows, equations, used, choice.strength * precision, centre)
    # With its structure known, the noise is better known, and so is what the prior is worth.
    equations = weighed(equations, used)
    choice = choose(equations, used, precision, centre, (), strengths)
    return Selection(base, prior, drives, rows, equations, choice, choice.strength * precision)


def _loaded(
    rows: Rows, equations: Equations, used: NDArray, belief: NDArray, centre: NDArray
) -> tuple[Rows, Equations]:
    """Rows and sums with joints loaded by all torques of the fit near the prior."""
    base, x = rows.base, solve(weighed(equations, used).total, used, belief, centre)
    links = inertial.SIZE * base.source.n
    found = np.linalg.pinv(base.P) @ x[: base.count]
    values = x[base.count :].reshape(-1, len(TERMS)).copy()
    values[:, ROTOR] = np.maximum(values[:, ROTOR] + (found[links:] if base.joint_terms else 0.0), 0.0)
    values[:, LOAD] = np.clip(values[:, LOAD], 0.0, TERMS[LOAD].most)
    rows = rows.loaded(with_terms(base.source.with_theta(found[:links]), values, rows.reach))
    return rows, Equations.of(rows, base.count)


def weighed(equations: Equations, used: NDArray) -> Equations:
    """Joints weighed by 1 / residual of least squares, found by iteration."""
    for _ in range(4):
        x = free(equations, used)
        # A joint that is fitted to the last digit must not drown the others.
        noise = np.sqrt(np.maximum(equations.errors(x), 1e-12 * equations.powers.sum()) / equations.samples.sum())
        equations = equations.weighted(1 / np.maximum(noise, 1e-3 * np.median(noise)))
    return equations


def free(equations: Equations, used: NDArray) -> NDArray:
    """Parameters (size,) by weighted least squares: no prior, nothing that need be possible."""
    size = equations.size
    return solve(equations.total, used, np.zeros((size, size)), np.zeros(size))


def _believed_terms(reach: Reach, form: str) -> NDArray:
    """Precision (n, terms) of joint terms that other terms can pass for.

    In a small range the waves of balancers are all alike. And power does not tell joints apart that move alike, nor
    what stands at right angles to all velocities: their friction and offsets could be of any size, as long as they
    cancel.
    """
    precision = modest(("balance_cosine", "balance_sine"), reach.torque) * reach.balanced[:, None]
    if form == "energy":
        kinds = ("viscous", "viscous_asymmetry", "coulomb", "offset", "stribeck", "cosine", "sine")
        precision += modest(kinds, reach.torque, reach.top)
    return precision


def _base_prior(base: BaseParameters, prior: Prior, equations: Equations, drives: Geared) -> tuple[NDArray, NDArray]:
    """Precision and centre of the prior on all parameters; joint terms are free."""
    precision, centre = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    inertias = np.array([joint.drive.reflected_inertia for joint in base.source.joints])
    # Rotors are believed as little as to a factor of two; of coupled ones without description nothing is known.
    undescribed = prior.inertia(base.source) if base.joint_terms else 0.0
    doubts = np.where(inertias > 0, inertias, undescribed)
    precision[: base.count, : base.count] = prior.base_precision(base, drives.shares * doubts)
    centre[: base.count] = base.P[:, : len(prior.theta)] @ prior.theta + drives.shares @ inertias
    return precision, centre
