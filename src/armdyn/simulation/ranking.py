"""Laws ranked by what was measured of them, and the ranking in words: for terminals, pages and tables alike.

A law that did not run to its end, ends far off, or shakes its drives is no answer, however small its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from armdyn.numerals import pluralize
from armdyn.simulation.metrics import CLEAR_RATIO

if TYPE_CHECKING:
    from armdyn.simulation.compare import ComparisonRow

AS_GOOD_RATIO = 1.1  # error over the best one's, up to which a law counts as good as the best
FAR_JOINTS_RATIO = 3.0  # joint error of the law with the best tip over the least one, from which on it is said
FAR_ERROR = 0.5  # error of a joint in the last third [rad or m] from which on a law has lost its way
# Torque changes from sample to sample over the torque of the motion, from which on drives are shaken: with sensors as
# of `REAL_SENSORS` laws have 0.01 to 0.07, super-twisting 0.1 to 0.4.
ROUGH_RATIO = 0.1

Failure = Literal["", "failed", "diverged", "far", "rough"]
Level = Literal["good", "plain", "warn", "bad"]


class RankingEntry(NamedTuple):
    """A law's place: its error, why it does not count (empty where it does), and its speed."""

    row: ComparisonRow
    error: float  # of the tip [m], or of all joints where the arm is not known [rad or m]
    failure: Failure
    crossover: float  # median over its joints [Hz]; NaN: not known


class Sentence(NamedTuple):
    """A sentence of a conclusion, and how it is meant."""

    level: Level
    text: str


def standing(row: ComparisonRow) -> RankingEntry:
    """The place of a row among others."""
    speed = [f for f in row.crossover if np.isfinite(f)]
    error = row.final_rms if np.isnan(row.tip) else row.tip
    return RankingEntry(row, float(error), failure_of(row), float(np.median(speed)) if speed else np.nan)


def failure_of(row: ComparisonRow) -> Failure:
    """Why a law's run does not count, empty where it does."""
    if np.isnan(row.rms):
        return "failed" if row.note == "failed" else "diverged"
    if row.largest > FAR_ERROR:
        return "far"
    return "rough" if row.roughness > ROUGH_RATIO else ""


