"""What the data support: how to smooth them, which joint terms, and whether to believe the description.

Every choice is made by the error on blocks of the logs that were held out: of the torque itself, as it is reported.
Choices that change little are not made, for held-out blocks of one motion say little about another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.base.reduction import arm_size
from armdyn.identification.fit.equations import FEWEST_BLOCKS, Equations
from armdyn.identification.fit.evidence import (
    Belief,
    Evidence,
    Strengths,
    evidence,
    term_precision,
    weigh,
)
from armdyn.identification.fit.free_model import FreeModel
from armdyn.identification.fit.light_joints import light_joints, with_own_friction
from armdyn.identification.fit.novel_motion import novel_motion
from armdyn.identification.fit.prior import Prior, generic_covariance, precision_in, why_no_prior
from armdyn.identification.fit.rows import Rows, make_rows
from armdyn.identification.fit.terms import ALWAYS, BALANCE, LOAD, OFFERED, ROTOR, TERMS, Term
from armdyn.identification.logs.log import Log, interpolate
from armdyn.identification.motion.track import CUTOFF_HZ, Filters, Track, tracks_of
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

NOISE_FLOORS = (0.05, 0.02, 0.007, 0.002)  # least noise relative to torques: what models of most arms lack is the first
CLOSER = 0.03  # share by which the held-out error must fall for a model that is believed to lack less
SMOOTHING = 0.02  # share by which the held-out error must fall for another way of smoothing
AGAIN = 0.01  # for going further the same way
NARROW_WIDTHS = (0.005, 0.002)  # rad/s or m/s: smaller speeds within which directions are not told
LOWER_CUTOFF_HZ = 5.0  # the other corner of the low-pass on positions
DELAYS_SECONDS = (0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05)
TERM = 0.05  # share by which the held-out error of its joint must fall for a further term
NOTICEABLE = 0.01  # and that of all joints together
LEAST_WAVE_RAD = np.pi  # of a wave that a joint must go through for a torque that depends on its position so
BY_POSITION = ("spring", "balancer")  # terms that must pay beyond the positions seen, too
# Change of torques on other motion by a further term, over the root of what the held-out squares fall by: terms that
# are there change both alike (1 to 3), others trade what they explain against weights.
MOST_SURPRISE = 4.5
MOST_ASYMMETRY = 0.6  # of Coulomb friction: one way it is at least a quarter of what it is the other way
MOST_ROUNDS = 4
UNFELT_SQUARE = 1e-16  # mean square of a column of round-off
CENTRES = ("generic bodies", "the description")
SCAN_FACTORS = np.concatenate([[0.0], 10.0 ** np.arange(-3, 3.1, 0.5)])  # strengths over that of the evidence


class Candidate(NamedTuple):
    """A choice that was looked at."""

    what: str
    error: float  # on held-out blocks
    taken: bool


class Options(NamedTuple):
    """What may be chosen."""

    optional: tuple[str, ...]  # kinds of joint terms
    offered: tuple[str, ...]  # kinds that every joint has, as far as the evidence supports them
    rotors: tuple[int, ...]  # joints that have rotors whatever the evidence says
    strength: float | None  # with which the description is believed
    smoothing: bool  # whether ways of smoothing may be chosen


@dataclass(frozen=True, eq=False)
class Choice:
    """Equations of the logs, and the model chosen for them."""

    rows: Rows
    equations: Equations
    floor: float  # least noise of a joint, relative to the deviation of all torques
    used: NDArray  # (size,) of bool: parameters of the model
    belief: Belief
    found: Evidence
    prior: Prior  # the bodies at the belief's centre
    covariance: NDArray  # (10 n + rotors, ...) of the links about it at strength 1
    centre: str
    tried: tuple[Candidate, ...] = ()

    @property
    def base(self) -> BaseParameters:
        """The parameters that the motion could determine."""
        return self.rows.base

    @property
    def x(self) -> NDArray:
        """Parameters (size,) that need not be physically consistent."""
        return self.found.x

    @property
    def model(self) -> FreeModel:
        """The model without constraints."""
        rows = self.rows
        return FreeModel(rows.base, self.x, rows.reach, rows.filters.width, rows.carrier)

    @cached_property
    def light(self) -> NDArray:
        """Joints (k,) whose torques are less than the least noise."""
        return light_joints(self.rows.deviations, self.floor)

    @property
    def described(self) -> bool:
        """Whether the description is believed."""
        return self.centre == CENTRES[1]

    @property
    def strength(self) -> float:
        """With which links are believed to be the centre's bodies."""
        return self.found.strengths.base

    @cached_property
    def squares(self) -> NDArray:
        """Squared errors (blocks, kinds) of blocks that were held out."""
        (fits,) = self.equations.without(self.used, [self.found.precision], self.belief.centre)
        return self.equations.squares(fits)

    @cached_property
    def held_out(self) -> float:
        """Relative error on held-out blocks; nan where there is one block only."""
        return np.nan if len(self.equations.samples) < 2 else self.equations.relative(self.squares)

    @cached_property
    def residual(self) -> float:
        """Relative error on the blocks fitted to."""
        return self.equations.relative(self.equations.errors(self.x))

    @property
    def can_choose(self) -> bool:
        """Whether there are enough blocks to choose by."""
        return len(self.equations.samples) >= FEWEST_BLOCKS

    @property
    def structure(self) -> tuple[tuple[str, ...], ...]:
        """Joint terms that are used, in words, a joint at a time."""
        used = self.used[self.base.count :].reshape(-1, len(TERMS))
        return tuple(tuple(dict.fromkeys(_term_name(TERMS[k]) for k in np.flatnonzero(row))) for row in used)

    @cached_property
    def scan(self) -> NDArray:
        """Strengths (k,) around that of the evidence and the relative error on held-out blocks (k, 2)."""
        tried = SCAN_FACTORS * self.strength
        precisions = (self.belief.precision(self.found.strengths._replace(base=strength)) for strength in tried)
        fits = self.equations.without(self.used, precisions, self.belief.centre)
        return np.column_stack([tried, [self.equations.relative(self.equations.squares(fit)) for fit in fits]])

    def with_candidate(self, what: str, error: float, taken: bool) -> Choice:
        """The same choice after a candidate was looked at."""
        other = replace(self, tried=(*self.tried, Candidate(what, error, taken)))
        if "squares" in self.__dict__:
            other.__dict__["squares"] = self.squares
        return other


