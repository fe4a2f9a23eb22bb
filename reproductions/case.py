"""What a reproduction gives: rows that set a source's statement beside armdyn's result, and figures."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# What a reproduction is told: the step that begins now.
Tell = Callable[[str], None]

HOLDS, FAILS = "holds", "FAILS"  # data suffice: the statement must come out
ATTAINABLE = "attainable"  # comes out with assumed values that were searched for; shows that it can, not that it did
SUPPORTED, NOT_SUPPORTED = "supported", "not supported"  # a claim of the source, tested under stated assumptions
UNDECIDED = "undecided"  # a claim that comes out either way, as what the source leaves open is chosen
DIFFERS = "differs"  # known to differ; the reason is given
SHOWN = "shown"  # the source gives no number to compare with
TIMED_CALLS = 100  # whose time is measured
AGREEING = 0.9  # share of draws that must agree with a verdict


class Row(NamedTuple):
    """One line: the quantity, what the source states, what armdyn gets, the verdict, and why they differ."""

    quantity: str
    source: str
    found: str
    verdict: str
    why: str = ""


class Table(NamedTuple):
    """A table of the source beside ours."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Picture(NamedTuple):
    """A figure; `name` becomes the file's, `figure` is matplotlib's."""

    name: str
    caption: str
    figure: Any


@dataclass(frozen=True, eq=False)
class Case:
    """The reproduction of one document."""

    name: str
    title: str
    assumed: tuple[str, ...]  # what the source does not say and was chosen here
    rows: tuple[Row, ...]
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...] = ()

    @property
    def good(self) -> bool:
        """Whether everything that should hold does."""
        return all(row.verdict != FAILS for row in self.rows)

    @property
    def counted(self) -> str:
        """How many statements got which verdict."""
        verdicts = [row.verdict for row in self.rows]
        words = ", ".join(f"{word} {verdicts.count(word)}" for word in dict.fromkeys(verdicts))
        return f"{len(verdicts)} statements ({words})"

    def __getitem__(self, quantity: str) -> Row:
        """The row of a quantity."""
        return next(row for row in self.rows if row.quantity == quantity)


def rms(error: NDArray) -> float:
    """Root of the mean square."""
    return float(np.sqrt((error**2).mean()))


def call_time(function: Callable[[], Any]) -> float:
    """The mean of some calls, after one that may compile [s]."""
    function()
    return timeit.timeit(function, number=TIMED_CALLS) / TIMED_CALLS


def panels(width: float, height: float, *shape: int, grid: bool = True, **options: Any) -> tuple[Any, Any]:
    """A figure of some inches and its axes, rows by columns; imports matplotlib."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"axes.grid": grid, "grid.alpha": 0.25}):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(*shape, **options)


def check(quantity: str, source: str, found: str, good: bool, why: str = "") -> Row:
    """A statement that must hold."""
    return Row(quantity, source, found, HOLDS if good else FAILS, why)


def attainable(quantity: str, source: str, found: str, good: bool, why: str) -> Row:
    """A number that comes out with values that were chosen for it."""
    return Row(quantity, source, found, ATTAINABLE if good else FAILS, why)


def claim(quantity: str, source: str, found: str, good: bool, why: str = "") -> Row:
    """A statement that depends on what the source does not tell."""
    return Row(quantity, source, found, SUPPORTED if good else NOT_SUPPORTED, why)


def trial(quantity: str, source: str, found: str, wins: int, tries: int, why: str = "") -> Row:
    """A statement tried with several choices of what the source does not tell."""
    verdict = SUPPORTED if wins == tries else UNDECIDED if wins else NOT_SUPPORTED
    return Row(quantity, source, found, verdict, why)


def tendency(quantity: str, source: str, found: str, ratios: NDArray, why: str = "") -> Row:
    """A statement that ratios are below 1, judged over several draws of what is random.

    Supported where the 95 % interval of the mean of their logarithms (Student's) is below zero, and nine of ten draws
    are; not supported where both are above; undecided elsewhere.
    """
    from scipy.stats import t

    logs = np.log(ratios)
    half = float(t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs)))
    low, mean, high = np.exp(logs.mean() + half * np.array([-1, 0, 1]))
    wins = int((logs < 0).sum())
    verdict = UNDECIDED
    if high < 1 and wins >= AGREEING * len(logs):
        verdict = SUPPORTED
    elif low > 1 and len(logs) - wins >= AGREEING * len(logs):
        verdict = NOT_SUPPORTED
    draws = (
        f"smaller in {wins} of {len(logs)} draws, on average {mean:.2f} times ({low:.2f} to {high:.2f} at 95 %; single "
        f"draws {ratios.min():.2f} to {ratios.max():.2f})"
    )
    return Row(quantity, source, f"{found}; {draws}", verdict, why)


def differs(quantity: str, source: str, found: str, why: str) -> Row:
    """A number of the source that cannot come out, and why."""
    return Row(quantity, source, found, DIFFERS, why)


def show(quantity: str, source: str, found: str, why: str = "") -> Row:
    """A result with nothing to compare it to."""
    return Row(quantity, source, found, SHOWN, why)
