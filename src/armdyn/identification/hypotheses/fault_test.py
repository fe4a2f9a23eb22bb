"""Faults that a log was tested for, as data: which, for which joints, and with which outcome.

Whatever is stated about faults that a log does not have derives from these records, so that no sentence can state more
than was tested.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.wording import joint_numbers


class FaultOutcome(StrEnum):
    """Outcomes of a test."""

    ABSENT = "absent"  # the log speaks against the fault
    MINOR = "minor"  # it costs too little to matter, or a note names it
    PRESENT = "present"  # a warning or rejection names it
    UNDECIDED = "undecided"  # the log would look the same with the fault
    UNTESTED = "untested"  # nothing could be compared


@dataclass(frozen=True)
class FaultTest:
    """Test of a log for one fault.

    Parameters
    ----------
    fault : str
        Name of the fault.
    kind : FindingKind
        Kind of the findings that report it.
    outcome : FaultOutcome
        Outcome for `joints`; `undecided` or `untested` where there are none.
    joints : tuple of int
        Joints for which the log decides, from 0.
    undecided : tuple of int
        Joints for which it does not, or for which nothing could be compared.
    bounds : tuple of float
        Largest size that the fault may have at each of `joints`, with 95 % confidence [SI units]; empty where no size
        was estimated.
    """

    fault: str
    kind: FindingKind
    outcome: FaultOutcome = FaultOutcome.UNTESTED
    joints: tuple[int, ...] = ()
    undecided: tuple[int, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the log does not have the fault, for certain and at all joints."""
        return self.outcome in (FaultOutcome.ABSENT, FaultOutcome.MINOR) and not self.undecided

    def named(self, joints: tuple[int, ...]) -> str:
        """The fault with some joints, where it concerns others too."""
        if not (joints and self.joints and self.undecided):
            return self.fault
        return f"{self.fault} (joint{'s' * (len(joints) > 1)} {joint_numbers(joints)})"


def outcome_lines(tests: Iterable[FaultTest]) -> tuple[str, ...]:
    """Faults that were tested for, a line for each outcome."""
    several = tuple(tests)
    groups = {
        "tested, absent": [t.named(t.joints) for t in several if t.outcome == FaultOutcome.ABSENT],
        "not shown by this log": [
            t.named(t.undecided)
            for t in several
            if t.outcome == FaultOutcome.UNDECIDED or (t.undecided and t.outcome != FaultOutcome.UNTESTED)
        ],
        "not tested": [t.fault for t in several if t.outcome == FaultOutcome.UNTESTED],
    }
    return tuple(f"{outcome}: {', '.join(faults)}" for outcome, faults in groups.items() if faults)


def column_test(fault: str, kind: FindingKind, findings: Iterable[Finding], decided: ArrayLike) -> FaultTest:
    """Record a test of columns by its findings and the joints (n,) that it compares."""
    shows = np.asarray(decided, bool)
    levels = {finding.level for finding in findings if finding.kind == kind}
    if levels:
        outcome = FaultOutcome.PRESENT if levels - {"note"} else FaultOutcome.MINOR
    else:
        outcome = FaultOutcome.ABSENT if shows.any() else FaultOutcome.UNTESTED
    joints, others = (tuple(np.flatnonzero(side).tolist()) for side in (shows, ~shows))
    return FaultTest(fault, kind, outcome, joints, others)
