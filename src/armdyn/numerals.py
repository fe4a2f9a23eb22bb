"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

CONFIDENCE = 0.95  # of intervals
STD_OF_95_PERCENT = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)  # standard deviations of half such an interval


def number(value: float, digits: int = 4) -> str:
    """A number as short as `digits` significant ones allow; a dash where there is none."""
    if not math.isfinite(value):
        return "-"
    return f"{value + 0.0:.{digits}g}"  # minus zero is zero


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun: 1 gap, 2 gaps."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def vector(values: Iterable[float], digits: int = 4) -> str:
    """Numbers in a row, round-off shown as zero."""
    return " ".join(number(0.0 if abs(value) < 1e-12 else value, digits) for value in values)
