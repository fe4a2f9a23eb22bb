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
from numpy.typing import NDArray

from armdyn.identification.hypotheses.bounds import PossibleRatios, possible_ratios
from armdyn.identification.hypotheses.fault_test import FaultOutcome, FaultTest
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import Model, ModelDesign, ScreeningRegression
from armdyn.identification.hypotheses.wording import describe, hint_of
from armdyn.identification.limits import MIN_REDUCTION
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.model.arm import Arm
from armdyn.numerals import CONFIDENCE

MIN_EVIDENCE = 15.0  # log evidence ratio, prior odds included, from which on a fault is reported
AS_PROBABLE = np.log(CONFIDENCE) - np.log1p(-CONFIDENCE)  # log evidence ratio within which neither variant is sure
MAX_ERROR = 0.25  # share of all torques that a model of an arm may leave, or that a fault may spoil without rejection
N_LIKELY = 4  # variants of a hypothesis that are fitted, those that can have most evidence


class ValueRange(NamedTuple):
    """Variants that differ by one number, and the range in which the number is looked for."""

    variant: Callable[[float], LogVariant]
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LogVariant:
    """The log as it would be, and the correction that this stands for."""

    design: ModelDesign
    correction: LogCorrection | None = None
    joints: tuple[int, ...] = ()
    value: float = np.nan
    level: str = "warn"  # of the finding; "reject" where no model of the log is of use without the correction
    tolerated: bool = False  # whether good logs are so, or the fit takes care of it
    n_values: int = 0  # numbers that were fitted
    log_odds: float = 0.0  # before it is scored, over a fault in general: of how many it is the best, how common it is
    min_reduction: float = MIN_REDUCTION  # share by which an error must fall for the fault to matter
    accepts: Callable[[Model], bool] = bool  # whether the fit is one of what is supposed
    neighbours: Callable[[], Iterable[LogVariant]] = tuple  # variants that differ from it by one step
    values: ValueRange | None = None


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


class Scored(NamedTuple):
    """A variant and its log evidence ratio."""

    variant: LogVariant
    model: Model
    ratio: float
    fitted: bool = True  # or about what the ratio is of one that cannot matter, or is not the best of its hypothesis


class Screening(NamedTuple):
    """The most probable fault, if it is probable enough and matters, and the test for each hypothesis."""

    findings: list[Finding]
    tests: tuple[FaultTest, ...]


def screen(regression: ScreeningRegression, hypotheses: Iterable[Hypothesis]) -> Screening:
    """Decide which of several faults a log has."""
    ranked = [(hypothesis, *score(regression, hypothesis)) for hypothesis in hypotheses]
    best = _best(top for _, top, _ in ranked if top is not None and top.ratio >= MIN_EVIDENCE)
    tests = tuple(_test(regression, some, several, top is not None and top is best) for some, top, several in ranked)
    return Screening([_report(regression, some, best) for some, top, _ in ranked if best and top is best], tests)


def _test(regression: ScreeningRegression, hypothesis: Hypothesis, several: list[Scored], present: bool) -> FaultTest:
    """Record the test of a hypothesis: joints of variants that are as probable as the log as it is are undecided.

    A variant whose number was fitted decides: it states how large the fault is.
    """
    fault, kind, everyone = hypothesis.fault(regression.arm), hypothesis.kind, range(regression.n)
    if not (several or hypothesis.suggested):
        return FaultTest(fault, kind)
    tried = {j for s in several for j in s.variant.joints or everyone}
    tried |= set(np.flatnonzero(regression.measured).tolist()) if hypothesis.suggested else set()
    fitted = (bool(s.variant.n_values) and s.variant.values is None for s in several)
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


def score(regression: ScreeningRegression, hypothesis: Hypothesis) -> tuple[Scored | None, list[Scored]]:
    """The best variant of a hypothesis, improved, if it matters, else the best of those that do; and all variants."""
    several = _score_all(regression, list(hypothesis.variants(regression)))
    price = np.log(max(1, sum(s.variant.design is not regression.design for s in several)))
    price += max([0.0, *(s.ratio for s in several if s.variant.tolerated)])
    probable = [s._replace(ratio=s.ratio - price) for s in several if s.ratio > price]
    for all_of_them in (True, False):
        best = _best(s for s in probable if all_of_them or _matters(regression, s))
        best = None if best is None else _improved(regression, best, price)
        if best is not None and _matters(regression, best):
            return best, several
    return None, several


def _improved(regression: ScreeningRegression, best: Scored, price: float) -> Scored:
    """The variant that steps to neighbours and other values lead to, as long as they are more probable."""
    while True:
        others = _score_all(regression, list(best.variant.neighbours()), only_mattering=False)
        better = max((s._replace(ratio=s.ratio - price) for s in others), key=lambda s: s.ratio, default=best)
        # A further step is a further fault.
        if better.ratio < best.ratio + MIN_EVIDENCE * (len(better.variant.joints) >= len(best.variant.joints)):
            break
        best = better
    if not best.fitted:
        fitted = _score(regression, best.variant)
        best = fitted._replace(ratio=fitted.ratio - price)
    if best.variant.values is None or best.ratio < 0:
        return best
    refined = _refine(regression, best.variant.values)
    return max(best, refined._replace(ratio=refined.ratio - price), key=lambda s: s.ratio)


