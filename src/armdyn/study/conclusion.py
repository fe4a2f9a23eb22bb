"""Who wins a study, by how much, and how sure that is.

Shares have Wilson's interval; differences between groups that ran the same cases are judged case by case. Both take
the cases as drawn at random, which is cautious for samples that are spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.study.labels import unit, words
from armdyn.study.spec import Columns

Groups = Sequence[tuple[str, NDArray]]


class Proportion(NamedTuple):
    """A part of the cases, with its 95 % interval (Wilson 1927)."""

    part: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.part:.0%} ({self.low:.0%} to {self.high:.0%})"


def proportion(good: NDArray) -> Proportion:
    """Return the part of the cases for which something holds."""
    from scipy.stats import binomtest

    low, high = binomtest(int(good.sum()), len(good)).proportion_ci(method="wilson")
    return Proportion(float(good.mean()), float(low), float(high))


def conclude(columns: Columns, groups: Groups, parameters: Sequence[str], judged: Mapping[str, str]) -> str:
    """The sentence that opens the summary."""
    success = {label: columns["success"][rows].astype(float) for label, rows in groups}
    shares = {label: proportion(good) for label, good in success.items()}
    first, *rest = sorted(shares, key=lambda label: -shares[label].part)
    count = len(success[first])
    if not rest:
        return f"{first} succeeds in {shares[first]} of {count:,} cases"
    summary = f"{first} succeeds in {shares[first]} of {count:,} cases, {rest[0]} in {shares[rest[0]]}"
    summary += f", {rest[-1]} in {shares[rest[-1]]}" if len(rest) > 1 else ""
    if shares[first].part == shares[rest[0]].part:
        return f"{summary}: they succeed equally often{_by_metric(columns, groups, judged)}"
    paired = _same_cases(columns, groups, parameters)
    gain, sure = _difference(success[first], success[rest[0]], paired)
    verdict = "significant at 95 %" if gain > sure else "not significant at 95 %: run more cases"
    return f"{summary}: {100 * gain:.0f} ± {100 * sure:.0f} percentage points better than {rest[0]} ({verdict})"


def _difference(a: NDArray, b: NDArray, paired: bool) -> tuple[float, float]:
    """Return the difference of two means, and its 95 % half-width; of the same cases one by one."""
    if paired:
        d = a - b
        return float(d.mean()), float(STD_OF_95_PERCENT * d.std() / np.sqrt(len(d)))
    variance = a.var() / len(a) + b.var() / len(b)
    return float(a.mean() - b.mean()), float(STD_OF_95_PERCENT * np.sqrt(variance))


def _same_cases(columns: Columns, groups: Groups, parameters: Sequence[str]) -> bool:
    """Whether all groups ran the same cases in the same order."""
    (_, first), *others = groups
    return all(np.array_equal(columns[name][first], columns[name][rows]) for _, rows in others for name in parameters)


def _by_metric(columns: Columns, groups: Groups, judged: Mapping[str, str]) -> str:
    """Return which group is best by the first metric, where success does not tell."""
    if not judged:
        return ""
    name, better = next(iter(judged.items()))
    medians = {label: float(np.median(columns[name][rows])) for label, rows in groups}
    order = sorted(medians, key=lambda label: medians[label] if better == "low" else -medians[label])
    best, next_best = order[0], order[1]
    medians_text = f"(median {medians[best]:.3g}, {next_best} {medians[next_best]:.3g} {unit(name)}".rstrip()
    return f"; by {words(name)} {best} is best {medians_text})"