def _term_name(term: Term) -> str:
    if term.travel:
        return "coulomb with presliding"
    return "balancer" if term.kind.startswith("balance") else term.kind


def choose(
    base: BaseParameters, logs: list[Log], filters: Filters, balanced: Iterable[int], options: Options
) -> Choice:
    """The model of the logs that predicts held-out blocks best."""
    choice = _first(make_rows(base, tracks_of(logs, filters), filters, balanced), options)
    if choice.can_choose:
        before = choice = _noise(choice)
        if options.smoothing:
            choice = _smoothing(choice, logs)
        if options.optional:
            choice = _terms(choice, options.optional)
            if choice.rows is not before.rows or choice.used is not before.used:
                choice = _noise(choice)
    return _prune(_centre(choice, options))


def _noise(choice: Choice) -> Choice:
    """Less noise than models of most arms leave, if held-out blocks are predicted clearly better."""
    for floor in [floor for floor in NOISE_FLOORS if floor < choice.floor]:
        before, start = choice, choice.found.strengths
        what = f"noise from {floor:.1%} of the torques on"
        choice = _better(choice, _refit(replace(before, floor=floor), start), what, CLOSER)
        if choice.floor == before.floor:
            break
    return choice


def _first(rows: Rows, options: Options) -> Choice:
    """Generic bodies with plain friction and what is offered to every joint; loads are those of a first fit."""
    arm = rows.base.source
    equations = Equations.of(rows)
    used = starting_terms(equations, options, rows.reach.balanced)
    loaded = "load" in options.offered
    if loaded:
        used[rows.base.count + LOAD :: len(TERMS)] = False
    stand_in, covariance = Prior.stand_in(arm), _covariance(rows.base, generic_covariance(arm))
    blank = Belief(precision_in(rows.base, covariance), np.zeros(0), np.zeros(equations.size), None)
    floor = NOISE_FLOORS[0] if rows.filters.form != "energy" else NOISE_FLOORS[-1]
    choice = Choice(rows, equations, floor, used, blank, None, stand_in, covariance, CENTRES[0])  # type: ignore[arg-type]
    choice = _refit(choice)
    if not loaded:
        return choice
    choice = _with_rows(choice, rows.with_carrier(carrier_of(choice)))
    return _refit(replace(choice, used=starting_terms(choice.equations, options, rows.reach.balanced)))


