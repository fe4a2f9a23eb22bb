"""The result of identification: a model, how sure it is, and what it predicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.errors import ArmdynError
from armdyn.identification.fit.choice import Candidate
from armdyn.identification.fit.free_model import FreeModel
from armdyn.identification.fit.next_motion import NextMotion, next_motion
from armdyn.identification.fit.perturbation import Perturbation
from armdyn.identification.fit.uncertainty import BAND_FACTOR, Uncertainty
from armdyn.identification.fit.validation import Prediction, Validation, arm_torque, compare, predict_torque
from armdyn.identification.hypotheses.check import DataCheck
from armdyn.identification.hypotheses.finding import Finding
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.track import Filters, Track
from armdyn.identification.quality import NOT_JUDGED, Verdict, error_text
from armdyn.model.arm import Arm
from armdyn.model.joint import Friction
from armdyn.names import HintedAttributes
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.presentation import Reported


class FrictionValues(NamedTuple):
    """Plain friction by least squares, one number per joint, and the structure that the data support.

    `viscous`, `coulomb` and `offset` are those of the model in which every joint has just these: comparable with
    the literature. `chosen` is what `Fit.arm` has, with further terms where these pay on held-out data.
    """

    viscous: NDArray  # (n,) [N m s/rad or N s/m]; NaN where the torque was not measured
    coulomb: NDArray  # (n,) [N m or N]
    offset: NDArray  # (n,)
    std: NDArray  # (3, n) standard deviations of the three
    chosen: tuple[Friction, ...]


class DriveValues(NamedTuple):
    """Identified drives, one number per joint, seen at the joint."""

    inertia: NDArray  # rotors, beyond what is one with the links [kg m² or kg]
    stiffness: NDArray  # springs to ground [N m/rad or N/m]


@dataclass(frozen=True, eq=False)
class BaseEstimate:
    """Least-squares estimate of the data alone: without prior, with plain friction in every joint.

    Base parameters come first, then viscous, Coulomb friction and offset joint by joint (and the rotors' inertias of
    geared arms, where they are parameters of their own). No term was selected and
    no prior was used, so that the intervals are what they claim to be.
    """

    theta: NDArray  # (p,)
    std: NDArray  # (p,) standard deviations; infinite where the log determines nothing
    base: BaseParameters
    terms: tuple[str, ...]  # names of the joint terms that follow
    covariance: NDArray  # (p, p), for the autocorrelation that the residuals show

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return self.base.count

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Parameters written out, such as "Ixx2 - Iyy2 - 0.186 m3"."""
        return (*self.base.names, *self.terms)

    @property
    def labels(self) -> tuple[str, ...]:
        """The leading parameter of each, such as "Ixx2"."""
        return (*self.base.labels, *self.terms)

    @property
    def intervals(self) -> NDArray:
        """95 % intervals (p, 2)."""
        return self.theta[:, None] + STD_OF_95_PERCENT * self.std[:, None] * np.array([-1.0, 1.0])

    @property
    def weak(self) -> tuple[str, ...]:
        """Parameters less certain than large."""
        pairs = zip(self.labels, self.theta, self.std, strict=True)
        return tuple(name for name, value, std in pairs if abs(value) < std < np.inf)


MODELS = ("best", "consistent", "free")


@dataclass(frozen=True, eq=False)
class FitMetrics:
    """Relative torque errors: of `Fit.arm` on the logs, of other models, and on data that were held out."""

    training: Validation  # `arm` on the logs fitted to
    other: Validation | None = None  # `arm` on the logs given for validation
    compare_source: Callable[[], Validation] | None = None  # computes `described`; None where the inertia is unknown
    rel_error_free: float = np.nan  # of the free model, which need not be physically consistent
    rel_error_best: float = np.nan  # of the best prediction: the free model, or its mean with the consistent one
    held_out: float = np.nan  # of the free model, by cross-validation over blocks
    held_out_possible: float = np.nan  # the same of consistent bodies: what `arm` costs on data it has not seen
    held_out_joints: NDArray = field(default_factory=lambda: np.empty(0))  # (n,) the same per joint
    held_out_logs: NDArray = field(default_factory=lambda: np.empty(0))  # of each of several logs, fitted to the others

    @cached_property
    def described(self) -> Validation | None:
        """The original model, on the logs fitted to."""
        return None if self.compare_source is None else self.compare_source()


