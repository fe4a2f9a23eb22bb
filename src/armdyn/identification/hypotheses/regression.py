"""Screening regression: the rows of the fit, on which every hypothesis about a log is scored alike.

Torques and joint terms are low-passed and thinned out as those of the fit (`fit.rows`); columns of the links are
computed at the low-passed motion, so that a hypothesis that changes the motion costs one call of the regressor. A model
of the log, as it is or as a hypothesis has it, is fitted with the prior of the fit (`fit.evidence`): generic or
described bodies and small joint terms, of strengths that suit the data. The log evidence of a model over that of
another is

    1/2 sum_j N_j log(S'_j / S_j) + (c - c') + (d - d')

with the mean squares S_j that free parameters leave of torque j, and N_j independent samples, for both models alike, by
the autocorrelation of what the better one leaves: residuals of a wrong model resemble their neighbours, and counted as
they are they would prove anything. c is the price of the prior,

    c = -1/2 (excess + d' L d + log det(A + L) - log det L),

by what the most probable parameters leave beyond the free ones (excess), their distance from the prior (d), its
precision L and the normal equations A. d is the log probability that friction brakes. What models miss is no noise:
S_j is at least the square of `SMALL_SHARE` of the torque.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.dynamics.shafts import drive_torques, measured_shafts, shaft_rows, shaft_torques
from armdyn.identification.correlation import correlation_times
from armdyn.identification.fit.equations import Equations
from armdyn.identification.fit.evidence import WEAKEST, GaussianPrior, Hyperparameters, Posterior, covariance, evidence
from armdyn.identification.fit.passive import without_passive
from armdyn.identification.fit.prior import ReferenceBodies, generic_covariance, precision_in, why_no_prior
from armdyn.identification.fit.rows import OVERSAMPLING, Decimator, columns_per_joint, decimator, grid
from armdyn.identification.fit.terms import (
    COULOMB,
    OFFSET,
    ROTOR,
    TERMS,
    VISCOUS,
    MotionStatistics,
    friction_curve,
    term_columns,
)
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.identification.motion.track import BAND_HZ, DIRECTION_WIDTH, Track, moving_parts
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

ROUNDS = 2  # in which the noise is found
MAX_ROWS = 700  # of all logs: of more, neighbours tell nothing new
SLOW, HELD = 0.25, 0.05  # shares of a joint's rms speed, and of the fastest joint's: slow motion, and none
SCREENED = tuple(k for k, term in enumerate(TERMS) if k in (VISCOUS, COULOMB, OFFSET, ROTOR) or term.share == SLOW)


class RowMotion(NamedTuple):
    """Low-passed motion of the joints at the rows, each (N, n)."""

    q: NDArray
    qd: NDArray
    qdd: NDArray


class ModelDesign(NamedTuple):
    """Equations of a model: columns, torques, and what of the measured torques these are."""

    rigid: NDArray  # (N, n, c) columns of the links
    terms: NDArray  # (N, n, k) columns of the joint terms
    tau: NDArray  # (N, n)
    lift: NDArray  # (c, 10 n) parameters of the columns from those of the links
    mix: NDArray  # (n, n): measured = modelled @ mix
    rows: NDArray  # (N,) of bool: samples that count


@dataclass(frozen=True, eq=False)
class ScreeningRegression:
    """Rows of logs of an arm; see the head of the file."""

    arm: Arm
    base: BaseParameters
    tracks: tuple[Track, ...]
    thin: int  # samples of which one is kept beyond what the low-pass allows
    statistics: MotionStatistics
    t: NDArray  # (N,) [s]
    segment: NDArray  # (N,) number of the track
    motion: RowMotion
    terms: NDArray  # (N, n, k)
    tau: NDArray  # (N, n) of the joints, as measured; zero where they were not
    measured: NDArray  # (n,) of bool: shafts whose torques were; the rows of others are zero, and say nothing

    @classmethod
    def of(cls, arm: Arm, tracks: Iterable[Track]) -> ScreeningRegression | None:
        """Rows of tracks, or of long ones of runs that are spread over them; None where they are too few."""
        active = (track._replace(tau=without_passive(arm, track, DIRECTION_WIDTH)) for track in tracks)
        (used, thin), base = _runs(moving_parts(list(active))), base_parameters(arm)
        if not used:
            return None
        statistics = MotionStatistics.of(arm, used, ())
        parts = []
        for k, track in enumerate(used):
            taps, step, count = grid(track, BAND_HZ, thin)
            low = decimator(taps, step, count)
            terms = screened_columns(arm, track, statistics)
            filtered = (low @ terms.reshape(len(terms), -1)).reshape(count, arm.n, -1)
            middle = track.t[len(taps) // 2 + step * np.arange(count)]
            smooth = (low @ x for x in (track.q, track.qd, track.qdd, track.tau))
            parts.append((middle, np.full(count, k), *smooth, filtered))
        t, segment, q, qd, qdd, tau, terms = (np.concatenate(column) for column in zip(*parts, strict=True))
        known = np.all([measured_shafts(arm, track.tau) for track in used], axis=0)
        terms = np.where(known[:, None], terms, 0.0)
        motion = RowMotion(q, qd, qdd)
        regression = cls(arm, base, used, thin, statistics, t, segment, motion, terms, np.nan_to_num(tau), known)
        # As many independent equations as unknowns explain anything.
        enough = len(tau) * arm.n > 1.5 * regression.n_parameters
        return regression if enough and regression.design.tau[:, known].std(axis=0).all() else None

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.arm.n

    @property
    def n_parameters(self) -> int:
        """Number of base parameters and joint terms."""
        return self.base.count + len(SCREENED) * self.n

    @cached_property
    def deviations(self) -> NDArray:
        """Standard deviation (n,) of each torque."""
        deviation = self.tau.std(axis=0)
        return np.maximum(deviation, 1e-3 * deviation.max())

    @cached_property
    def described(self) -> ReferenceBodies | None:
        """The described bodies, where they are possible."""
        return None if why_no_prior(self.arm) else ReferenceBodies.of(self.arm)

    def low(self, track: Track) -> Decimator:
        """The low-pass of a track."""
        return decimator(*grid(track, BAND_HZ, self.thin))

    def terms_along(self, motion: Callable[[Track], Mapping[str, NDArray]]) -> NDArray:
        """Low-passed terms (N, n, k) of the joints along tracks with another motion."""
        parts = []
        for track in self.tracks:
            turned = track._replace(**motion(track))  # type: ignore[arg-type]
            columns = screened_columns(self.arm, turned, self.statistics)
            low = self.low(track)
            parts.append((low @ columns.reshape(len(columns), -1)).reshape(low.count, *columns.shape[1:]))
        return np.concatenate(parts)

    @cached_property
    def friction_curves(self) -> NDArray:
        """Friction (n, 2, k) in slow and in usual motion for a unit of each joint term."""
        speeds = np.sqrt(np.mean(self.terms[:, :, 0] ** 2, axis=0))
        both = (friction_curve(j, speed * np.array([SLOW, 1.0]), self.statistics) for j, speed in enumerate(speeds))
        return np.stack([curve[:, SCREENED] for curve in both])

    def braking(self, torque: NDArray, std: NDArray) -> NDArray:
        """Log probability (...) that friction (..., 2, n) brakes every joint that moves, slowly or as usual."""
        from scipy.special import log_ndtr

        rms = np.sqrt(np.mean(self.motion.qd**2, axis=0))
        turns = np.array([joint.kind == "revolute" for joint in self.arm.coordinate_joints])
        fastest = np.array([rms[turns == kind].max() for kind in turns])
        return np.asarray(log_ndtr((torque / std).max(axis=-2))[..., rms > HELD * fastest].sum(axis=-1))

    # -- designs ---------------------------------------------------------------------------------------

    def rigid(self, motion: RowMotion) -> NDArray:
        """Columns (N, n, c) of the links."""
        return self._silenced(shaft_rows(self.arm, np.asarray(self.base.regressor(*motion))))

    def _silenced(self, rows: NDArray) -> NDArray:
        """Rows (N, n, ...) with zeros for the shafts whose torques were not measured."""
        if not self.measured.all():
            rows[:, ~self.measured] = 0.0
        return rows

    @cached_property
    def design(self) -> ModelDesign:
        """The log as it is."""
        lift = self.base.P[:, : inertial.SIZE * self.arm.n_joints]
        mix = np.asarray(drive_torques(self.arm, np.eye(self.n)))
        tau = self._silenced(np.array(shaft_torques(self.arm, self.tau)))
        return ModelDesign(self.rigid(self.motion), self.terms, tau, lift, mix, np.ones(len(tau), bool))

    def with_torques(self, tau: NDArray, mix: NDArray | None = None) -> ModelDesign:
        """The log with other torques (N, n) of the joints; measured = these @ mix."""
        design = self.design._replace(tau=self._silenced(np.array(shaft_torques(self.arm, tau))))
        return design if mix is None else design._replace(mix=design.mix @ mix)

    @cached_property
    def static(self) -> NDArray:
        """Columns (N, n, c) of the links at rest."""
        return self.rigid(RowMotion(self.motion.q, 0 * self.motion.qd, 0 * self.motion.qdd))

    def moved(self, motion: RowMotion) -> ModelDesign:
        """The log with another motion of the links."""
        return self.design._replace(rigid=self.rigid(motion))

    def under_gravity(self, gravity: NDArray) -> ModelDesign:
        """The log of an arm that is mounted otherwise: other parameters matter then."""
        size = inertial.SIZE * self.arm.n_joints
        others = replace(self.base, columns=tuple(k for k in range(size) if k not in self.base.columns))
        Y = np.empty((*self.tau.shape, size))
        for some in (self.base, others):
            Y[..., list(some.columns)] = some.regressor(*self.motion, gravity=gravity)
        return self.design._replace(rigid=self._silenced(shaft_rows(self.arm, Y)), lift=np.eye(size))

    def scaled(self, factors: NDArray) -> ModelDesign:
        """The log whose torques were measured with factors (n,)."""
        return self.with_torques(self.tau / factors, np.diag(factors))

    def later(self, delay: float) -> ModelDesign:
        """The log whose torques were measured later by a delay [s]."""
        torques = (np.nan_to_num(track.torques_later(delay)) for track in self.tracks)
        parts = (self.low(track) @ tau for track, tau in zip(self.tracks, torques, strict=True))
        return self.with_torques(np.concatenate(list(parts)))

    def without(self, j: int, torque: NDArray) -> ModelDesign:
        """The log without a torque (N,) of one joint."""
        tau = self.tau.copy()
        tau[:, j] -= torque
        return self.with_torques(tau)

    def added(self, j: int, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Values (k,) of further columns (N, k) of one joint, each alone, and what they gain of log-likelihood."""
        at_shafts = np.asarray(shaft_torques(self.arm, np.eye(self.n)[j]))
        values, gains, _ = self.model.added(at_shafts[:, None] * columns[:, None], free=True)
        return values, gains

    @cached_property
    def alone(self) -> tuple[NDArray, NDArray]:
        """Each joint with bodies of its own: terms (n, k) that suit its torque, and mean squares (n, n) left of each.

        Torques of which squares are left are those of the joints, each in units of its deviation.
        """
        tau, friction, squares = self.tau / self.deviations, [], []
        for j in range(self.n):
            A = np.concatenate([self.design.rigid[:, j], self.terms[:, j]], axis=1)
            size = np.maximum(np.sqrt(np.mean(A**2, axis=0)), 1e-300)
            A, torque = A / size, self.design.tau[:, j : j + 1]
            x = np.linalg.lstsq(A, np.concatenate([torque, tau], axis=1), rcond=1e-3)[0]
            friction.append((x[:, 0] / size)[-len(SCREENED) :])
            squares.append(np.mean((tau - A @ x[:, 1:]) ** 2, axis=0))
        return np.array(friction), np.array(squares)

    # -- scores ----------------------------------------------------------------------------------------

    def sums(self, designs: Sequence[ModelDesign]) -> NDArray:
        """Sums over the rows (v, n, m, m) of joint terms, columns of the links and, last, the torque, by shafts.

        Designs have as many columns each; those that share them cost little more than one.
        """
        m = designs[0].terms.shape[2] + designs[0].rigid.shape[2]
        sums, firsts = np.empty((len(designs), self.n, m + 1, m + 1)), dict[tuple[int, ...], int]()
        squares = dict[tuple[int, int], NDArray]()
        for number, (d, into) in enumerate(zip(designs, sums, strict=True)):
            rigid, terms, tau = (d.rigid, d.terms, d.tau) if d.rows.all() else (x[d.rows] for x in d[:3])
            if rigid is self.design.rigid and terms is self.design.terms:
                into[:, :m, :m] = self._column_sums
                into[:, :m, m] = (self._columns @ tau.T[:, :, None])[:, :, 0]
            else:
                first = firsts.setdefault((id(d.rigid), id(d.terms), id(d.rows)), number)
                self._fill_sums(rigid, terms, tau, into, None if first == number else sums[first])
            into[:, m, :m] = into[:, :m, m]
            torques = id(d.tau), id(d.rows)
            if torques not in squares:
                squares[torques] = np.sum(tau**2, axis=0)
            into[:, m, m] = squares[torques]
        return sums

    def _fill_sums(self, rigid: NDArray, terms: NDArray, tau: NDArray, sums: NDArray, alike: NDArray | None) -> None:
        """Sums (n, m, m) but for the last row, where known like those of a design with the same columns."""
        k, m = terms.shape[2], sums.shape[1] - 1
        sums[:, :m, :m] = 0.0 if alike is None else alike[:, :m, :m]
        sums[:, k:m, m] = 0.0
        beside = tau[:, :, None] if alike is not None else np.concatenate([tau[:, :, None], terms], axis=2)
        every = [slice(0, rigid.shape[2])] * self.n  # columns of the links that each shaft feels
        for j, active in enumerate(self._active_base_columns if rigid.shape[2] == self.base.count else every):
            Y, of_links = rigid[:, j, active], slice(k + active.start, k + active.stop)
            cross = Y.T @ beside[:, j]
            sums[j, of_links, m] = cross[:, 0]
            if alike is None:
                sums[j, of_links, of_links] = Y.T @ Y
                sums[j, of_links, :k], sums[j, :k, of_links] = cross[:, 1:], cross[:, 1:].T
        of_terms = terms.transpose(1, 2, 0) @ beside.transpose(1, 0, 2)
        sums[:, :k, m] = of_terms[:, :, 0]
        if alike is None:
            sums[:, :k, :k] = of_terms[:, :, 1:]

    @cached_property
    def _columns(self) -> NDArray:
        """Columns (n, m - 1, N) of the log as it is."""
        return np.ascontiguousarray(np.concatenate([self.design.terms, self.design.rigid], axis=2).transpose(1, 2, 0))

    @cached_property
    def _column_sums(self) -> NDArray:
        return self._columns @ self._columns.swapaxes(1, 2)

    @cached_property
    def _active_base_columns(self) -> list[slice]:
        return columns_per_joint(self.base)

    @cached_property
    def model(self) -> Model:
        """The log as it is."""
        return Model(self, self.design)

    def squares(self, residual: NDArray) -> NDArray:
        """Mean squares (n,) of residuals, at least those that models miss."""
        return np.maximum(np.mean(residual**2, axis=0), (SMALL_SHARE * self.deviations) ** 2)

    def counts(self, residual: NDArray) -> NDArray:
        """Independent samples (n,) of each torque beyond those that parameters use up."""
        return np.maximum(len(residual) / correlation_times(residual) - self.n_parameters / self.n, 1.0)

    def likelihood_ratio(self, model: Model) -> float:
        """Logarithm of the likelihood of a model over that of the log as it is."""
        rows = model.design.rows
        before, after = self.squares(self.model.residual[rows]), self.squares(model.residual[rows])
        return float(0.5 * model.counts @ np.log(before / after))

    def evidence_ratio(self, model: Model) -> float:
        """Logarithm of the evidence of a model over that of the log as it is, both with the same samples."""
        likelihood = self.likelihood_ratio(model)
        if not model.design.rows.all():  # fewer samples are always fitted better
            return likelihood - self.n_parameters / 2
        old = self.model.cost(self.model.independent(model.counts))
        return likelihood + model.prior_cost - old + model.dissipation - self.model.dissipation

    def error_reduction(self, model: Model, joints: Iterable[int] = ()) -> float:
        """Share by which the error falls, of all torques together or of some joints', where friction brakes."""
        k = list(joints) or list(range(self.n))
        new, old = (some.braked_residual[model.design.rows][:, k] for some in (model, self.model))
        return 1 - _norm(new) / max(_norm(old), 1e-300)

    @cached_property
    def beyond_friction(self) -> tuple[NDArray, NDArray]:
        """Torques (N, n) of the described bodies and measured ones, without what joint terms explain of them."""
        d = self.design
        assert self.described is not None
        model = d.rigid @ (d.lift @ self.described.theta)
        return beyond(d.terms, model) @ d.mix, beyond(d.terms, d.tau) @ d.mix

    def left_by(self, torque: NDArray) -> NDArray:
        """Measured torques (N, n) that neither torques (N, n) of bodies, by shafts, nor joint terms explain."""
        d = self.design
        return beyond(d.terms, d.tau - torque) @ d.mix

    @property
    def error_without_bodies(self) -> float:
        """Share of all torques that joint terms alone leave."""
        return _norm(self.left_by(np.zeros_like(self.tau))) / max(_norm(self.tau), 1e-300)

    @property
    def described_likeness(self) -> float:
        """Correlation of described and measured torques beyond friction; nan where no bodies are described."""
        if self.described is None:
            return np.nan
        model, measured = self.beyond_friction
        return float(np.sum(model * measured)) / max(_norm(model) * _norm(measured), 1e-300)

    def bodies(self, design: ModelDesign) -> list[tuple[NDArray, NDArray]]:
        """Precisions and means of a design's parameters of the links: generic bodies, and possible described ones."""
        count = design.rigid.shape[2]
        if count not in self._bodies:
            base, described = replace(self.base, P=design.lift), self.described
            self._bodies[count] = [(precision_in(base, generic_covariance(self.arm)), np.zeros(count))]
            if described is not None:
                self._bodies[count].append((precision_in(base, described.covariance), design.lift @ described.theta))
        return self._bodies[count]

    @cached_property
    def _bodies(self) -> dict[int, list[tuple[NDArray, NDArray]]]:
        return {}