def starting_terms(equations: Equations, options: Options, balanced: NDArray, unfelt: bool = False) -> NDArray:
    """All base parameters and the joint terms to begin with, those of joints that stand still if `unfelt`."""
    used = np.ones(equations.size, bool)
    terms = used[equations.count :].reshape(equations.n, len(TERMS))
    terms[:, len(ALWAYS) :] = False
    for k, term in enumerate(TERMS):
        terms[:, k] |= term.kind in options.offered and (k < len(ALWAYS) + len(OFFERED) or term.kind == "spring")
    terms[list(options.rotors), ROTOR] = True
    terms[np.ix_(balanced, np.array(BALANCE))] = True
    if not unfelt:
        # Joints that stand still show no friction: what is described stays.
        used[equations.count :] &= equations.column_squares[equations.count :] > UNFELT_SQUARE
    return used


def _covariance(base: BaseParameters, links: NDArray) -> NDArray:
    """Covariance of the links with that of coupled rotors, where these are among the base parameters."""
    if not base.joint_terms:
        return links
    size, n = arm_size(base.source), base.source.n
    whole = np.zeros((len(links) + n, len(links) + n))
    whole[: len(links), : len(links)] = links
    k = np.arange(len(links), len(whole))
    whole[k, k] = size**4
    return whole


def carrier_of(choice: Choice) -> Arm:
    """The arm whose rigid torques are those of the choice's base parameters."""
    arm, base = choice.base.source, choice.base
    theta = np.linalg.pinv(base.P) @ choice.x[: base.count]
    return arm.with_theta(theta[: inertial.SIZE * arm.n])


def _with_rows(choice: Choice, rows: Rows) -> Choice:
    """The choice with other rows, to be fitted anew."""
    return replace(choice, rows=rows, equations=Equations.of(rows))


def _refit(choice: Choice, start: Strengths | None = None) -> Choice:
    """The choice with its weights and strengths anew, after its rows, terms or noise changed."""
    equations = choice.equations
    used = choice.used.copy()
    used[equations.count :] &= equations.column_squares[equations.count :] > UNFELT_SQUARE
    belief = replace(choice.belief, terms=term_precision(choice.rows, equations))
    equations = weigh(choice.rows, equations, used, belief, choice.floor)
    return replace(
        choice, equations=equations, used=used, belief=belief, found=evidence(equations, used, belief, start)
    )


def _smoothing(choice: Choice, logs: list[Log]) -> Choice:
    """Measured velocities, sharper directions, smoother positions, later torques: each if it pays."""
    filters = choice.rows.filters
    start = choice.found.strengths

    def again(filters: Filters) -> Choice:
        return _refit(_with_rows(choice, choice.rows.with_tracks(tracks_of(logs, filters), filters)), start)

    if all(log.qd is not None for log in logs):
        choice = _better(choice, again(filters._replace(velocity=True)), "measured velocities", SMOOTHING)
    least = SMOOTHING
    for width in NARROW_WIDTHS:
        before = choice
        choice = _better(
            choice, _refit(_with_rows(before, before.rows.with_width(width)), start),
            f"directions from {width:g} rad/s or m/s on", least,
        )  # fmt: skip
        if choice.rows is before.rows:
            break
        least = AGAIN
    if filters.cutoff == CUTOFF_HZ:
        now = choice.rows.filters
        choice = _better(
            choice, again(now._replace(cutoff=LOWER_CUTOFF_HZ)),
            f"positions low-passed at {LOWER_CUTOFF_HZ:g} Hz", SMOOTHING,
        )  # fmt: skip
    for sign in (1.0, -1.0):
        found = _delay(choice, sign, start)
        if found.rows is not choice.rows:
            return found
        choice = found
    return choice


def _better(choice: Choice, other: Choice, what: str, share: float) -> Choice:
    """Another choice if its held-out error is lower by more than a share, and what the fit to all leaves is, too.

    Where each block shows something of its own, held-out errors are those of guesses, and a choice may help to guess.
    """
    error = other.held_out
    taken = error < (1 - share) * choice.held_out and other.residual < choice.residual
    return (other if taken else choice).with_candidate(what, error, taken)


