"""Which joint terms the data support, and how much to believe the prior: both by error on held-out blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.equations import Equations, solve
from armdyn.identification.fit.terms import ALWAYS, BALANCE, ROTOR, TERMS, Term

# Strengths of the prior to choose from. At 1 it says that the description may be off by as much as the bodies'
# own size, one standard deviation: anything weaker is no knowledge, but an excuse for wild parameters.
STRENGTHS = 10.0 ** np.arange(0, 6.1, 0.5)
MOST_ROUNDS = 4
NOTICEABLE = 1e-3  # share of the squared held-out error that a term must take away, however surely it does
FRICTION = ("coulomb", "load", "stribeck", "viscous_asymmetry", "cosine", "sine", "temperature", "rotor")


class Choice(NamedTuple):
    """What was chosen and its squared error on held-out blocks."""

    used: NDArray  # (size,) of bool
    strength: float
    held_out: NDArray  # (blocks,)
    without: NDArray  # (blocks, size) parameters fitted to all blocks but one
    scan: NDArray  # (strengths, 2): strength and mean squared held-out error of a row


def starting_terms(equations: Equations, rotors: tuple[int, ...] = (), balanced: NDArray | None = None) -> NDArray:
    """All base parameters, the terms that every joint has, rotors of the joints named, balancers of those marked."""
    used = np.ones(equations.size, bool)
    terms = used[equations.count :].reshape(equations.n, len(TERMS))
    terms[:, len(ALWAYS) :] = False
    terms[list(rotors), ROTOR] = True
    if balanced is not None:
        terms[np.ix_(balanced, np.array(BALANCE))] = True
    return used


def choose(
    equations: Equations,
    used: NDArray,
    precision: NDArray,
    prior: NDArray,
    optional: tuple[str, ...],
    strengths: NDArray = STRENGTHS,
) -> Choice:
    """The prior's strength, then joint terms of the kinds `optional` that pay on held-out blocks, and so on."""
    strength, scan = best_strength(equations, used, precision, prior, strengths)
    joints = set(range(equations.n)) if optional else set()
    for _ in range(MOST_ROUNDS):
        used, joints = _one_round(equations, used, strength * precision, prior, joints, optional)
        if not joints:
            break
        strength, scan = best_strength(equations, used, precision, prior, strengths)
    belief = strength * precision
    return Choice(used, strength, equations.held_out(used, belief, prior), equations.without(used, belief, prior), scan)


def best_strength(
    equations: Equations, used: NDArray, precision: NDArray, prior: NDArray, strengths: NDArray = STRENGTHS
) -> tuple[float, NDArray]:
    """The strength with the least held-out error, and the whole scan."""
    if not precision.any():
        return 0.0, np.empty((0, 2))
    rows = equations.samples.sum() * equations.n
    scan = [(s, equations.held_out(used, s * precision, prior).sum() / rows) for s in strengths]
    return float(min(scan, key=lambda pair: pair[1])[0]), np.array(scan)


def _one_round(
    equations: Equations,
    used: NDArray,
    precision: NDArray,
    prior: NDArray,
    joints: set[int],
    optional: tuple[str, ...],
) -> tuple[NDArray, set[int]]:
    """For each joint in turn the best term not yet used, if it pays clearly; and the joints that got one."""
    best = equations.held_out(used, precision, prior)
    changed = set()
    for joint in sorted(joints):
        for trial, scores in _trials(equations, used, precision, prior, joint, optional):
            if not pays(best, scores):
                break
            term, k = _added(equations, used, trial)
            if _possible(term, solve(equations.total, trial, precision, prior)[k]):
                used, best = trial, scores
                changed.add(joint)
                break
    return used, changed


def _trials(
    equations: Equations, used: NDArray, precision: NDArray, prior: NDArray, joint: int, optional: tuple[str, ...]
) -> list[tuple[NDArray, NDArray]]:
    """Structures with one more term of the joint, instead of those of its kind, and held-out errors; best first."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for k in _candidates(equations, used, joint, optional):
        rivals = _rivals(equations, joint, TERMS[(k - equations.count) % len(TERMS)])
        groups.setdefault(tuple(r for r in rivals if used[r]), []).append(k)
    trials = []
    for replaced, more in groups.items():
        rest = used.copy()
        rest[list(replaced)] = False
        scores = equations.held_out_adding(rest, np.array(more), precision, prior)
        for k, score in zip(more, scores, strict=True):
            trial = rest.copy()
            trial[k] = True
            trials.append((trial, score))
    return sorted(trials, key=lambda pair: float(pair[1].sum()))


def _added(equations: Equations, used: NDArray, trial: NDArray) -> tuple[Term, int]:
    """The term that a trial has and the structure before had not, and its position."""
    k = int(np.flatnonzero(trial & ~used)[0])
    return TERMS[(k - equations.count) % len(TERMS)], k


def _possible(term: Term, value: float) -> bool:
    """Whether a term can have this value."""
    return (value > 0 or not term.positive) and abs(value) < term.most


def _candidates(equations: Equations, used: NDArray, joint: int, optional: tuple[str, ...]) -> list[int]:
    """Positions of terms that the joint could have, instead of those of their kind or too."""
    first = equations.count + joint * len(TERMS)
    return [first + k for k, term in enumerate(TERMS) if term.kind in optional and not used[first + k]]


def _rivals(equations: Equations, joint: int, term: Term) -> list[int]:
    """Positions of the joint's terms of the same kind."""
    first = equations.count + joint * len(TERMS)
    return [first + k for k, other in enumerate(TERMS) if other.kind == term.kind]


def pays(before: NDArray, after: NDArray) -> bool:
    """Whether squared errors on held-out blocks fall: noticeably in all, and surely in sum or share.

    A block in which the arm moves more has larger gains. In differences it counts most, and may hide a gain that every
    block shows; in ratios all blocks count alike.
    """
    if not before.sum() - after.sum() > NOTICEABLE * before.sum():
        return False
    ratios = np.log(np.maximum(before, 1e-300) / np.maximum(after, 1e-300))
    return _positive(before - after) or _positive(ratios)


def _positive(gains: NDArray) -> bool:
    """Whether their mean is positive with 95 % confidence (Student's t, one-sided)."""
    from scipy.stats import t

    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() > t.ppf(0.95, len(gains) - 1) * error)