@dataclass(frozen=True, eq=False)
class ModelSelection:
    """Choices that the evidence and held-out blocks made."""

    strength: float = 0.0  # hyperparameter of the links: the precision of their prior
    centre: str = ""  # whose bodies are the prior's mean
    scan: NDArray = field(default_factory=lambda: np.empty((0, 2)))  # strengths tried, held-out error of each
    tried: tuple[Candidate, ...] = ()  # choices that were looked at, by held-out error
    structure: tuple[tuple[str, ...], ...] = ()  # joint terms used, a joint at a time


@dataclass(frozen=True, eq=False)
class ParameterConditioning:
    """Conditioning of the equations: how well the logs determine parameters."""

    condition: float = np.nan  # of the weighted regressor
    condition_scaled: float = np.nan  # with columns of unit length
    compute_bound: Callable[[], Perturbation] | None = None  # computes `bound`; None where poses were held
    effective: NDArray = field(default_factory=lambda: np.empty(0))  # independent residuals of each joint
    undetermined: tuple[str, ...] = ()  # base parameters on which the logs have no say
    # (n, 10) of bool: parameters of the links (order of `theta`) that the logs tell to better than a body's own
    # size; the others are as described, or those of generic bodies. Empty where poses were held.
    determined: NDArray = field(default_factory=lambda: np.empty((0, 10), bool))

    @cached_property
    def bound(self) -> Perturbation | None:
        """The worst-case error of `base.theta`."""
        return None if self.compute_bound is None else self.compute_bound()


@dataclass(frozen=True, eq=False)
class ModelPair:
    """The free model beside the consistent one, `Fit.arm`, and what being consistent costs."""

    free: FreeModel | None = None  # None where poses were held
    share: float = 1.0  # of the free model in the best prediction
    price: float = 1.0  # weighted residual of consistent bodies over that of the free model
    gap: float = 0.0  # certificate of the consistent fit: what is left to gain, in squared sigmas
    boundary: tuple[str, ...] = ()  # links that are barely physically consistent bodies


@dataclass(frozen=True, eq=False)
class FitProvenance:
    """Logs that a fit is from, how they were treated, and what was noticed."""

    filters: Filters
    tracks: tuple[Track, ...] = ()  # the smoothed motion of the logs fitted to
    checks: tuple[DataCheck, ...] = ()  # of the logs fitted to
    findings: tuple[Finding, ...] = ()  # about each log and all together
    notes: tuple[str, ...] = ()


def check_notes(checks: Iterable[DataCheck]) -> tuple[str, ...]:
    """Findings about single logs, as notes."""
    return tuple(f"{check.log.name}: {finding.text}" for check in checks for finding in check.findings)


def _of_part(part: str, name: str) -> Any:
    """Property of a fit that is a field of one of its parts."""
    return property(attrgetter(f"{part}.{name}"), doc=f"The same as `{part}.{name}`.")