@dataclass(frozen=True, eq=False)
class Model:
    """A design fitted to the log: with free parameters, then with those that are most probable."""

    regression: ScreeningRegression
    design: ModelDesign

    @property
    def count(self) -> int:
        """Number of parameters of the links."""
        return self.design.rigid.shape[2]

    @cached_property
    def deviations(self) -> NDArray:
        """Standard deviation (n,) of each modelled torque."""
        deviation = self.design.tau[self.design.rows].std(axis=0)
        return np.maximum(deviation, 1e-3 * deviation.max())

    @cached_property
    def _sums(self) -> Equations:
        """Sums over the rows, in the layout of the fit."""
        d, n, c = self.design, self.regression.n, self.count
        at = np.r_[c + np.array(SCREENED), :c, c + len(TERMS)]
        grams = np.zeros((n, c + len(TERMS) + 1, c + len(TERMS) + 1))
        grams[np.ix_(np.arange(n), at, at)] = self.regression.sums([d])[0]
        return Equations(grams[None], np.array([np.count_nonzero(d.rows)]), c, np.ones(n), n, np.zeros(1, int))

    @cached_property
    def used(self) -> NDArray:
        """Parameters (size,) that show."""
        used = np.ones(self._sums.size, bool)
        used[self.count :] = self._sums.column_squares[self.count :] > 1e-16
        return used

    @cached_property
    def priors(self) -> list[GaussianPrior]:
        """Generic bodies, and the described ones where these are possible."""
        screening, c = self.regression, self.count
        size = np.sqrt(self._sums.column_squares[c:].reshape(screening.n, len(TERMS)))
        terms = (np.maximum(size, 1e-3 * size.max(axis=0) + 1e-12) / self.deviations[:, None]) ** 2
        of_terms, nothing = np.concatenate([np.zeros(c), terms.ravel()]), np.zeros(terms.size)
        return [
            GaussianPrior(P, of_terms, np.concatenate([mean, nothing])) for P, mean in screening.bodies(self.design)
        ]

    @cached_property
    def _free_precision(self) -> NDArray:
        """Precision (size, size) of a prior that nearly free parameters have."""
        size = self._sums.size
        return self.priors[0].precision(Hyperparameters(WEAKEST, np.full(size, WEAKEST)))

    @cached_property
    def _free(self) -> tuple[Equations, NDArray]:
        """Equations weighed by the noise, and parameters (size,) that are nearly free."""
        equations, noise = self._sums, self.deviations
        for _ in range(ROUNDS):
            equations = equations.with_weights(1 / noise)
            x = equations.fit(self.used, self._free_precision, self.priors[0].mean)
            noise = np.sqrt(equations.errors(x) / equations.samples.sum())
            noise = np.maximum(noise, SMALL_SHARE * self.deviations)
        return equations, x

    @cached_property
    def residual(self) -> NDArray:
        """Measured torques (N, n) that free parameters leave."""
        return self.left(self._free[1])

    @cached_property
    def braked_residual(self) -> NDArray:
        """Measured torques (N, n) that free parameters leave if friction does not drive any joint."""
        torque, std = self.friction
        x = self._free[1].copy()
        friction = [k for k in range(len(TERMS)) if k not in (OFFSET, ROTOR)]
        x[self.count :].reshape(-1, len(TERMS))[np.ix_((torque / std).max(axis=0) < 0, friction)] = 0.0
        return self.left(x)

    @cached_property
    def braked_errors(self) -> NDArray:
        """Norms (n,) of these."""
        return np.asarray(np.linalg.norm(self.braked_residual[self.design.rows], axis=0))

    def left(self, x: NDArray) -> NDArray:
        """Measured torques (N, n) that parameters (size,) leave."""
        d = self.design
        friction = x[self.count :].reshape(-1, len(TERMS))[:, SCREENED]
        return (d.tau - np.tensordot(d.rigid, x[: self.count], 1) - np.einsum("tjk,jk->tj", d.terms, friction)) @ d.mix

    @cached_property
    def error(self) -> float:
        """Share of all torques that free parameters leave."""
        rows = self.design.rows
        return _norm(self.residual[rows]) / max(_norm(self.regression.tau[rows]), 1e-300)

    @cached_property
    def counts(self) -> NDArray:
        """Independent samples (n,) of each torque, by what the model leaves or the log as it is, whichever is less."""
        screening, new = self.regression, self.residual[self.design.rows]
        if self is screening.model:
            return screening.counts(new)
        old = screening.model.residual[self.design.rows]
        return screening.counts(np.where(screening.squares(new) < screening.squares(old), new, old))

    def independent(self, counts: NDArray) -> Equations:
        """Equations of so many independent samples (n,)."""
        equations, _ = self._free
        by_shaft = counts[np.argmax(np.abs(self.design.mix), axis=1)]
        return equations.with_weights(equations.weights * np.sqrt(by_shaft / equations.samples.sum()))

    @cached_property
    def _weighed(self) -> tuple[Equations, list[Posterior]]:
        """Equations of independent samples, and the most probable parameters under each prior."""
        equations = self.independent(self.counts)
        if self is self.regression.model:
            return equations, [evidence(equations, self.used, prior) for prior in self.priors]
        starts = [weighing.hyperparameters for weighing in self.regression.model._weighed[1]]
        pairs = zip(self.priors, starts, strict=True)
        same = self.design.lift is self.regression.design.lift  # strengths suit the same parameters
        return equations, [evidence(equations, self.used, prior, start if same else None) for prior, start in pairs]

    @property
    def weighings(self) -> list[Posterior]:
        """The most probable parameters under each prior."""
        return self._weighed[1]

    @cached_property
    def _best(self) -> tuple[float, Posterior]:
        equations, several = self._weighed
        free = float(equations.errors(self._free[1]) @ equations.weights**2)
        pairs = zip(several, self.priors, strict=True)
        costs = [weighing.logarithm(equations, self.used, prior.mean) + free / 2 for weighing, prior in pairs]
        k = int(np.argmax(costs))
        return costs[k], several[k]

    def cost(self, equations: Equations) -> float:
        """Price of the prior in the log evidence of equations, with the strengths of the log as it is."""
        free = float(equations.errors(self._free[1]) @ equations.weights**2)
        costs = []
        for prior, other in zip(self.priors, self.regression.model._weighed[1], strict=True):
            precision = prior.precision(other.hyperparameters)
            fit = Posterior(equations.fit(self.used, precision, prior.mean), other.hyperparameters, precision)
            costs.append(fit.logarithm(equations, self.used, prior.mean) + free / 2)
        return max(costs)

    @property
    def prior_cost(self) -> float:
        """Price of the prior in the log evidence."""
        return self._best[0]

    @property
    def parameters(self) -> NDArray:
        """Most probable parameters (size,)."""
        return self._best[1].x

    def added(self, columns: NDArray, free: bool = False) -> tuple[NDArray, NDArray, NDArray]:
        """Values (k,) of further columns (N, n, k), each alone, gains of log-likelihood, and standard deviations.

        Of all parameters the most probable, or free ones: what correlates residuals, such as a step, leaves few
        independent samples, and the prior would hold its value down.
        """
        equations, x = self._free if free else (self._weighed[0], self.parameters)
        c = self.count
        W, k = equations.weights**2, np.flatnonzero(self.used)
        cross = np.zeros((equations.size, columns.shape[2]))
        friction_rows = cross[c:].reshape(-1, len(TERMS), columns.shape[2])
        weighed = columns * W[:, None]
        for j in np.flatnonzero(columns.any(axis=(0, 2))):
            cross[:c] += self.design.rigid[:, j].T @ weighed[:, j]
            friction_rows[j, SCREENED] = self.design.terms[:, j].T @ weighed[:, j]
        square = np.sum(columns * weighed, axis=(0, 1))
        spread = self._free_covariance if free else self._covariance
        left = square - np.sum(cross[k] * (spread @ cross[k]), axis=0)
        pull = np.sum(self.left(x)[:, :, None] * weighed, axis=(0, 1))
        shows = left > 1e-9 * np.maximum(square, 1e-300)
        values = np.divide(pull, left, out=np.zeros_like(pull), where=shows)
        std = np.sqrt(np.divide(1.0, left, out=np.full_like(left, np.inf), where=shows))
        return values, np.where(shows, 0.5 * pull * values, 0.0), std

    @cached_property
    def _covariance(self) -> NDArray:
        """Covariance of the parameters that show."""
        return covariance(self._weighed[0], self.used, self._best[1].prior_precision)

    @cached_property
    def _free_covariance(self) -> NDArray:
        """The same of free parameters."""
        return covariance(self._free[0], self.used, self._free_precision)

    @cached_property
    def friction(self) -> tuple[NDArray, NDArray]:
        """Friction (2, n) of slow and of usual motion in the direction of motion, and its standard deviations."""
        screening, k = self.regression, np.flatnonzero(self.used)
        spread = np.zeros((self._sums.size, self._sums.size))
        spread[np.ix_(k, k)] = self._covariance
        at = self.count + len(TERMS) * np.arange(screening.n)[:, None] + np.array(SCREENED)
        curves, variance = screening.friction_curves, spread[at[:, :, None], at[:, None]]
        torque = np.einsum("jsk,jk->sj", curves, self.parameters[at])
        std = np.sqrt(np.maximum(np.einsum("jsk,jkl,jsl->sj", curves, variance, curves), 1e-300))
        return torque, std

    @cached_property
    def dissipation(self) -> float:
        """Log probability that friction brakes every joint that moves, in slow motion or in usual motion.

        A reversed sign turns the whole curve of friction; a current that does no work turns a part of it.
        """
        return float(self.regression.braking(*self.friction))

    @cached_property
    def described_error(self) -> float:
        """Share of all torques that the described bodies leave, beside friction; nan where none are described."""
        screening, d = self.regression, self.design
        if screening.described is None:
            return np.nan
        rest = beyond(d.terms[d.rows], (d.tau - d.rigid @ (d.lift @ screening.described.theta))[d.rows])
        return _norm(rest @ d.mix) / max(_norm(screening.tau[d.rows]), 1e-300)