def _score_all(
    regression: ScreeningRegression, variants: list[LogVariant], only_mattering: bool = True
) -> list[Scored]:
    """Each variant with its ratio: of the few that can matter and have most evidence by a fit, of others about it."""
    possible = possible_ratios(regression, [variant.design for variant in variants], MIN_EVIDENCE)
    odds = np.array([variant.log_odds - _price(regression, variant) for variant in variants])
    most, usual = possible.most + odds, possible.usual + odds
    can_matter = _may_matter(regression, variants, possible) if only_mattering else np.ones(len(variants), bool)
    # Of few all may be fitted: prices of the prior are rough where torques change by large factors.
    candidates = np.flatnonzero(can_matter & ((most > 0) | (len(variants) <= N_LIKELY)))
    likely = {int(candidates[k]) for x in (most, usual) for k in np.argsort(-x[candidates], kind="stable")[:N_LIKELY]}
    likely |= set(np.flatnonzero(np.isinf(possible.most)).tolist())
    fitted = {k: _score(regression, variants[k]) for k in sorted(likely)}
    capped = np.minimum(usual, min((scored.ratio for scored in fitted.values()), default=np.inf))
    return [
        fitted.get(k) or Scored(variant, Model(regression, variant.design), ratio, False)
        for k, (variant, ratio) in enumerate(zip(variants, np.where(can_matter, capped, usual).tolist(), strict=True))
    ]


def _may_matter(regression: ScreeningRegression, variants: list[LogVariant], possible: PossibleRatios) -> NDArray:
    """Whether variants (k,) may lower an error enough: none leaves less than free parameters do."""
    old, size = regression.model.braked_errors, float(np.linalg.norm(regression.tau))
    about = np.zeros((len(variants), regression.n), bool)
    for row, variant in zip(about, variants, strict=True):
        row[_counting_joints(regression, variant)] = True
    whole = 1 - np.linalg.norm(possible.errors, axis=1) / max(float(np.linalg.norm(old)), 1e-300)
    of_joints = 1 - np.linalg.norm(about * possible.errors, axis=1) / np.maximum(
        np.linalg.norm(about * old, axis=1), 1e-300
    )
    described = np.nan_to_num(1 - possible.described / max(regression.model.described_error * size, 1e-300))
    reductions = zip(variants, whole, described, of_joints, strict=True)
    return np.array([_suffices(variant, *shares) for variant, *shares in reductions], bool)


def _score(regression: ScreeningRegression, variant: LogVariant) -> Scored:
    model = Model(regression, variant.design)
    ratio = regression.evidence_ratio(model) + variant.log_odds - _price(regression, variant)
    return Scored(variant, model, ratio)


def _price(regression: ScreeningRegression, variant: LogVariant) -> float:
    """Log evidence that fitted numbers cost."""
    return float(variant.n_values / 2 * np.log(len(regression.tau)))


def _refine(regression: ScreeningRegression, values: ValueRange) -> Scored:
    """The variant with the most probable value."""
    from scipy.optimize import minimize_scalar

    accuracy = dict(xatol=1e-2 * (values.high - values.low))
    value = minimize_scalar(
        lambda x: -_score(regression, values.variant(x)).ratio,
        bounds=(values.low, values.high), method="bounded", options=accuracy,
    ).x  # fmt: skip
    return _score(regression, values.variant(float(value)))


def _matters(regression: ScreeningRegression, scored: Scored) -> bool:
    """Whether a variant is not tolerated, is one of an arm, and lowers an error enough: that of single joints more."""
    variant, model = scored.variant, scored.model
    if not scored.fitted or variant.tolerated or model.error > MAX_ERROR or not variant.accepts(model):
        return False
    return _suffices(variant, *_reductions(regression, scored))


def _suffices(variant: LogVariant, whole: float, described: float, of_joints: float) -> bool:
    return max(whole, described, of_joints - MIN_REDUCTION) >= variant.min_reduction


def _reductions(regression: ScreeningRegression, scored: Scored) -> tuple[float, float, float]:
    """Shares by which errors fall: of all torques, of the described bodies, of the joints that a variant is about."""
    model, joints = scored.model, _counting_joints(regression, scored.variant)
    described = float(np.nan_to_num(1 - model.described_error / max(regression.model.described_error, 1e-300)))
    return regression.error_reduction(model), described, regression.error_reduction(model, joints)


def _counting_joints(regression: ScreeningRegression, variant: LogVariant) -> list[int]:
    """The joints that a variant is about, or all: those with torques that are small beside others' do not count."""
    size = regression.deviations
    return [j for j in variant.joints if size[j] >= SMALL_SHARE * size.max()] or list(range(regression.n))


def _report(regression: ScreeningRegression, hypothesis: Hypothesis, best: Scored) -> Finding:
    """The finding that a variant stands for."""
    variant, model = best.variant, best.model
    whole, described, _ = reductions = _reductions(regression, best)
    # A fault of joints whose torques are small beside others' does not spoil the rest. A log that described bodies
    # explain as it is is rejected only where they explain the corrected one clearly better.
    certain = whole > MAX_ERROR or model.described_error < MAX_ERROR
    if regression.model.described_error < MAX_ERROR:
        certain = certain and described > MAX_ERROR
    level = "warn" if variant.level == "reject" and not certain else variant.level
    finding = Finding(
        level, "", hypothesis.kind, variant.joints, best.ratio, max(reductions), variant.correction, variant.value
    )
    return finding._replace(text=describe(regression.arm, finding), hint=hint_of(finding))