@dataclass(frozen=True, eq=False)
class Fit(HintedAttributes, Reported):
    """An identified arm; see `identify`.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> fit = armdyn.identify(arm, log)
    >>> str(fit.verdict.level), bool(fit.expected_error < 0.1)
    ('good', True)
    """

    arm: Arm  # with identified links, friction and drives
    source: Arm  # as it was described
    friction: FrictionValues
    base: BaseEstimate
    metrics: FitMetrics
    provenance: FitProvenance
    selection: ModelSelection = ModelSelection()
    conditioning: ParameterConditioning = ParameterConditioning()
    models: ModelPair = ModelPair()
    uncertainty: Uncertainty | None = None  # of torques along any motion; None where nothing could be held out
    verdict: Verdict = NOT_JUDGED  # whether to use it: as a whole and per joint, with reasons

    # Fields of the parts, by their names alone.
    training = _of_part("metrics", "training")
    other = _of_part("metrics", "other")
    described = _of_part("metrics", "described")
    compare_source = _of_part("metrics", "compare_source")
    rel_error_free = _of_part("metrics", "rel_error_free")
    rel_error_best = _of_part("metrics", "rel_error_best")
    held_out = _of_part("metrics", "held_out")
    held_out_possible = _of_part("metrics", "held_out_possible")
    held_out_joints = _of_part("metrics", "held_out_joints")
    held_out_logs = _of_part("metrics", "held_out_logs")
    filters = _of_part("provenance", "filters")
    tracks = _of_part("provenance", "tracks")
    checks = _of_part("provenance", "checks")
    findings = _of_part("provenance", "findings")
    notes = _of_part("provenance", "notes")
    strength = _of_part("selection", "strength")
    centre = _of_part("selection", "centre")
    scan = _of_part("selection", "scan")
    tried = _of_part("selection", "tried")
    structure = _of_part("selection", "structure")
    condition = _of_part("conditioning", "condition")
    condition_scaled = _of_part("conditioning", "condition_scaled")
    bound = _of_part("conditioning", "bound")
    compute_bound = _of_part("conditioning", "compute_bound")
    effective = _of_part("conditioning", "effective")
    undetermined = _of_part("conditioning", "undetermined")
    determined = _of_part("conditioning", "determined")
    free = _of_part("models", "free")
    share = _of_part("models", "share")
    price = _of_part("models", "price")
    gap = _of_part("models", "gap")
    boundary = _of_part("models", "boundary")

    def with_fields(self, **changes: Any) -> Fit:
        """The same fit with other values of its fields, also of those of its parts."""
        changed: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name in changes:
                changed[part.name] = changes.pop(part.name)
            elif isinstance(value, FitMetrics | FitProvenance | ModelSelection | ParameterConditioning | ModelPair):
                names = [one.name for one in fields(value) if one.name in changes]
                changed[part.name] = replace(value, **{name: changes.pop(name) for name in names})
        return replace(self, **changed, **changes)

    @property
    def theta(self) -> NDArray:
        """Physically consistent bodies (10 n,) behind the base parameters."""
        return self.arm.theta

    @property
    def drive(self) -> DriveValues:
        """Identified drives."""
        drives = [joint.drive for joint in self.arm.coordinate_joints]
        return DriveValues(np.array([d.reflected_inertia for d in drives]), np.array([d.stiffness for d in drives]))

    @property
    def rel_error(self) -> float:
        """Relative torque error of `arm` on the logs fitted to."""
        return self.training.rel_error

    @property
    def rel_error_joints(self) -> NDArray:
        """The same per joint (n,)."""
        return self.training.rel_error_joints

    @property
    def rel_error_source(self) -> float:
        """The same of the arm as it was described; NaN where its inertia is unknown."""
        return np.nan if self.described is None else self.described.rel_error

    @property
    def held_out_error(self) -> float:
        """Relative torque error of `arm` on data that were not fitted to: held-out blocks, and validation logs."""
        error = self.held_out if np.isnan(self.held_out_possible) else self.held_out_possible
        # Held-out errors of energies are those of power.
        error = max(error, self.rel_error) if self.filters.form == "energy" else error
        return float(error if self.other is None else np.fmax(error, self.other.rel_error))

    @cached_property
    def expected_error(self) -> float:
        """Relative torque error of `arm` to expect on new motion; NaN where nothing could be held out."""
        new = np.nan if self.uncertainty is None else self.uncertainty.expected(self.tracks)
        return float(np.fmax(self.held_out_error, new))

    @cached_property
    def error_bound(self) -> float:
        """Relative torque error of `arm` that new motion hardly exceeds; NaN where nothing could be held out."""
        widest = np.nan if self.uncertainty is None else self.uncertainty.widest(self.tracks)
        return STD_OF_95_PERCENT * BAND_FACTOR * float(np.fmax(self.expected_error, widest))

    @property
    def stated(self) -> float:
        """`error_bound`."""
        return self.error_bound

    @cached_property
    def next_motion(self) -> NextMotion | None:
        """The motion worth logging next, and the error over the arm's range before and after; None if it is small."""
        return None if self.uncertainty is None else next_motion(self.uncertainty, self.tracks, self.source)

    @property
    def delay(self) -> float:
        """Delay of torques behind positions [s]."""
        return self.filters.delay

    @property
    def weak(self) -> tuple[str, ...]:
        """Parameters less certain than large."""
        return self.base.weak

    @property
    def without_torque(self) -> tuple[int, ...]:
        """Joints, from 0, whose torques were not measured: their friction and rotors stay as described."""
        return tuple(np.flatnonzero(np.isnan(self.training.rel_error_joints)).tolist())

    def predict(self, log: Log, model: str = "best") -> Prediction:
        """Torques for the log's motion, at the log's samples, without low-pass, as late as torques were measured.

        Samples in stretches too short to differentiate are left out. `std` of the answer is a band for what torques
        below 5 Hz may be off.

        Parameters
        ----------
        log : Log
        model : {"best", "consistent", "free"}
            "consistent" is `arm`; "free" need not be physically consistent; "best" is the mean of both, or the free
            model where consistency costs much (`price`).
        """
        if model not in MODELS:
            raise ArmdynError(where="predict", expected=f"model one of {', '.join(MODELS)}", got=f"{model!r}")
        return predict_torque(log, self.arm.n, self.filters, lambda track: self.torque(track, model), self._std)

    @property
    def _std(self) -> Callable[[Track], NDArray] | None:
        return None if self.uncertainty is None else self.uncertainty.std

    def torque(self, track: Track, model: str = "best") -> NDArray:
        """Torques (N, n) along a smoothed motion."""
        part = {"best": self.share, "consistent": 0.0, "free": 1.0}[model] if self.free is not None else 0.0
        share = np.full(self.arm.n, part)
        share[list(self.without_torque)] = 0.0  # whose friction the free model does not have
        torque = np.zeros_like(track.q)
        if (share > 0).any() and self.free is not None:
            torque += share * self.free.torque(track)
        if (share < 1).any():
            torque += (1 - share) * arm_torque(self.arm, track, self.filters)
        return torque

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `arm`: onto a copy of the file that described it if that has the same ending, else a new file."""
        source = self.source.source
        suffix = Path(path).suffix.lower()
        same = source is not None and source.path.suffix.lower() == suffix and suffix in (".urdf", ".xml")
        self.arm.save(path, onto=source.path if same and source is not None and source.path.is_file() else None)

    def validate(self, log: Log) -> Validation:
        """Compare `arm` with another log."""
        return compare(self.arm, [log], self.filters, self._std)

    @property
    def cost(self) -> float:
        """Relative increase of the held-out error by physical consistency."""
        return self.held_out_possible / self.held_out - 1

    @property
    def best_model(self) -> str:
        """Description of the model that `predict` uses."""
        return "the free model" if self.share == 1 else "the mean of the free and the consistent model"

    def certainty(self) -> list[str]:
        """Return sentences about the uncertainty of the parameters."""
        sentences = [f"condition {self.condition:.3g}, {self.condition_scaled:.3g} with columns of unit length"]
        if self.bound is not None:
            relative = f"at most {self.bound.relative:.0%} off" if np.isfinite(self.bound.relative) else "not bounded"
            sentences.append(
                f"worst-case bound: regressor off by {self.bound.regressor_error:.2%}, torques by "
                f"{self.bound.torque_error:.2%}, then all parameters together are {relative}"
            )
        if not np.isnan(self.held_out_possible):
            sentences.append(
                f"physically consistent bodies: error on held-out blocks {self.cost:+.1%} against the free model, "
                f"residual x {self.price:.2f}; predictions are best by {self.best_model}"
            )
        if len(self.held_out_logs):
            errors = ", ".join(f"{error:.2%}" for error in self.held_out_logs)
            sentences.append(f"each log predicted by the others: {errors}")
        if self.boundary:
            sentences.append(
                f"barely physically consistent: {', '.join(self.boundary)}; single moments of inertia there are little "
                "known, the torques are not affected"
            )
        if self.undetermined:
            sentences.append(f"not determined by the logs: {', '.join(self.undetermined)}")
        return sentences

    def __str__(self) -> str:
        lines = [
            *str(self.verdict).splitlines(),
            f"{self.source.name}: {self.base.count} base parameters and {sum(map(len, self.structure))} joint terms",
            f"relative torque error to expect on new motion: {error_text(self.expected_error, self.error_bound)}",
            f"relative torque error {self.rel_error:.2%}, on held-out blocks {self.held_out:.2%}"
            + ("" if np.isnan(self.held_out_possible) else f" ({self.held_out_possible:.2%} with consistent bodies)")
            + ("" if np.isnan(self.rel_error_source) else f", as described {self.rel_error_source:.1%}"),
        ]
        lines += [
            f"joint {j + 1}: torque not measured" if np.isnan(e) else f"joint {j + 1}: {e:.2%}, {', '.join(s)}"
            for j, (e, s) in enumerate(zip(self.rel_error_joints, self.structure, strict=False))
        ]
        if self.filters.cutoff is not None:
            lines.append(
                f"positions smoothed by {self.filters.method}, halved at {self.filters.cutoff:.3g} Hz; "
                f"equations low-passed at {self.filters.band:.3g} Hz"
            )
        return "\n".join([*lines, *self.certainty()])

    def __repr__(self) -> str:
        worst = int(np.nanargmax(self.rel_error_joints))
        held = "" if np.isnan(self.held_out) else f", {self.held_out:.2%} held out"
        joint = f"worst joint {worst + 1} ({self.rel_error_joints[worst]:.0%})"
        return f"<Fit of '{self.source.name}': {self.verdict.word}, torque error {self.rel_error:.2%}{held}, {joint}>"
