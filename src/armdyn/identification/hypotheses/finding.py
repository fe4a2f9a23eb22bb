"""What was found about a log: how sure, how much it matters, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from armdyn.model.arm import Arm


class Finding(NamedTuple):
    """One observation; `level` is "reject" (the whole is not usable), "warn" or "note"."""

    level: str
    text: str
    kind: str = ""  # in a word: "delay", "clock", "zero", "step", "spikes", "stuck", "sign", "exchange", "amperes" ...
    joints: tuple[int, ...] = ()  # that it is about, from 0
    gain: float = np.nan  # log-likelihood that speaks for it
    matters: float = np.nan  # share by which the error would fall if it were mended
    remedy: str = ""  # an option, or what to do
    value: float = np.nan  # the number found

    @property
    def advice(self) -> str:
        """What was found, and what to do about it."""
        told = self.remedy and self.remedy not in self.text
        return with_remedy(self.text, self.remedy) if told else self.text


def with_remedy(text: str, remedy: str) -> str:
    """What is wrong and what to do about it: two sentences where the first is a question."""
    return f"{text} Remedy: {remedy}" if text.endswith("?") else f"{text}; remedy: {remedy}"


def reversing(n: int, joints: Iterable[int]) -> str:
    """What to write behind an option with a number per joint to reverse some: -1, or 1,-1,1."""
    turned = set(joints)
    return "-1" if len(turned) == n else ",".join("-1" if j in turned else "1" for j in range(n))


def with_numbers(remedy: str, given: Sequence[str]) -> str:
    """The remedy with signs of gears and gains applied to the numbers that a log was read with: 100,-100,80."""
    words, read = remedy.split(), dict(pairwise(given))
    for k, (option, signs) in enumerate(pairwise(words)):
        if option in ("--gear-ratio", "--drive-gain") and option in read:
            numbers = np.array(signs.split(","), float) * np.array(read[option].split(","), float)
            words[k + 1] = ",".join(f"{x:.10g}" for x in numbers)
    return " ".join(words)


def rescaling(factor: float) -> str:
    """The option that makes times longer by a factor."""
    return f"--time-scale {factor:.3g}"


def joint_name(arm: Arm, joint: int) -> str:
    """A joint by number and name."""
    return f"joint {joint + 1} '{arm.joint_names[joint]}'"
