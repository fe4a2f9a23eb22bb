"""Weigh the dictionary of joint terms by the evidence, and decide by held-out blocks the little that is left.

Every joint has the same columns, all at once, and the evidence shrinks those that the data do not ask for. Held-out
blocks decide about measured velocities, delays of torques, torques that depend on positions, the least noise, and
whether the description is the prior: by the error of the torque itself, as it is reported. Choices that change little
are not made, for held-out blocks of one motion say little about another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.base.reduction import arm_size
from armdyn.identification.fit.equations import Equations
from armdyn.identification.fit.evidence import (
    GaussianPrior,
    Hyperparameters,
    Posterior,
    evidence,
    term_precision,
    weigh,
)
from armdyn.identification.fit.free_model import FreeModel
from armdyn.identification.fit.prior import ReferenceBodies, generic_covariance, precision_in, why_no_prior
from armdyn.identification.fit.rows import Rows
from armdyn.identification.fit.terms import ALWAYS, BALANCE, DICTIONARY, POSITION, ROTOR, TERMS, Term
from armdyn.identification.logs.log import SMALL_SHARE, Log
from armdyn.identification.motion.track import BAND_HZ, GRID_SECONDS, by_velocity, tracks_of
from armdyn.spatial import inertia as inertial

NOISE_FLOORS = (0.1, 0.02, 0.002)  # least noise relative to torques; the next if blocks ask for it
PRIOR_SOURCES = ("generic bodies", "the description")
SCAN_FACTORS = np.concatenate([[0.0], 10.0 ** np.arange(-3, 3.1, 0.5)])  # prior strengths over that of the evidence


class Candidate(NamedTuple):
    """A choice that was looked at."""

    what: str
    error: float  # on held-out blocks
    taken: bool


class Options(NamedTuple):
    """The model that is asked for."""

    kinds: frozenset[str] = frozenset()  # of joint terms that every joint has beside plain friction
    rotors: tuple[int, ...] = ()  # joints that have rotors whatever the evidence says
    strength: float | None = None  # hyperparameter of the links with the description as their prior
    choosing: bool = False  # whether velocities, delays and torques by position may be chosen


@dataclass(frozen=True, eq=False)
class Choice:
    """Equations of the logs, and the model chosen for them."""

    rows: Rows
    equations: Equations
    floor: float  # least noise of a joint, relative to the deviation of all torques
    used: NDArray  # (size,) of bool: parameters of the model
    prior: GaussianPrior
    posterior: Posterior
    reference: ReferenceBodies  # the bodies at the prior's mean
    covariance: NDArray  # (10 n + rotors, ...) of the links about it at strength 1
    prior_source: str  # one of `PRIOR_SOURCES`
    tried: tuple[Candidate, ...] = ()

    @property
    def base(self) -> BaseParameters:
        """The parameters that the motion could determine."""
        return self.rows.base

    @property
    def model(self) -> FreeModel:
        """The model without constraints."""
        rows = self.rows
        return FreeModel(rows.base, self.posterior.x, rows.statistics, rows.filters.width, rows.rigid_arm)

    @property
    def described(self) -> bool:
        """Whether the description is the prior."""
        return self.prior_source == PRIOR_SOURCES[1]

    @property
    def strength(self) -> float:
        """Hyperparameter of the links: precision of their prior, where 1 means a body's own size as deviation."""
        return self.posterior.hyperparameters.base

    @cached_property
    def squares(self) -> NDArray:
        """Squared errors (blocks, kinds) of blocks that were held out."""
        (fits,) = self.equations.without(self.used, [self.posterior.prior_precision], self.prior.mean)
        return self.equations.squares(fits)

    @cached_property
    def held_out(self) -> float:
        """Relative error on held-out blocks; nan where there is one block only."""
        return self.equations.relative(self.squares) if self.can_choose else np.nan

    @property
    def by_phase(self) -> Choice:
        """The same choice with blocks that hold out all repetitions of a motion.

        Choices are made with neighbours in time, for what blocks of one period tell about another motion varies more
        (LWR4: 1.8 % between logs with these, 2.1 % with those); errors that are stated are of motion that is unseen.
        """
        equations = self.equations.by_phase(self.rows)
        return self if equations is self.equations else replace(self, equations=equations)

    @cached_property
    def residual(self) -> float:
        """Relative error on the blocks fitted to."""
        return self.equations.relative(self.equations.errors(self.posterior.x))

    @property
    def can_choose(self) -> bool:
        """Whether there are blocks to choose by."""
        return len(self.equations.samples) > 1

    @property
    def structure(self) -> tuple[tuple[str, ...], ...]:
        """Joint terms that are used, in words, a joint at a time."""
        used = self.used[self.base.count :].reshape(-1, len(TERMS))
        return tuple(tuple(dict.fromkeys(_term_name(TERMS[k]) for k in np.flatnonzero(row))) for row in used)

    @cached_property
    def scan(self) -> NDArray:
        """Prior strengths (k,) around that of the evidence and the relative error on held-out blocks (k, 2)."""
        tried = SCAN_FACTORS * self.strength
        precisions = (
            self.prior.precision(self.posterior.hyperparameters._replace(base=strength)) for strength in tried
        )
        fits = self.equations.without(self.used, precisions, self.prior.mean)
        return np.column_stack([tried, [self.equations.relative(self.equations.squares(fit)) for fit in fits]])

    def with_candidate(self, what: str, error: float, taken: bool) -> Choice:
        """The same choice after a candidate was looked at."""
        other = replace(self, tried=(*self.tried, Candidate(what, error, taken)))
        if "squares" in self.__dict__:
            other.__dict__["squares"] = self.squares
        return other


