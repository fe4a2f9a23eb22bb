"""What calibration is worth: errors at poses that were not fitted to, against simpler models, and the verdict."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.fit import INTERPRETED_POSES, EvidenceFit, fit_evidence
from armdyn.calibration.unknowns import NO_WAVES, CalibrationUnknowns, free_entries
from armdyn.precision import SIX_DIGITS
from armdyn.progress import ProgressCallback
from armdyn.trace.backend import interpreting

FOLDS = 5
NOISE_LIMITED_GAIN = 0.2  # share of the error of base and tool that a fitted model must take away to be written


class CalibrationVerdict(StrEnum):
    """Part of the result to write: the whole model, the zeros, or nothing but base and tool."""

    CALIBRATED = "calibrated"
    OFFSETS = "offsets suffice"
    NOISE_LIMITED = "noise-limited"
    BASE_AND_TOOL = "base and tool"  # nothing else was fitted


class PoseErrors(NamedTuple):
    """Distances of predicted from measured points [m], and angles where frames are measured [rad], else NaN."""

    mean: float
    rms: float
    max: float
    turn: float = np.nan


class HeldOut(NamedTuple):
    """Errors at poses not fitted to, by model; None for models that were not asked for."""

    base_and_tool: PoseErrors
    offsets: PoseErrors | None
    full: PoseErrors | None
    folds: int

    def of(self, verdict: CalibrationVerdict) -> PoseErrors:
        """Errors of the model that a verdict allows to be written."""
        fitted = {CalibrationVerdict.CALIBRATED: self.full, CalibrationVerdict.OFFSETS: self.offsets}
        return fitted.get(verdict) or self.base_and_tool

    @property
    def gain(self) -> float:
        """Share of the mean error of base and tool that the fitted model takes away."""
        best = self.full or self.offsets
        return 0.0 if best is None else 1 - best.mean / self.base_and_tool.mean


def models(unknowns: CalibrationUnknowns) -> dict[str, CalibrationUnknowns]:
    """The fitted model and the simpler ones beside it, by their names in `HeldOut`."""
    arm, free = unknowns.arm, unknowns.free
    simple = {"base_and_tool": replace(unknowns, free=free_entries(arm, False), gravity=False, waves=NO_WAVES)}
    if free.any():
        simple["offsets"] = replace(unknowns, free=free_entries(arm, "offsets") & free, gravity=False, waves=NO_WAVES)
    if (free & ~free_entries(arm, "offsets")).any() or unknowns.gravity or any(unknowns.waves):
        simple["full"] = unknowns
    return simple


def refit(unknowns: CalibrationUnknowns) -> EvidenceFit:
    """Fit numbers to their poses from the linear start."""
    return fit_evidence(unknowns, unknowns.start()[0])


def folds(count: int) -> list[tuple[NDArray, NDArray]]:
    """Rows to fit to and rows to predict, of every fold."""
    order, number = np.random.default_rng(0).permutation(count), min(FOLDS, count)
    tests = [np.sort(order[k::number]) for k in range(number)]
    return [(np.setdiff1d(order, test), test) for test in tests]


def held_out_errors(unknowns: CalibrationUnknowns, progress: ProgressCallback | None = None) -> HeldOut:
    """Leave out one fold of the poses after the other, fit every model to the rest, and predict the fold."""
    variants, parts = models(unknowns), folds(len(unknowns.poses))
    errors: dict[str, list[NDArray]] = {name: [] for name in variants}
    for k, (train, test) in enumerate(parts):
        for name, model in variants.items():
            fit = refit(model.of(unknowns.poses.select(train)))
            errors[name].append(pose_distances(fit.unknowns.of(unknowns.poses.select(test)), fit))
            if progress is not None:
                progress(k + len(errors[name]) / len(variants), len(parts), "measuring the error at poses left out")
    known = {name: summary(np.concatenate(rows)) for name, rows in errors.items()}
    return HeldOut(known["base_and_tool"], known.get("offsets"), known.get("full"), len(parts))


def pose_distances(unknowns: CalibrationUnknowns, fit: EvidenceFit) -> NDArray:
    """Distance [m] and angle [rad] (N, 2) from every measured point or frame to its prediction."""
    r = unknowns.residuals(fit.state)
    if unknowns.poses.n_markers:
        distance = np.linalg.norm(r.reshape(len(r), -1, 3), axis=2).ravel()
        distance = distance[np.isfinite(distance)]
        return np.column_stack([distance, np.full(len(distance), np.nan)])
    return np.column_stack([np.linalg.norm(r[:, :3], axis=1), np.linalg.norm(r[:, 3:], axis=1) / unknowns.turn_length])


def summary(distances: NDArray) -> PoseErrors:
    """Mean, root mean square and largest of distances (N, 2)."""
    d = distances[:, 0]
    return PoseErrors(float(d.mean()), float(np.sqrt(np.mean(d**2))), float(d.max()), float(distances[:, 1].mean()))


def judge(errors: HeldOut) -> CalibrationVerdict:
    """Return what held-out errors allow to be written."""
    if errors.offsets is None:
        return CalibrationVerdict.BASE_AND_TOOL
    if errors.gain <= NOISE_LIMITED_GAIN:
        return CalibrationVerdict.NOISE_LIMITED
    if errors.full is None or errors.full.mean >= errors.offsets.mean:
        return CalibrationVerdict.OFFSETS
    return CalibrationVerdict.CALIBRATED


class PredictiveNoise(NamedTuple):
    """Deviations of measurements about their predictions, all that the model lacks included."""

    shift: float  # of a coordinate [m]
    turn: float  # of a measured frame [rad], else NaN


def predictive_noise(unknowns: CalibrationUnknowns) -> PredictiveNoise:
    """Deviations with which 95 % intervals hold 95 % of what is left out, in folds.

    The noise of the fit itself is less: it weighs poses down that disagree, and those occur among new ones too.
    """
    from scipy.special import ndtri

    squares: list[NDArray] = []
    with interpreting(FOLDS * len(unknowns.poses) <= INTERPRETED_POSES):
        for train, test in folds(len(unknowns.poses)):
            fit = refit(unknowns.of(unknowns.poses.select(train)))
            there = fit.unknowns.of(unknowns.poses.select(test))
            J, r = there.jacobian(fit.state), there.residuals(fit.state)
            if not there.poses.n_markers:
                J[:, 3:] /= there.turn_length
                r[:, 3:] /= there.turn_length
            variance = np.einsum("kdp,pq,kdq->kd", J, fit.covariance, J)
            squares.append(np.reshape((r / ndtri(0.975)) ** 2 - variance, (-1, 3)))
    return PredictiveNoise(*_deviations(np.concatenate(squares), not unknowns.poses.n_markers))


def _deviations(squares: NDArray, frames: bool) -> tuple[float, float]:
    """Deviations of shifts and of turns from their excess squares (N, 3), turns in every second row."""

    def deviation(x: NDArray) -> float:
        x = x[np.isfinite(x)]
        # The share that a new one exceeds, not one of these: as in conformal prediction (Vovk et al. 2005).
        share = min(1.0, 0.95 * (1 + 1 / len(x)))
        return float(np.sqrt(max(np.quantile(x, share), SIX_DIGITS**2)))

    return (deviation(squares[::2]), deviation(squares[1::2])) if frames else (deviation(squares), np.nan)
