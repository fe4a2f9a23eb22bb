"""Tables of numbers as text, all digits of many lines at once: a quarter of the time of one number after the other."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

GROUP = np.uint64(10_000)  # of four digits
# A number as text with room for all it may need: one group before the point (larger numbers are written one by one),
# three after it, so that a file keeps what round-off leaves of a limit, and stays readable. Bytes of zero are left out.
TEXT = np.dtype([("sign", "u1"), ("whole", "u4"), ("point", "u1"), ("decimals", "u4", (3,)), ("end", "u1")])
STEPS = float(GROUP) ** TEXT["decimals"].shape[0]  # in one


def decimal_lines(rows: NDArray) -> str:
    """Lines (N) of c numbers with commas between, each with at most 12 decimals."""
    size = np.abs(rows)
    if not (size < GROUP).all():  # also where one is not a number
        line = ",".join(["%.12g"] * rows.shape[1]) + "\n"
        return line * len(rows) % tuple(rows.ravel().tolist())
    whole, first, second, third = _groups((size * STEPS + 0.5).astype(np.uint64))
    front, back = _digits()
    third_ends = third == 0
    second_ends = third_ends & (second == 0)
    ends = second_ends & (first == 0)
    text = np.empty(rows.shape, TEXT)
    text["sign"] = ord("-") * ((rows < 0) & ~(ends & (whole == 0)))
    text["whole"] = front[whole]
    text["point"] = ord(".") * ~ends
    decimals = text["decimals"]
    decimals[..., 0] = back[first + GROUP * second_ends]
    decimals[..., 1] = back[second + GROUP * third_ends]
    decimals[..., 2] = back[third + GROUP]
    text["end"] = ord(",")
    text["end"][:, -1] = ord("\n")
    return text.tobytes().translate(None, b"\0").decode("ascii")


def _groups(steps: NDArray) -> list[NDArray]:
    """Four digits each, the first ones first."""
    groups = []
    for _ in range(3):
        front = steps // GROUP
        groups.append(steps - front * GROUP)
        steps = front
    return [steps, *reversed(groups)]


@cache
def _digits() -> tuple[NDArray, NDArray]:
    """Four characters of 0 to 9999 each: without zeros in front; with all zeros, then without those at the end."""
    numbers = range(int(GROUP))
    front = b"".join((b"%d" % k).rjust(4, b"\0") for k in numbers)
    full = [b"%04d" % k for k in numbers]
    back = b"".join(full) + b"".join(text.rstrip(b"0").ljust(4, b"\0") for text in full)
    return np.frombuffer(front, "u4"), np.frombuffer(back, "u4")
