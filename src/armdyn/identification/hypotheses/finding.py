"""Findings about a log, as data: what it is, of which joints, how sure, what it costs, and the correction."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from armdyn.identification.logs.corrections import LogCorrection


class FindingKind(StrEnum):
    """Kinds of findings."""

    READING = "reading"  # how a file was read
    REPAIR = "repair"  # what of a log was dropped or changed when it was read
    MOTION = "motion"  # a motion that shows little
    UNIT = "unit"
    LIMITS = "limits"
    NO_TORQUE = "no_torque"
    STUCK = "stuck"
    CLIPPED = "clipped"
    SPIKES = "spikes"
    STEP = "step"
    SIGN = "sign"
    EXCHANGE = "exchange"
    ZERO = "zero"
    GAIN = "gain"
    DELAY = "delay"
    TIME_SCALE = "time_scale"
    GRAVITY = "gravity"
    LED_BY_HAND = "led_by_hand"
    COMPUTED = "computed"
    OTHER_ARM = "other_arm"
    COUPLING = "coupling"
    MECHANISM = "mechanism"  # positions of other joints than the coordinates
    FRICTION = "friction"
    PAYLOAD = "payload"  # a load at the tip that the description lacks, or has too much of


class Finding(NamedTuple):
    """One observation; `level` is "reject" (the whole is not usable), "warn" or "note"."""

    level: str
    text: str
    kind: FindingKind = FindingKind.READING
    joints: tuple[int, ...] = ()  # that it is about, from 0
    log_evidence: float = np.nan  # logarithm of the evidence ratio that speaks for it
    error_reduction: float = np.nan  # share by which the error would fall with the correction
    correction: LogCorrection | None = None  # that `Log.corrected` takes
    value: float = np.nan  # the number found
    hint: str = ""  # what to do where no correction helps

    @property
    def gain(self) -> float:
        """`log_evidence`."""
        return self.log_evidence

    @property
    def matters(self) -> float:
        """`error_reduction`."""
        return self.error_reduction

    @property
    def remedy(self) -> str:
        """Remedy, in words."""
        if self.correction is None:
            return self.hint
        return f"log.corrected with {self.correction}{self.hint and f' ({self.hint})'}"

    @property
    def advice(self) -> str:
        """Finding and remedy, in words."""
        return with_remedy(self.text, self.remedy)


def with_remedy(text: str, remedy: str) -> str:
    """Join what is wrong and what to do about it: two sentences where the first is a question."""
    if not remedy:
        return text
    return f"{text} Remedy: {remedy}" if text.endswith("?") else f"{text}; remedy: {remedy}"


def reversing(n: int, joints: Iterable[int]) -> tuple[float, ...]:
    """Factors (n,) that reverse some joints."""
    turned = set(joints)
    return tuple(-1.0 if j in turned else 1.0 for j in range(n))
