"""Findings about identified servos as data, their words, and the verdict that follows from them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from armdyn.identification.limits import CAREFUL_ERROR, NOT_USABLE_ERROR
from armdyn.identification.quality import Level
from armdyn.servo.parameters import MAX_DELAY_S, PARAMETERS


class ServoFindingKind(StrEnum):
    """Kinds of findings."""

    UNDETERMINED = "undetermined"  # a parameter that the log does not determine
    ROUGH = "rough"  # parameters that are known to 30 % only
    NOT_MOVED = "not moved"
    LATE = "late"  # the delay is at its bound
    SATURATED = "saturated"
    FURTHER_TERMS = "further terms"  # a dead band, or friction that plain servos lack
    MISFIT = "misfit"  # the replay is worse than the encoder's resolution explains


TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class ServoFinding(NamedTuple):
    """One thing to know before using identified servos."""

    kind: ServoFindingKind
    joints: tuple[str, ...] = ()
    parameter: str = ""  # of `NAMES`, or the structure of further terms
    value: float = 0.0  # delay [s], share of the time, or replay error [rad or m]
    reference: float = 0.0  # the error to compare it with
    harmless: bool = False  # whether simulations with the servos do not depend on it

    def __str__(self) -> str:
        many = len(self.joints) > 1
        text: str = TEXTS[self.kind]
        return text.format(
            joints=f"joint{'s' if many else ''} {', '.join(self.joints)}",
            do="do" if many else "does",
            reach="reach" if many else "reaches",
            symbol=symbol(self.parameter),
            harmless="; replays do not depend on it" if self.harmless else "",
            remedy=TEXTS["remedies"].get(self.parameter),
            terms=TEXTS["terms"].get(self.parameter),
            longest=MAX_DELAY_S,
            value=self.value,
            error=1e3 * self.value,
            reference=1e3 * self.reference,
        )


class ServoVerdict(NamedTuple):
    """Whether to use identified servos."""

    level: Level
    reasons: tuple[ServoFinding, ...]  # that lowered the level
    remarks: tuple[ServoFinding, ...]  # that do not

    @property
    def word(self) -> str:
        """`level` as a word."""
        return str(self.level)


def assess(findings: Sequence[ServoFinding], share: float = 0.0, *, is_determined: bool = True) -> ServoVerdict:
    """Return the verdict: careful where simulations depend on what is not known, or the model misses the log.

    `share` is the replay error over the error of assuming perfect tracking, judged as errors of torques are.
    `is_determined`: whether the log determines any number at all, without which the servos are not usable.
    """
    rough = ServoFindingKind.ROUGH
    reasons = tuple(finding for finding in findings if not finding.harmless and finding.kind != rough)
    remarks = tuple(finding for finding in findings if finding not in reasons)
    level = Level.CARE if reasons or share > CAREFUL_ERROR else Level.GOOD
    is_usable = is_determined and share < NOT_USABLE_ERROR
    return ServoVerdict(level if is_usable else Level.NOT_USABLE, reasons, remarks)


def symbol(name: str) -> str:
    """Return the symbol of a parameter; empty where it is none."""
    return next((parameter.symbol for parameter in PARAMETERS if parameter.name == name), "")