def beyond(terms: NDArray, torque: NDArray) -> NDArray:
    """Torques (N, n, ...) less what joint terms (N, n, k) explain."""
    left = torque.copy()
    for j, columns in enumerate(terms.transpose(1, 0, 2)):
        left[:, j] -= columns @ np.linalg.lstsq(columns, torque[:, j], rcond=1e-9)[0]
    return left


def screened_columns(arm: Arm, track: Track, statistics: MotionStatistics) -> NDArray:
    """Columns (N, n, k) of the joint terms that are screened with."""
    wanted = np.isin(np.arange(len(TERMS)), SCREENED)
    return term_columns(arm, track, statistics, None, DIRECTION_WIDTH, wanted)[:, SCREENED].swapaxes(1, 2)


def _runs(tracks: Iterable[Track]) -> tuple[tuple[Track, ...], int]:
    """Tracks that have rows, or of long ones runs that are spread over them, and how far their rows are thinned out."""
    used = [track for track in tracks if grid(track, BAND_HZ)[2] > 0]
    share = sum(grid(track, BAND_HZ)[2] for track in used) / MAX_ROWS
    thin = int(np.clip(np.ceil(share), 1, OVERSAMPLING))  # down to a row a period of the low-pass's corner
    if share <= thin:
        return tuple(track for track in used if grid(track, BAND_HZ, thin)[2] > 0), thin
    runs = []
    for track in used:
        parts = np.array_split(np.arange(len(track.t)), max(1, round(len(track.t) * track.dt / RUN_SECONDS)))
        runs += [track.part(slice(part[0], part[0] + int(len(part) * thin / share) + 1)) for part in parts]
    return tuple(run for run in runs if grid(run, BAND_HZ, thin)[2] > 0) or tuple(used[: int(MAX_ROWS)]), thin


RUN_SECONDS = 60.0  # of long logs, of each of which the same share is looked at


def _norm(x: NDArray) -> float:
    return float(np.linalg.norm(x))