def _term_name(term: Term) -> str:
    words = {"level": "friction curve", "bristle": "presliding", "viscous_asymmetry": "asymmetry"}
    return "balancer" if term.order else words.get(term.kind, term.kind)


def choose(rows: Rows, logs: list[Log], options: Options) -> Choice:
    """The model of the logs that predicts held-out blocks best, from rows of them."""
    choice = _first(rows, options)
    if choice.can_choose:
        before = choice = _noise(choice)
        if options.choosing:
            choice = _delay(_velocities(choice, logs))
            choice = _positions(choice) if options.kinds >= set(DICTIONARY) else choice
            choice = choice if choice.equations is before.equations else _noise(choice)
            choice = _delay(choice) if choice.rows.filters.delay != before.rows.filters.delay else choice
    return _prune(_described_prior(choice, options))


def _noise(choice: Choice) -> Choice:
    """Less noise than models of most arms leave, if held-out blocks are predicted clearly better."""
    for floor in [floor for floor in NOISE_FLOORS if floor < choice.floor]:
        choice = _better(choice, _refitted(replace(choice, floor=floor)), f"noise from {floor:.1%} of the torques on")
    return choice


def _first(rows: Rows, options: Options) -> Choice:
    """Generic bodies with all joint terms; the rigid torques that load joints are those of a fit with plain friction.

    With terms that depend on position in that first fit, weights would move to them.
    """
    arm = rows.base.source
    equations = Equations.of(rows)
    plain = options._replace(kinds=options.kinds - set(DICTIONARY))
    used = starting_terms(equations, plain, rows.statistics.balanced)
    stand_in, covariance = ReferenceBodies.stand_in(arm), _covariance(rows.base, generic_covariance(arm))
    blank = GaussianPrior(precision_in(rows.base, covariance), np.zeros(0), np.zeros(equations.size), None)
    floor = NOISE_FLOORS[0] if rows.filters.form != "energy" else NOISE_FLOORS[-1]
    choice = Choice(rows, equations, floor, used, blank, None, stand_in, covariance, PRIOR_SOURCES[0])  # type: ignore[arg-type]
    choice = _refit(choice)
    if plain == options:
        return choice
    rows = rows.with_rigid_arm(choice.model.bodies)
    choice = replace(choice, rows=rows, equations=equations.updated(rows, rows.load_columns))
    return _refit(replace(choice, used=starting_terms(choice.equations, options, rows.statistics.balanced)))


