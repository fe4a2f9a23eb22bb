"""How far predicted torques may be off along any motion: noise, what blocks disagree about, and the posterior.

The variance of a torque has three parts: the mean square that the model leaves on held-out blocks; the jackknife, by
which fits without a block each differ from the fit to all (it sees what the model lacks, and grows where motion goes
beyond the logs); and the posterior covariance of the parameters (it sees what no block determines). The error to
expect on new motion counts of the last two only what is more than along the logs, for held-out blocks have that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.shafts import drive_torques
from armdyn.identification.fit.choice import Choice
from armdyn.identification.fit.estimate import ConstrainedEstimate
from armdyn.identification.fit.evidence import STRONGEST_DRY, covariance
from armdyn.identification.fit.free_model import FreeModel
from armdyn.identification.fit.novel_motion import REPEAT_SAMPLES, REPEATS, moved_joints, novel_motion, wide_motion
from armdyn.identification.fit.terms import ALWAYS, TERMS
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.identification.motion.track import Track
from armdyn.precision import NEGLIGIBLE

BAND_FACTOR = 1.5  # by which standard deviations are widened: as many torques as stated are then within them (zoo)


class Uncertainty(NamedTuple):
    """Uncertainty of a model's torques."""

    model: FreeModel
    x: NDArray  # (size,) parameters of the consistent model
    noise: NDArray  # (n,) rms torques left on held-out blocks [N m or N]; NaN of joints without measured torques
    jackknife: NDArray  # (blocks, size) fits without a block, from that to all, scaled so that squares are variances
    root: NDArray  # (size, k) of the posterior covariance: root root'
    passes: float  # through its range, of the joint that went through it least often

    def variance(self, track: Track) -> NDArray:
        """Return the variance of torques (N, n) along a motion."""
        return np.concatenate([self._variance(self.model.columns(part)) for part in self.model.cuts(track)])

    def std(self, track: Track) -> NDArray:
        """Standard deviation (N, n) of what low-passed torques along a motion are off, widened as the zoo asks for."""
        return BAND_FACTOR * np.sqrt(self.variance(track))

    def _variance(self, columns: NDArray) -> NDArray:
        """(N, n) from columns (n, N, base + terms) of the model."""
        variance = np.empty(columns.shape[1::-1])
        directions = np.concatenate([self.jackknife.T, self.root], axis=1)
        for j, Y in enumerate(columns):
            some = directions[self.model.columns_of(j)]
            off = np.einsum("ij,ij->i", Y @ (some @ some.T), Y)
            variance[:, j] = self.noise[j] ** 2 + np.maximum(off, 0.0)
        C = self.model.base.source.coupling
        if C is None:
            return variance
        silent = np.isnan(self.noise)
        together = np.where(silent, 0.0, variance) @ C**2  # shafts' torques are off independently
        return np.where(silent @ (C != 0), np.nan, together)

    def expected(self, tracks: Iterable[Track]) -> float:
        """Relative error to expect on new motion of the joints that moved: half of it in the logs' range, half beyond.

        The error on held-out blocks has in it what the parameters may be off along the logs themselves: of their
        variance along new motion only what is more counts.
        """
        several, arm = list(tracks), self.model.base.source
        moved = moved_joints(several, arm)
        new = [self._sums(along) for along in (novel_motion(several, moved), wide_motion(several, arm, moved))]
        thin = [track.part(slice(None, None, max(1, len(track.t) // (REPEATS * REPEAT_SAMPLES)))) for track in several]
        logs = np.average([self._sums(part)[0] for part in thin], axis=0, weights=[len(part.t) for part in thin])
        noise = self._sums(thin[0])[2]
        variance = [noise + np.maximum(along - logs, 0.0) for along, *_ in new]
        return _relative(np.sum(variance, axis=0), np.sum([size for _, size, _ in new], axis=0))

    def widest(self, tracks: Iterable[Track]) -> float:
        """The same in the range of all joints, also of those that stood still."""
        return self.error(wide_motion(tracks, self.model.base.source))

    def error(self, along: Track) -> float:
        """Relative error to expect along a motion."""
        variance, size, _ = self._sums(along)
        return _relative(variance, size)

    def _sums(self, along: Track) -> tuple[NDArray, NDArray, NDArray]:
        """Mean variances (n,) of torques along a motion, mean squares of torques, and variances by noise alone."""
        columns, arm = self.model.columns(along), self.model.base.source
        tau = np.stack([Y @ self.x[self.model.columns_of(j)] for j, Y in enumerate(columns)], axis=1)
        noise = self._variance(np.zeros_like(columns[:, :1]))[0]
        return self._variance(columns).mean(axis=0), np.mean(drive_torques(arm, tau) ** 2, axis=0), noise


def _relative(variance: NDArray, size: NDArray) -> float:
    """Error of the torques that were measured, relative to their mean squares."""
    known = ~np.isnan(variance)
    return float(np.sqrt(variance[known].sum() / max(float(size[known].sum()), 1e-300)))


def passes(tracks: Iterable[Track], torque: NDArray) -> float:
    """Count how often the joint that did so least went through its range: reversals and one, of joints with some
    torque.
    """
    several = list(tracks)
    top = np.percentile(np.concatenate([np.abs(track.qd[::5]) for track in several]), 99, axis=0)
    counts = np.ones(len(top))
    for track in several:
        # Noise about standstill is no reversal: the speed must pass a fifth of the top one on either side.
        least = np.maximum(top / 5, NEGLIGIBLE)
        sides = np.where(track.qd > least, 1, np.where(track.qd < -least, -1, 0))
        counts += [np.count_nonzero(np.diff(side[side != 0])) for side in sides.T]
    return float(counts[torque >= SMALL_SHARE * torque.max()].min())


def estimate_uncertainty(choice: Choice, estimate: ConstrainedEstimate) -> Uncertainty | None:
    """Return the uncertainty of the consistent model; None where nothing could be held out, or power alone was
    fitted.
    """
    equations = choice.equations
    if len(estimate.deviations) < 2 or len(equations.weights) != equations.n:
        return None
    k = np.flatnonzero(choice.used)
    values, vectors = np.linalg.eigh(covariance(equations, choice.used, _open_precision(choice)))
    root = np.zeros((equations.size, len(k)))
    root[k] = vectors * np.sqrt(np.maximum(values, 0.0))
    torque = np.sqrt(equations.powers / equations.samples.sum())
    blocks = len(estimate.deviations)
    return Uncertainty(
        estimate.free, estimate.x, estimate.held_out_joints * torque,
        np.sqrt((blocks - 1) / blocks) * estimate.deviations, root,
        passes(choice.rows.tracks, choice.rows.statistics.torque),
    )  # fmt: skip


def _open_precision(choice: Choice) -> NDArray:
    """Return the prior precision (size, size), where plain friction that the evidence sets to zero may be there all the
    same.
    """
    hyperparameters, count = choice.posterior.hyperparameters, choice.base.count
    terms = hyperparameters.terms.copy()
    plain = terms[count:].reshape(-1, len(TERMS))[:, : len(ALWAYS)]
    np.minimum(plain, STRONGEST_DRY, out=plain)
    return choice.prior.precision(hyperparameters._replace(terms=terms))
