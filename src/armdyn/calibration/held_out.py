"""What calibration is worth: errors at poses that were not fitted to, against simpler models, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.fit import EvidenceFit, fit_evidence
from armdyn.calibration.unknowns import Unknowns, free_entries

FOLDS = 5
NOISE_LIMITED_GAIN = 0.2  # share of the error of base and tool that a fitted model must take away to be written


class CalibrationVerdict(str, Enum):  # noqa: UP042 (Python 3.10 has no StrEnum)
    """What to write: the whole model, the zeros, or nothing but base and tool."""

    CALIBRATED = "calibrated"
    OFFSETS = "offsets suffice"
    NOISE_LIMITED = "noise-limited"
    BASE_AND_TOOL = "base and tool"  # nothing else was fitted

    def __str__(self) -> str:
        return self.value


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

    @property
    def gain(self) -> float:
        """Share of the mean error of base and tool that the fitted model takes away."""
        best = self.full or self.offsets
        return 0.0 if best is None else 1 - best.mean / self.base_and_tool.mean


def models(unknowns: Unknowns) -> dict[str, Unknowns]:
    """The fitted model and the simpler ones beside it, by their names in `HeldOut`."""
    arm, free = unknowns.arm, unknowns.free
    simple = {"base_and_tool": replace(unknowns, free=free_entries(arm, False), gravity=False)}
    if free.any():
        simple["offsets"] = replace(unknowns, free=free_entries(arm, "offsets") & free, gravity=False)
    if (free & ~free_entries(arm, "offsets")).any() or unknowns.gravity:
        simple["full"] = unknowns
    return simple


def refit(unknowns: Unknowns) -> EvidenceFit:
    """Fit numbers to their poses from the linear start."""
    return fit_evidence(unknowns, unknowns.start()[0])


def held_out_errors(unknowns: Unknowns, progress: Callable[[float], None] | None = None) -> HeldOut:
    """Leave out one fold of the poses after the other, fit every model to the rest, and predict the fold."""
    count = len(unknowns.poses)
    order = np.random.default_rng(0).permutation(count)
    folds, variants = min(FOLDS, count), models(unknowns)
    errors: dict[str, list[NDArray]] = {name: [] for name in variants}
    for k in range(folds):
        test = np.sort(order[k::folds])
        train = np.setdiff1d(order, test)
        for name, model in variants.items():
            fit = refit(model.of(unknowns.poses.select(train)))
            errors[name].append(pose_distances(fit.unknowns.of(unknowns.poses.select(test)), fit))
            if progress is not None:
                progress((k + len(errors[name]) / len(variants)) / folds)
    known = {name: summary(np.concatenate(rows)) for name, rows in errors.items()}
    return HeldOut(known["base_and_tool"], known.get("offsets"), known.get("full"), folds)


def pose_distances(unknowns: Unknowns, fit: EvidenceFit) -> NDArray:
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
    """What held-out errors allow to be written."""
    if errors.offsets is None:
        return CalibrationVerdict.BASE_AND_TOOL
    if errors.gain <= NOISE_LIMITED_GAIN:
        return CalibrationVerdict.NOISE_LIMITED
    if errors.full is None or errors.full.mean >= errors.offsets.mean:
        return CalibrationVerdict.OFFSETS
    return CalibrationVerdict.CALIBRATED


def predictive_noise(fit: EvidenceFit) -> float:
    """Deviation of a measured coordinate about its prediction, such that 95 % intervals hold 95 % of what is left out.

    Folds are left out in the linearised model, which takes no further fit. The noise of the fit itself weighs poses
    down that disagree; those occur among new ones too.
    """
    unknowns, J, r = fit.unknowns, fit.jacobian, fit.residuals
    information = np.linalg.inv(fit.covariance)
    weights = fit.share * fit.weights / fit.noise**2
    is_measured = np.isfinite(unknowns.residuals(fit.state))
    order, folds = np.random.default_rng(0).permutation(len(r)), min(FOLDS, len(r))
    squares = []
    for k in range(folds):
        out = order[k::folds]
        rows = J[out].reshape(-1, J.shape[2])
        pulled = (rows * np.repeat(weights[out], J.shape[1])[:, None]).T
        covariance = np.linalg.inv(information - pulled @ rows)
        left = r[out].ravel() + rows @ (covariance @ (pulled @ r[out].ravel()))
        variance = np.einsum("ap,pq,aq->a", rows, covariance, rows)
        squares.append((left**2 / Z95**2 - variance)[is_measured[out].ravel()])
    return float(np.sqrt(max(np.quantile(np.concatenate(squares), 0.95), (0.1 * fit.noise) ** 2)))


Z95 = 1.959964  # deviations of a normal distribution within which 95 % lie
