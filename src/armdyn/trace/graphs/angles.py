"""Sines and cosines in sums of products: addition theorems and sin² + cos² = 1.

Axes that are parallel turn by the sum of their angles; a recursion that treats joints one by one shows
that sum only as cos a cos b - sin a sin b.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

from armdyn.trace.graphs.sums import Cube, Key, Network, Sum, TrigLiteral, add, canonical, multiply, substitute, without


class Merged(NamedTuple):
    """first + sign * second = factor * turn, for two products of sines and cosines."""

    turn: TrigLiteral
    factor: int


def merge(turns: Mapping[int, TrigLiteral], first: Cube, second: Cube, sign: int) -> Merged | None:
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
    angle = add(dict(a), dict(b), sign)
    if not angle:
        return None
    parity, key = canonical(angle)
    return Merged(TrigLiteral(function, key), factor * (int(parity) if function == "sin" else 1))


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
                total = add(add(total, {partner: y, cube: y}, -1.0), {rest: y})
    return total


def one_square(network: Network, total: Sum, function: str) -> Sum:
    """A sum with all squares of `function`, "sin" or "cos", written as 1 minus the other's.

    What is left is unique: sums that are equal for all angles have the same terms, and zero has none.
    """
    other = {"sin": "cos", "cos": "sin"}[function]
    for k, turn in list(network.turns.items()):
        while squares := {c: x for c, x in total.items() if turn.function == function and c.count(k) >= 2}:
            (((partner,), _),) = network.call(other, [dict(turn.angle)]).items()
            total = add(total, squares, -1.0)
            for cube, x in squares.items():
                rest = without(cube, (k, k))
                total = add(total, {rest: x, tuple(sorted((*rest, partner, partner))): -x})
    return total


class Composed(NamedTuple):
    """An angle that is +-(first + sign * second); the sign in front is its parity."""

    angle: Key
    first: Key
    second: Key
    sign: int
    parity: int


def compose(network: Network, total: Sum) -> Iterator[Composed]:
    """The angles of a sum that are sums or differences of two angles known in the network."""
    known = sorted({turn.angle for turn in network.turns.values()})
    angles = {network.turns[k].angle for cube in total for k in cube if k in network.turns}
    for first, second in permutations(known, 2):
        for sign in (1, -1):
            angle = add(dict(first), dict(second), sign)
            parity, key = canonical(angle) if angle else (1.0, ())
            if key in angles and not angles.isdisjoint((first, second)):
                yield Composed(key, first, second, sign, int(parity))


def split(network: Network, total: Sum, by: Composed) -> Sum:
    """A sum with the sines and cosines of a composed angle written in those of its two parts."""
    sin_a, cos_a = (network.call(f, [dict(by.first)]) for f in ("sin", "cos"))
    sin_b, cos_b = (network.call(f, [dict(by.second)]) for f in ("sin", "cos"))
    of_angle = {
        "cos": add(multiply(cos_a, cos_b), multiply(sin_a, sin_b), -by.sign),
        "sin": multiply({(): by.parity}, add(multiply(sin_a, cos_b), multiply(cos_a, sin_b), by.sign)),
    }

    def meaning(k: int) -> Sum:
        turn = network.turns.get(k)
        return of_angle[turn.function] if turn is not None and turn.angle == by.angle else {(k,): 1.0}

    return substitute(total, meaning)
