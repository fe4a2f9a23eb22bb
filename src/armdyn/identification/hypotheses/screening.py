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
from typing import ClassVar, NamedTuple

import numpy as np

from armdyn.identification.hypotheses.bounds import possible_ratios
from armdyn.identification.hypotheses.fault_test import FaultOutcome, FaultTest, untested
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import Model, ModelDesign, ScreeningRegression
from armdyn.identification.hypotheses.wording import describe
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.model.arm import Arm

MIN_EVIDENCE = 15.0  # log evidence ratio, prior odds included, from which on a fault is reported
MIN_REDUCTION = 0.2  # share by which an error must fall, too
AS_PROBABLE = 3.0  # log evidence ratio within which two variants are as probable
MAX_ERROR = 0.25  # share of all torques that a model of an arm may leave: beyond, it is another arm
REJECTED_REDUCTION = 0.25  # share of the error of all torques, from which on a fault that spoils the model is rejected

N_LIKELY = 4  # variants of a hypothesis that are fitted, those that can have most evidence


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


class Hypothesis:
    """Something that may be wrong with a log."""

    kind: ClassVar[FindingKind]
    name: ClassVar[str]  # of the faults, in a phrase
    suggested: ClassVar[bool] = False  # whether the log suggests the variants, and speaks against all others

    def fault(self, arm: Arm) -> str:
        """The faults that are tried of an arm, in a phrase."""
        return self.name

    def variants(self, regression: ScreeningRegression) -> Iterable[LogVariant]:
        """The ways in which it may be wrong."""
        raise NotImplementedError

    def as_it_is(self, regression: ScreeningRegression, joints: tuple[int, ...] = ()) -> LogVariant:
        """The log of joints for which nothing can be compared."""
        return LogVariant(self.kind, regression.design, joints=joints, alternatives=0)


class Scored(NamedTuple):
    """A variant and its log evidence ratio."""

    variant: LogVariant
    model: Model
    ratio: float


class Screening(NamedTuple):
    """The most probable fault, if it is probable enough and matters, and the test for each hypothesis."""

    findings: list[Finding]
    tests: tuple[FaultTest, ...]


def screen(regression: ScreeningRegression, hypotheses: Iterable[Hypothesis]) -> Screening:
    """Decide which of several faults a log has."""
    ranked = [(hypothesis, *score(regression, hypothesis.variants(regression))) for hypothesis in hypotheses]
    best = _best(top for _, top, _ in ranked if top is not None)
    findings = [] if best is None or best.ratio < MIN_EVIDENCE else report(regression, best)
    tests = (
        _test(regression, hypothesis, several, bool(findings) and top is best) for hypothesis, top, several in ranked
    )
    return Screening(findings, tuple(tests))


def most_probable(regression: ScreeningRegression, hypotheses: Iterable[Hypothesis]) -> Scored | None:
    """The best variant of all hypotheses; None where the log as it is is as probable."""
    scored = (score(regression, hypothesis.variants(regression))[0] for hypothesis in hypotheses)
    return _best(s for s in scored if s is not None)


def _test(regression: ScreeningRegression, hypothesis: Hypothesis, several: list[Scored], present: bool) -> FaultTest:
    """Record the test of a hypothesis: joints of variants that are as probable as the log as it is are undecided.

    A variant whose number was fitted decides: it states how large the fault is.
    """
    fault, kind, everyone = hypothesis.fault(regression.arm), hypothesis.kind, range(regression.n)
    if not (several or hypothesis.suggested):
        return untested(fault, kind)
    tried = {j for s in several for j in s.variant.joints or everyone}
    tried |= set(np.flatnonzero(regression.measured).tolist()) if hypothesis.suggested else set()
    fitted = (bool(s.variant.n_values) and s.variant.family is None for s in several)
    alike = [
        s.variant.joints or everyone
        for s, estimated in zip(several, fitted, strict=True)
        if not (s.variant.tolerated or estimated) and s.ratio + _price(regression, s.variant) > -AS_PROBABLE
    ]
    undecided = set().union(*alike)
    if present:
        return FaultTest(fault, kind, FaultOutcome.PRESENT, tuple(sorted(tried)))
    outcome = FaultOutcome.ABSENT if tried - undecided or not tried else FaultOutcome.UNDECIDED
    others = set() if len(undecided) == len(everyone) else undecided
    return FaultTest(fault, kind, outcome, tuple(sorted(tried - undecided)), tuple(sorted(others)))


