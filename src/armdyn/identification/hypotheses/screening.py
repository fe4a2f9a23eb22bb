"""One decision for all hypotheses about a log.

A hypothesis offers variants: what the log would be if something were otherwise. Each is a design of the screening
regression with the correction that it stands for. All are scored alike, by the log evidence over that of the log as it
is; the variants of a hypothesis share its prior, so that many of them must be more probable each. The best is improved
as far as its neighbours are better, and reported if it is more probable by `MIN_EVIDENCE` and lowers an error by
`MIN_REDUCTION`: of all torques, of the joints that it is about, or of the described bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import Model, ModelDesign, ScreeningRegression
from armdyn.identification.hypotheses.wording import describe
from armdyn.identification.logs.corrections import LogCorrection

MIN_EVIDENCE = 15.0  # log evidence ratio, prior odds included, from which on a fault is reported
MIN_REDUCTION = 0.2  # share by which an error must fall, too
AS_PROBABLE = 3.0  # log evidence ratio within which two variants are as probable
MAX_ERROR = 0.25  # share of all torques that a model of an arm may leave: beyond, it is another arm
REJECTED_REDUCTION = 0.25  # share of the error of all torques, from which on a fault that spoils the model is rejected


@dataclass(frozen=True, eq=False)
class LogVariant:
    """The log as it would be, and the correction that this stands for."""

    kind: FindingKind
    design: ModelDesign
    correction: LogCorrection | None = None
    joints: tuple[int, ...] = ()
    value: float = np.nan
    level: str = "warn"  # of the finding; "reject" where no model of the log is of use without the correction
    tolerated: bool = False  # whether good logs are so, or the fit takes care of it
    alternatives: int = 1  # variants that it is the best of
    n_values: int = 0  # numbers that were fitted
    prior_odds: float = 0.0  # logarithm, beyond those of a fault in general
    accepts: Callable[[Model], bool] = bool  # whether the fit is one of what is supposed
    hint: str = ""
    neighbours: Callable[[], Iterable[LogVariant]] = tuple  # variants that differ from it by one step
    family: Callable[[float], LogVariant] | None = None  # the variant with another value
    ends: tuple[float, float] = (np.nan, np.nan)  # between which its value lies


class Hypothesis(Protocol):
    """Something that may be wrong with a log."""

    def variants(self, regression: ScreeningRegression) -> Iterable[LogVariant]:
        """The ways in which it may be wrong."""


class Scored(NamedTuple):
    """A variant and its log evidence ratio."""

    variant: LogVariant
    model: Model
    ratio: float


def screen(regression: ScreeningRegression, hypotheses: Iterable[Hypothesis]) -> list[Finding]:
    """The most probable fault, if it is probable enough and matters."""
    best = most_probable(regression, hypotheses)
    return [] if best is None or best.ratio < MIN_EVIDENCE else report(regression, best)


def most_probable(regression: ScreeningRegression, hypotheses: Iterable[Hypothesis]) -> Scored | None:
    """The best variant of all hypotheses; None where the log as it is is as probable."""
    scored = (score(regression, hypothesis.variants(regression)) for hypothesis in hypotheses)
    return _best(s for s in scored if s is not None)


def _best(several: Iterable[Scored]) -> Scored | None:
    """The most probable; of those that are as probable the first, which is the simplest."""
    ranked = list(several)
    most = max((s.ratio for s in ranked), default=np.nan)
    return next((s for s in ranked if s.ratio > most - AS_PROBABLE), None)


def score(regression: ScreeningRegression, variants: Iterable[LogVariant]) -> Scored | None:
    """The best variant of a hypothesis, improved, if it is better than those that are tolerated."""
    several = [_score(regression, variant) for variant in variants]
    odds = np.log(max(1, sum(s.variant.alternatives for s in several)))
    tolerated = max((s.ratio for s in several if s.variant.tolerated), default=0.0)
    best = _best(several)
    if best is None or best.ratio < odds:
        return None
    while True:  # a further step is a further fault
        others = [_score(regression, variant) for variant in best.variant.neighbours()]
        better = max(others, key=lambda s: s.ratio, default=best)
        if better.ratio < best.ratio + MIN_EVIDENCE * (len(better.variant.joints) >= len(best.variant.joints)):
            break
        best = better
    if best.variant.family is not None:
        best = max(best, _refine(regression, best.variant), key=lambda s: s.ratio)
    return None if best.variant.tolerated else best._replace(ratio=best.ratio - odds - max(tolerated, 0.0))


def _score(regression: ScreeningRegression, variant: LogVariant) -> Scored:
    model = Model(regression, variant.design)
    old = regression.model
    fitted = variant.n_values / 2 * np.log(len(regression.tau))
    likelihood = regression.likelihood_ratio(model)
    # No prior costs less than nothing. Variants that explain no more are mostly out by about what theirs costs.
    ratio = likelihood - fitted - old.prior_cost - old.dissipation
    if ratio > 0 > likelihood and variant.design.rows.all():
        ratio += model.quick_cost
    if ratio > 0:
        ratio = regression.evidence_ratio(model) - fitted
    return Scored(variant, model, ratio + variant.prior_odds)


def _refine(regression: ScreeningRegression, variant: LogVariant) -> Scored:
    """The variant with the most probable value."""
    from scipy.optimize import minimize_scalar

    family, ends = variant.family, variant.ends
    assert family is not None
    accuracy = dict(xatol=1e-2 * (ends[1] - ends[0]))
    value = minimize_scalar(
        lambda x: -_score(regression, family(x)).ratio, bounds=ends, method="bounded", options=accuracy
    ).x
    return _score(regression, family(float(value)))


def report(regression: ScreeningRegression, best: Scored) -> list[Finding]:
    """The finding of a variant that is probable enough, if it matters."""
    variant, model = best.variant, best.model
    whole = regression.error_reduction(model)
    described = float(np.nan_to_num(1 - model.described_error / max(regression.model.described_error, 1e-300)))
    reduction = max(whole, regression.error_reduction(model, variant.joints), described)
    if reduction < MIN_REDUCTION or model.error > MAX_ERROR or not variant.accepts(model):
        return []
    # A fault of joints whose torques are small beside others' does not spoil the rest. A log that described bodies
    # explain as it is is rejected only where they explain the corrected one clearly better.
    certain = whole > REJECTED_REDUCTION or model.described_error < MAX_ERROR
    if regression.model.described_error < MAX_ERROR:
        certain = certain and described > REJECTED_REDUCTION
    level = "warn" if variant.level == "reject" and not certain else variant.level
    finding = Finding(
        level, "", variant.kind, variant.joints, best.ratio, reduction, variant.correction, variant.value, variant.hint
    )
    return [finding._replace(text=describe(regression.arm, finding))]