def _delay(choice: Choice, sign: float, start: Strengths) -> Choice:
    """Torques that were measured later than positions, by as much as pays: first in steps, then halfway to the next."""
    tracks, least, given = choice.rows.tracks, SMOOTHING, choice.rows.filters.delay

    def later(choice: Choice, by: float) -> Choice:
        rows = choice.rows.with_delay(_later(tracks, by), given + by)
        what = f"torques {1e3 * by:+.3g} ms later"
        return _better(choice, _refit(_with_rows(choice, rows), start), what, least)

    steps, best = (0.0, *DELAYS_SECONDS, DELAYS_SECONDS[-1]), 0
    for k in range(1, len(steps) - 1):
        before, choice = choice, later(choice, sign * steps[k])
        if choice.rows is before.rows:
            break
        least, best = AGAIN / 2, k
    for other in (best + 1, best - 1) if best else ():
        before, choice = choice, later(choice, sign * (steps[best] + steps[other]) / 2)
        if choice.rows is not before.rows:
            break
    return choice


def _later(tracks: tuple[Track, ...], delay: float) -> tuple[Track, ...]:
    """The tracks with torques that were measured later by a delay."""
    return tuple(track._replace(tau=interpolate(track.t + delay, track.t, track.tau)) for track in tracks)


def _terms(choice: Choice, kinds: tuple[str, ...]) -> Choice:
    """Further joint terms, one joint after the other, that pay on held-out blocks."""
    joints = set(range(choice.equations.n))
    for _ in range(MOST_ROUNDS):
        changed = set()
        for joint in sorted(joints):
            before = choice
            choice = _one_term(choice, joint, kinds)
            if choice.used is not before.used:
                changed.add(joint)
        joints = changed
        if not joints:
            break
    return choice


def _one_term(choice: Choice, joint: int, kinds: tuple[str, ...]) -> Choice:
    """The joint's best further term, if it pays."""
    best = _best_term(choice, joint, kinds)
    if best is None:
        return choice
    used, name = best
    trial = replace(choice, used=used, found=evidence(choice.equations, used, choice.belief, choice.found.strengths))
    before, after = choice.squares, trial.squares
    own = joint if before.shape[1] == choice.equations.n else 0
    taken = bool(
        after[:, own].sum() < (1 - TERM) ** 2 * before[:, own].sum()
        and after.sum() < (1 - NOTICEABLE) ** 2 * before.sum()
    )
    taken = taken and _brakes(choice, trial) and _is_friction(trial, joint)
    taken = taken and (name not in BY_POSITION or _reaches_further(choice, trial, joint))
    taken = taken and not _surprises(choice, trial)
    error = choice.equations.relative(after)
    return (trial if taken else choice).with_candidate(f"{name} of joint {joint + 1}", error, taken)


def _brakes(before: Choice, after: Choice) -> bool:
    """Whether the further terms have the sign that they must have: a spring that pushes makes up for something else."""
    more = np.flatnonzero(after.used & ~before.used)
    values = after.x[more]
    return all(
        value > 0 or not TERMS[(k - after.base.count) % len(TERMS)].positive
        for k, value in zip(more, values, strict=True)
    )


def _is_friction(choice: Choice, joint: int) -> bool:
    """Whether dry friction brakes both ways."""
    asymmetry, coulomb = (_of_kind(choice, joint, kind) for kind in ("asymmetry", "coulomb"))
    level = coulomb + choice.model.terms[joint][LOAD] * choice.rows.reach.torque[joint]
    return abs(asymmetry) <= MOST_ASYMMETRY * max(level, 0.0)


def _of_kind(choice: Choice, joint: int, kind: str) -> float:
    """The joint's terms of a kind, together."""
    values = choice.model.terms[joint]
    return float(sum(value for term, value in zip(TERMS, values, strict=True) if term.kind == kind))


def _surprises(before: Choice, after: Choice) -> bool:
    """Whether torques on other motion change by much more than what further terms explain of the logs."""
    if len(before.equations.weights) != before.equations.n:  # powers
        return False
    along = novel_motion(before.rows.tracks)
    change = before.model.torque(along) - after.model.torque(along)
    explained = float((before.squares - after.squares).sum()) / float(before.equations.samples.sum())
    return float(np.mean(change**2, axis=0).sum()) > MOST_SURPRISE**2 * explained


