"""What was found about a log: how sure, how much it matters, and what to do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.model.arm import Arm


class Finding(NamedTuple):
    """One observation; `level` is "refuse" (the whole is not usable), "warn" or "note"."""

    level: str
    text: str
    kind: str = ""  # in a word: "delay", "clock", "zero", "step", "spikes", "stuck", "sign", "exchange", "amperes" ...
    joints: tuple[int, ...] = ()  # that it is about, from 0
    gain: float = np.nan  # log-likelihood that speaks for it
    matters: float = np.nan  # share by which the error would fall if it were mended
    remedy: str = ""  # an option, or what to do
    value: float = np.nan  # the number found


def named(arm: Arm, joint: int) -> str:
    """A joint by number and name."""
    return f"joint {joint + 1} '{arm.joint_names[joint]}'"