def starting_terms(equations: Equations, options: Options, balanced: NDArray, unexcited: bool = False) -> NDArray:
    """All base parameters and the joint terms to begin with, those of joints that stand still if `unexcited`."""
    used = np.ones(equations.size, bool)
    terms = used[equations.count :].reshape(equations.n, len(TERMS))
    terms[:] = [k < len(ALWAYS) or term.kind in options.kinds for k, term in enumerate(TERMS)]
    terms[list(options.rotors), ROTOR] = True
    terms[np.ix_(balanced, np.array(BALANCE))] = True
    if not unexcited:
        # Joints that stand still show no friction: what is described stays.
        used[equations.count :] &= equations.column_squares[equations.count :] > np.finfo(float).eps
    return used


def _covariance(base: BaseParameters, links: NDArray) -> NDArray:
    """Covariance of the links with that of coupled rotors, where these are among the base parameters."""
    if not base.joint_terms:
        return links
    size, n = arm_size(base.source), base.source.n_joints
    whole = np.zeros((len(links) + n, len(links) + n))
    whole[: len(links), : len(links)] = links
    k = np.arange(len(links), len(whole))
    whole[k, k] = size**4
    return whole


def _refit(choice: Choice, start: Hyperparameters | None = None) -> Choice:
    """The choice with its weights and hyperparameters anew, after its rows, terms or noise changed."""
    equations = choice.equations
    used = choice.used.copy()
    used[equations.count :] &= equations.column_squares[equations.count :] > np.finfo(float).eps
    prior = replace(choice.prior, terms=term_precision(choice.rows, equations))
    equations = weigh(choice.rows, equations, used, prior, choice.floor)
    return replace(
        choice, equations=equations, used=used, prior=prior, posterior=evidence(equations, used, prior, start)
    )


def _refitted(choice: Choice) -> Choice:
    """The choice with its weights and hyperparameters anew, beginning with those that it has."""
    return _refit(choice, choice.posterior.hyperparameters)


def _velocities(choice: Choice, logs: list[Log]) -> Choice:
    """Measured velocities in the place of those by differences, or smoother positions, if they pay."""
    filters = choice.rows.filters
    smoother = filters._replace(cutoff=filters.band)
    candidates = [(smoother, f"positions smoothed at {filters.band:.3g} Hz")]
    if all(log.qd is not None for log in logs):
        candidates.insert(0, (filters._replace(velocity=True), "measured velocities"))
    for candidate, what in candidates:
        tracks = (
            tuple(by_velocity(track, logs[track.log], candidate) for track in choice.rows.tracks)
            if candidate.velocity
            else tracks_of(logs, candidate)
        )
        rows = choice.rows.with_tracks(tracks, candidate)
        choice = _compared(choice, replace(choice, rows=rows, equations=Equations.of(rows)), what)
        if choice.rows is rows:
            break
    return choice


def _positions(choice: Choice) -> Choice:
    """Torques that depend on positions, as hoses and balancers have them, of all joints together, if they pay.

    About level axes they feel like weights: predictions do not suffer, masses do. Where joints with balancers are
    named, others have none.
    """
    if choice.rows.statistics.balanced.any():
        return choice
    used = choice.used.copy()
    terms = used[choice.base.count :].reshape(-1, len(TERMS))
    terms[:, POSITION] = True
    return _better(choice, _refitted(replace(choice, used=used)), "torques by position")


def _compared(choice: Choice, other: Choice, what: str) -> Choice:
    """Another choice of the same terms if it is better, weighed anew only if it predicts better as it is."""
    other = _as_weighed(choice, other)
    if other.held_out < choice.held_out:
        return _better(choice, _refitted(other), what)
    return choice.with_candidate(what, other.held_out, False)


def _as_weighed(choice: Choice, other: Choice) -> Choice:
    """Another choice of the same terms with the weights and hyperparameters of the first."""
    equations = other.equations.with_weights(choice.equations.weights)
    posterior = choice.posterior.refit(equations, other.used, choice.prior.mean)
    return replace(other, equations=equations, posterior=posterior)


def _better(choice: Choice, other: Choice, what: str) -> Choice:
    """Another choice if its held-out error is clearly lower, and what the fit to all leaves is, too.

    Where each block shows something of its own, held-out errors are those of guesses, and a choice may help to guess.
    """
    error = other.held_out
    taken = error < (1 - SMALL_SHARE) * choice.held_out and other.residual < choice.residual
    return (other if taken else choice).with_candidate(what, error, taken)