def _reaches_further(before: Choice, after: Choice, joint: int) -> bool:
    """Whether a term that depends on the joint's position also pays where it never was: at either end of its range.

    Springs and balancers look like weights within a short range, and part from them beyond.
    """
    q = before.rows.positions()[:, joint]
    block = np.searchsorted(np.percentile(q, (100 / 3, 200 / 3)), q)
    if len(np.unique(block)) < 3:
        return False
    equations = Equations.of(before.rows, block).with_weights(before.equations.weights)
    old, new = (replace(choice, equations=equations).held_out for choice in (before, after))
    return new < old


def _best_term(choice: Choice, joint: int, kinds: tuple[str, ...]) -> tuple[NDArray, str] | None:
    """The best structure with one further term of the joint, instead of those of its kind, and its name."""
    equations, used, first = choice.equations, choice.used, choice.base.count + joint * len(TERMS)
    felt = equations.column_squares > UNFELT_SQUARE
    groups: dict[tuple[int, ...], list[int]] = {}
    for k, term in enumerate(TERMS):
        if term.kind not in kinds or used[first + k] or not felt[first + k]:
            continue
        if term.kind.startswith("balance") and term.order * choice.rows.reach.span[joint] < LEAST_WAVE_RAD:
            continue
        rivals = [first + i for i, other in enumerate(TERMS) if other.kind == term.kind and term.order == 0]
        groups.setdefault(tuple(r for r in rivals if used[r]), []).append(first + k)
    best: tuple[float, int, NDArray] | None = None
    for replaced, more in groups.items():
        rest = used.copy()
        rest[list(replaced)] = False
        scores = equations.held_out_adding(rest, np.array(more), choice.found.precision, choice.belief.centre)
        k = int(np.argmin(scores.sum(axis=1)))
        if best is None or scores[k].sum() < best[0]:
            best = float(scores[k].sum()), more[k], rest
    if best is None:
        return None
    _, k, trial = best
    term = TERMS[k - first]
    # A wave has any phase.
    trial[[first + i for i in BALANCE if TERMS[i].order == term.order] if term.kind.startswith("balance") else k] = True
    return trial, _term_name(term)


def _centre(choice: Choice, options: Options) -> Choice:
    """The description in the place of generic bodies: if asked for, or if held-out blocks are predicted better."""
    arm = choice.base.source
    if options.strength == 0 or why_no_prior(arm):
        return choice
    prior = Prior.of(arm)
    covariance = _covariance(choice.base, prior.covariance)
    centre = choice.belief.centre.copy()
    links = inertial.SIZE * arm.n
    centre[: choice.base.count] = choice.base.P[:, :links] @ prior.theta
    if choice.base.joint_terms:
        inertias = np.array([joint.drive.reflected_inertia for joint in arm.joints])
        centre[: choice.base.count] += choice.base.P[:, links:] @ inertias
    precision = precision_in(choice.base, covariance)
    belief = replace(choice.belief, base=precision, centre=centre, fixed=options.strength)
    other = replace(choice, belief=belief, prior=prior, covariance=covariance, centre=CENTRES[1])
    found = evidence(other.equations, other.used, belief, choice.found.strengths._replace(base=1.0))
    other = replace(other, found=found)
    if options.strength is not None:
        return other
    error = other.held_out
    taken = error < choice.held_out if choice.can_choose else _log_evidence(other) > _log_evidence(choice)
    return (other if taken else choice).with_candidate("the description's bodies", error, taken)


def _log_evidence(choice: Choice) -> float:
    return choice.found.logarithm(choice.equations, choice.used, choice.belief.centre)


def _prune(choice: Choice) -> Choice:
    """Without the joint terms that the evidence shrank to nothing."""
    used = choice.used & ~choice.found.pruned
    always = np.zeros((choice.equations.n, len(TERMS)), bool)
    always[:, : len(ALWAYS)] = True
    always[np.ix_(choice.rows.reach.balanced, np.array(BALANCE))] = True  # these were asked for
    used[choice.base.count :] |= choice.used[choice.base.count :] & always.ravel()
    found = evidence(choice.equations, used, choice.belief, choice.found.strengths)
    choice = replace(choice, used=used, found=found)
    own = with_own_friction(choice.equations, used, found.x, choice.light)
    return replace(choice, found=found._replace(x=own))