@dataclass(frozen=True)
class Ranking:
    """Standings, those that count first, nearest to the reference first."""

    standings: tuple[RankingEntry, ...]

    @classmethod
    def of(cls, rows: Sequence[ComparisonRow]) -> Ranking:
        """Rank the rows of a comparison."""
        places = [standing(row) for row in rows]
        order = sorted(places, key=lambda s: (np.isnan(s.row.rms), s.failure != "", np.nan_to_num(s.error, nan=np.inf)))
        return cls(tuple(order))

    @property
    def valid(self) -> tuple[RankingEntry, ...]:
        """Laws that count, the best first."""
        return tuple(place for place in self.standings if not place.failure)

    @property
    def equal(self) -> tuple[RankingEntry, ...]:
        """Laws that are as good as the best, without it."""
        return tuple(place for place in self.valid[1:] if place.error < AS_GOOD_RATIO * self.valid[0].error)

    def with_failure(self, kind: Failure) -> tuple[RankingEntry, ...]:
        """Laws that do not count for one reason."""
        return tuple(place for place in self.standings if place.failure == kind)

    @property
    def by_speed(self) -> tuple[RankingEntry, ...]:
        """Laws that ran and whose crossover is known, the slowest first."""
        known = [p for p in self.standings if np.isfinite(p.crossover) and p.failure not in ("failed", "diverged")]
        return tuple(sorted(known, key=lambda place: place.crossover))

    def sentences(self, unit: str = "mrad") -> list[Sentence]:
        """The conclusion; `unit` is that of joint errors times a thousand."""
        return [*self._best(unit), *self._failures(), *self.speeds()]

    def _best(self, unit: str) -> list[Sentence]:
        if not self.valid:
            return [Sentence("bad", "No law follows the motion.")]
        best, *others = self.valid
        sentence = f"{_capital(best.row.name)} has the smallest error at the end, {_distance(best, unit)}"
        if others:
            worst = others[-1]
            factor = worst.error / max(best.error, 1e-300)
            sentence += f"; {worst.row.name} has the largest, {_distance(worst, unit)} ({_times(factor)} times)"
        parts = [Sentence("good", f"{sentence}.")]
        if self.equal:
            names = ", ".join(place.row.name for place in self.equal)
            parts.append(Sentence("plain", f"As good within {AS_GOOD_RATIO - 1:.0%}: {names}."))
        steady = min(self.valid, key=lambda place: place.row.final_rms).row
        if best.row.final_rms > FAR_JOINTS_RATIO * steady.final_rms:
            error, least = (f"{1e3 * row.final_rms:.3g} {unit}" for row in (best.row, steady))
            turned = "joints that turn about the tip hardly move it"
            parts.append(Sentence("warn", f"But its joints are {error} off, those of {steady.name} {least}: {turned}."))
        return parts

    def _failures(self) -> list[Sentence]:
        kinds: dict[Failure, str] = {
            "failed": "could not run", "diverged": "diverged",
            "far": f"lost the motion: a joint was more than {FAR_ERROR:g} rad or m off",
        }  # fmt: skip
        parts = [
            Sentence("bad", f"{pluralize(len(lost), 'law')} {what}: {', '.join(place.row.name for place in lost)}.")
            for kind, what in kinds.items()
            if (lost := self.with_failure(kind))
        ]
        return parts + [Sentence("warn", f"{rough_words(place.row)}.") for place in self.with_failure("rough")]

    def speeds(self) -> list[Sentence]:
        """Whether the laws are equally fast; nothing where it is not known."""
        if len(self.by_speed) < 2:
            return []
        slow, fast = self.by_speed[0], self.by_speed[-1]
        ends = f"{slow.crossover:.2g} Hz ({slow.row.name}) to {fast.crossover:.2g} Hz ({fast.row.name})"
        if fast.crossover <= CLEAR_RATIO * slow.crossover:
            return [Sentence("plain", f"The laws are about equally fast: their torque loops cross over at {ends}.")]
        best = self.valid[0] if self.valid and self.valid[0] not in (slow, fast) else None
        of_best = f", {best.row.name}'s at {best.crossover:.2g} Hz" if best and np.isfinite(best.crossover) else ""
        sentence = f"The laws are not equally fast: their torque loops cross over at {ends}{of_best}."
        effect = (
            "Among laws of the same structure, a faster loop has smaller errors and rougher torques, and tolerates "
            "less delay and elasticity."
        )
        return [Sentence("warn", f"{sentence} {effect}")]


def failure_words(place: RankingEntry) -> str:
    """Why a law's run does not count, in a few words."""
    words: dict[Failure, str] = {
        "": "", "failed": "could not run", "diverged": place.row.note or "diverged",
        "far": f"largest joint error {place.row.largest:.2g} rad or m",
        "rough": f"its torque changes from sample to sample by {place.row.roughness:.0%} of the motion's torque",
    }  # fmt: skip
    return words[place.failure]


def rough_words(row: ComparisonRow) -> str:
    """A law's torque changes, in words."""
    return (
        f"{_capital(row.name)} does not count: from sample to sample its torques change by {row.roughness:.0%} (RMS) "
        "of the torque that the motion needs"
    )


def _distance(place: RankingEntry, unit: str) -> str:
    if np.isnan(place.row.tip):
        return f"its joints {1e3 * place.row.final_rms:.3g} {unit} off"
    return f"its tip {1e3 * place.row.tip:.3g} mm off"


def _capital(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _times(factor: float) -> str:
    return f"{factor:.3g}" if factor < 100 else f"{factor:,.0f}"
