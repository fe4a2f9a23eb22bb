"""Findings about identified servos as data, their words, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from armdyn.identification.limits import CAREFUL_ERROR, NOT_USABLE_ERROR
from armdyn.identification.quality import Level
from armdyn.servo.parameters import MAX_DELAY_S, NAMES, PARAMETERS


class ServoFindingKind(StrEnum):
    """Kinds of findings."""

    UNDETERMINED = "undetermined"  # a parameter that the log does not determine
    ROUGH = "rough"  # parameters that are known to 30 % only
    NOT_MOVED = "not moved"
    LATE = "late"  # the delay is at its bound
    SATURATED = "saturated"
    FURTHER_TERMS = "further terms"  # a dead band, or friction that plain servos lack
    MISFIT = "misfit"  # the replay is worse than the encoder's resolution explains


# Remedy for each parameter that is not determined.
REMEDIES = {
    "compliance": "move it against gravity, log it carrying a weighed payload, or give its stiffness",
    "inertia": "command faster motion",
    "damping": "command faster motion",
    "coulomb": "command slow motion with many reversals",
    "delay": "command faster motion",
    "dead_band": "command slow motion about several positions",
    "static": "command slow motion with many reversals",
    "load": "move it against gravity in both directions",
}
TERMS = {
    "dead band": "a dead band in the servos",
    "friction": "friction that rises at low speed or with the load",
    "whole": "a dead band and friction that rises at low speed or with the load",
}


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
        joints = f"joint{'s' if many else ''} {', '.join(self.joints)}"
        match self.kind:
            case ServoFindingKind.UNDETERMINED:
                name = symbol(self.parameter)
                why = "; replays do not depend on it" if self.harmless else ""
                return f"the log does not determine {name} of {joints}{why}: {REMEDIES[self.parameter]}"
            case ServoFindingKind.ROUGH:
                return f"{symbol(self.parameter)} of {joints} is known to about 30 % only"
            case ServoFindingKind.NOT_MOVED:
                return f"{joints} {'do' if many else 'does'} not move in the log; the medians of the others stand in"
            case ServoFindingKind.LATE:
                return (
                    f"the delay of {joints} reaches the largest that is tried, {MAX_DELAY_S:g} s; check that one "
                    "clock stamps commands and measurements"
                )
            case ServoFindingKind.SATURATED:
                return (
                    f"{joints} reach{'' if many else 'es'} the torque limit for {self.value:.0%} of the time, which "
                    "hides the stiffness: command slower motion"
                )
            case ServoFindingKind.FURTHER_TERMS:
                return (
                    f"the log shows {TERMS[self.parameter]} (replay error {1e3 * self.reference:.2g} mrad without, "
                    f"{1e3 * self.value:.2g} mrad with): stiffness and Coulomb friction are less certain than their "
                    "ranges"
                )
        return (
            f"the replay error of {joints} is {1e3 * self.value:.2g} mrad, where the encoder explains "
            f"{1e3 * self.reference:.2g}: the model lacks play, flexible parts, late time stamps or true masses, and "
            "ranges may be too narrow"
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


def assess(findings: Sequence[ServoFinding], share: float = 0.0) -> ServoVerdict:
    """Return the verdict: careful where simulations depend on what is not known, or the model misses the log.

    `share` is the replay error over the error of assuming perfect tracking, judged as errors of torques are.
    """
    rough = ServoFindingKind.ROUGH
    reasons = tuple(finding for finding in findings if not finding.harmless and finding.kind != rough)
    remarks = tuple(finding for finding in findings if finding not in reasons)
    level = Level.CARE if reasons or share > CAREFUL_ERROR else Level.GOOD
    return ServoVerdict(Level.NOT_USABLE if share >= NOT_USABLE_ERROR else level, reasons, remarks)


def symbol(name: str) -> str:
    """Return the symbol of a parameter."""
    return PARAMETERS[NAMES.index(name)].symbol
