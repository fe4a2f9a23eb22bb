"""Sines and cosines in sums of products: addition theorems and sin² + cos² = 1.

Axes that are parallel turn by the sum of their angles; a recursion that treats joints one by one shows
that sum only as cos a cos b - sin a sin b.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from armdyn.trace.sums import Cube, Key, Network, Sum, Turn, added, canonical, without


class Merged(NamedTuple):
    """first + sign * second = factor * turn, for two products of sines and cosines."""

    turn: Turn
    factor: int


def merged(turns: Mapping[int, Turn], first: Cube, second: Cube, sign: int) -> Merged | None:
    """The sine or cosine that the sum of two products of two factors is, if it is one."""
    if not all(k in turns for k in first + second):
        return None
    # sin before cos where they differ
    (f, a), (g, b) = sorted((turns[k] for k in first), reverse=True)
    (h, c), (i, d) = sorted((turns[k] for k in second), reverse=True)
    if (f, g) == ("sin", "cos") == (h, i):  # sin a cos b +- sin c cos d with c = b, d = a
        return _turn("sin", a, b, sign, 1) if (a, b) == (d, c) and a != b else None
    if f != g or h != i or f == h or {a, b} != {c, d} or a == b:
        return None
    # cos a cos b +- sin a sin b = cos(a -+ b); with the sines first, times +-1
    return _turn("cos", a, b, -sign, 1 if f == "cos" else sign)


def _turn(function: str, a: Key, b: Key, sign: int, factor: int) -> Merged | None:
    """function(a + sign * b), the angle in canonical form."""
    angle = added(dict(a), dict(b), sign)
    if not angle:
        return None
    parity, key = canonical(angle)
    return Merged(Turn(function, key), factor * (int(parity) if function == "sin" else 1))


def square_free(network: Network, total: Sum) -> Sum:
    """A sum with x p cos² + y p sin² written as y p + (x - y) p cos², for every product p."""
    sines = {turn.angle: k for k, turn in network.turns.items() if turn.function == "sin"}
    for k, turn in network.turns.items():
        sine = sines.get(turn.angle)
        if turn.function == "sin" or sine is None:
            continue
        for cube in [c for c in total if c.count(k) >= 2]:
            rest = without(cube, (k, k))
            partner = tuple(sorted((*rest, sine, sine)))
            if partner in total and cube in total:
                y = total[partner]
                total = added(added(total, {partner: y, cube: y}, -1.0), {rest: y})
    return total