def _delay(choice: Choice) -> Choice:
    """Torques that were measured later than positions, by the delay at which a fit leaves least, if it pays.

    The squares that are left are a parabola of the delay, but for terms of higher order.
    """
    tracks, before = choice.rows.tracks, choice.rows.filters.delay

    def late(by: float) -> Choice:
        if not by:
            return choice
        moved = tuple(track._replace(tau=track.torques_later(by)) for track in tracks)
        rows = choice.rows.with_delay(moved, before + by)
        return _as_weighed(choice, replace(choice, rows=rows, equations=choice.equations.updated(rows, np.array([-1]))))

    least, most = -max(before, 0.0), 0.25 / BAND_HZ - before  # beyond a quarter of a period of the band: faults
    by, shift, best = 0.0, np.inf, choice
    while abs(shift) > GRID_SECONDS:  # else the minimum lies among the three
        early, now, later = (late(by + step).residual ** 2 for step in (-GRID_SECONDS, 0.0, GRID_SECONDS))
        turn = early - 2 * now + later
        if turn <= 0:
            return choice
        shift = float(np.clip(by + GRID_SECONDS / 2 * (early - later) / turn, least, most)) - by
        other = late(by + shift)
        if other.residual >= best.residual:
            break
        by, best = by + shift, other
    if abs(by) < GRID_SECONDS / 10:
        return choice
    better = _compared(choice, best, f"torques {1e3 * by:+.3g} ms later")
    return better if better.rows is choice.rows else _delay(better)  # weighed anew, which may move the minimum


def _described_prior(choice: Choice, options: Options) -> Choice:
    """The description in the place of generic bodies: if asked for, or unless held-out blocks are predicted worse."""
    arm = choice.base.source
    if options.strength == 0 or why_no_prior(arm):
        return choice
    reference = ReferenceBodies.of(arm)
    covariance = _covariance(choice.base, reference.covariance)
    mean = choice.prior.mean.copy()
    links = inertial.SIZE * arm.n_joints
    mean[: choice.base.count] = choice.base.P[:, :links] @ reference.theta
    if choice.base.joint_terms:
        mean[: choice.base.count] += choice.base.P[:, links:] @ described_rotors(choice.base)
    precision = precision_in(choice.base, covariance)
    prior = replace(choice.prior, base=precision, mean=mean, fixed=options.strength)
    other = replace(choice, prior=prior, reference=reference, covariance=covariance, prior_source=PRIOR_SOURCES[1])
    fitted = evidence(other.equations, other.used, prior, choice.posterior.hyperparameters._replace(base=1.0))
    other = replace(other, posterior=fitted)
    if options.strength is not None:
        return other
    error = other.held_out
    no_worse = error < (1 + SMALL_SHARE) * choice.held_out
    taken = no_worse if choice.can_choose else _log_evidence(other) > _log_evidence(choice)
    return (other if taken else choice).with_candidate("the description's bodies", error, taken)


def described_rotors(base: BaseParameters) -> NDArray:
    """Inertias of the rotors among the base parameters as they are described, seen at the joints."""
    joints = base.source.joints if base.joint_terms else ()
    return np.array([joint.drive.reflected_inertia for joint in joints])


def _log_evidence(choice: Choice) -> float:
    return choice.posterior.logarithm(choice.equations, choice.used, choice.prior.mean)


def _prune(choice: Choice) -> Choice:
    """Without the joint terms that the evidence shrank to nothing."""
    used = choice.used & ~choice.posterior.pruned
    always = np.zeros((choice.equations.n, len(TERMS)), bool)
    always[:, : len(ALWAYS)] = True
    always[np.ix_(choice.rows.statistics.balanced, np.array(BALANCE))] = True  # these were asked for
    used[choice.base.count :] |= choice.used[choice.base.count :] & always.ravel()
    fitted = evidence(choice.equations, used, choice.prior, choice.posterior.hyperparameters)
    return replace(choice, used=used, posterior=fitted)