def _best(several: Iterable[Scored]) -> Scored | None:
    """The most probable; of those that are as probable the first, which is the simplest."""
    ranked = list(several)
    most = max((s.ratio for s in ranked), default=np.nan)
    return next((s for s in ranked if s.ratio > most - AS_PROBABLE), None)


def score(regression: ScreeningRegression, variants: Iterable[LogVariant]) -> tuple[Scored | None, list[Scored]]:
    """The best variant of a hypothesis, improved, if it is better than those that are tolerated; and all variants."""
    several = _score_all(regression, list(variants))
    odds = np.log(max(1, sum(s.variant.alternatives for s in several)))
    tolerated = max((s.ratio for s in several if s.variant.tolerated), default=0.0)
    best = _best(several)
    if best is None or best.ratio < odds:
        return None, several
    while True:  # a further step is a further fault
        others = _score_all(regression, list(best.variant.neighbours()))
        better = max(others, key=lambda s: s.ratio, default=best)
        if better.ratio < best.ratio + MIN_EVIDENCE * (len(better.variant.joints) >= len(best.variant.joints)):
            break
        best = better
    if best.variant.family is not None:
        best = max(best, _refine(regression, best.variant), key=lambda s: s.ratio)
    fault = None if best.variant.tolerated else best._replace(ratio=best.ratio - odds - max(tolerated, 0.0))
    return fault, several


def _score_all(regression: ScreeningRegression, variants: list[LogVariant]) -> list[Scored]:
    """Each variant with its ratio: of the few that can have most evidence by a fit, of all others about what it is."""
    possible = possible_ratios(regression, [variant.design for variant in variants], MIN_EVIDENCE)
    odds = np.array([variant.prior_odds - _price(regression, variant) for variant in variants])
    orders = [np.argsort(-ratios - odds, kind="stable")[:N_LIKELY] for ratios in possible]
    ranked = np.unique(np.concatenate(orders))
    likely = ranked[(possible.most + odds > 0)[ranked] | (possible.likelihood >= 0)[ranked]]
    likely = np.union1d(likely if len(variants) > N_LIKELY else ranked, np.flatnonzero(np.isinf(possible.most)))
    fitted = {k: _score(regression, variants[k]) for k in likely.astype(int).tolist()}
    highest = min((scored.ratio for scored in fitted.values()), default=np.inf)
    return [
        fitted.get(k) or Scored(variant, Model(regression, variant.design), min(ratio, highest))
        for k, (variant, ratio) in enumerate(zip(variants, (possible.usual + odds).tolist(), strict=True))
    ]


def _score(regression: ScreeningRegression, variant: LogVariant) -> Scored:
    model = Model(regression, variant.design)
    old = regression.model
    fitted = _price(regression, variant)
    likelihood = regression.likelihood_ratio(model)
    # No prior costs less than nothing. Variants that explain no more are mostly out by about what theirs costs.
    ratio = likelihood - fitted - old.prior_cost - old.dissipation
    if ratio > 0 > likelihood and variant.design.rows.all():
        ratio += model.quick_cost
    if ratio > 0:
        ratio = regression.evidence_ratio(model) - fitted
    return Scored(variant, model, ratio + variant.prior_odds)


def _price(regression: ScreeningRegression, variant: LogVariant) -> float:
    """Log evidence that fitted numbers cost."""
    return float(variant.n_values / 2 * np.log(len(regression.tau)))


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
