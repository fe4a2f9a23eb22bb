"""Greedy search for what the sums of a network have in common.

Two kinds of divisors are shared, the one that saves most first: a product of two factors, such as x y in
x y z and x y w, and a sum of two terms, such as b + c in a b + a c (whether it appears once or often).
This is the extraction of two-cube and two-literal divisors of multi-level logic synthesis (Rajski and
Vasudevamurthy 1992), with signed terms, constants as factors, and addition theorems as free divisors.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import NamedTuple

from armdyn.trace.graphs.angles import Merged, merge
from armdyn.trace.graphs.sums import OUTPUTS, Cube, Network, Sum, common, without

Row = dict[Cube, int]  # a sum as signed products, coefficients being factors


class Pair(NamedTuple):
    """The product of two literals."""

    first: int
    second: int


class Binomial(NamedTuple):
    """first + sign * second, without a common factor, first < second."""

    first: Cube
    second: Cube
    sign: int


class Occurrence(NamedTuple):
    """Place of a binomial in a row: `rest * (first + sign * second)`."""

    first: Cube
    second: Cube
    rest: Cube


Divisor = Pair | Binomial


class Extraction:
    """One run of the search on a network, which it changes."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.rows: list[Row] = []
        self.places: list[tuple[int, int]] = []  # of a row: its literal, and which of its parts it is
        self.turns = dict(network.turns)
        self.literal_of = {turn: k for k, turn in self.turns.items()}
        self.where: dict[Divisor, dict[int, list]] = defaultdict(dict)  # divisor -> row -> occurrences
        self.held: list[set[Divisor]] = []  # divisors of each row
        self.heap: list[tuple[int, int, Divisor]] = []
        self.fresh: set[Divisor] = set()  # divisors whose gain may have changed
        for k in [*network.order(), OUTPUTS]:
            for part, total in enumerate(network.parts(k)):
                self._new_row((k, part), self._row(total))

    def run(self) -> Network:
        """Share whatever saves operations."""
        self._run_turns()
        self._queue(list(self.where))
        while (divisor := self._next()) is not None:
            self.fresh.clear()
            self._apply(divisor)
            self._queue(self.fresh)
        for (k, part), row in zip(self.places, self.rows, strict=True):
            self.network.parts(k)[part].clear()
            self.network.parts(k)[part].update(self._sum(row))
        self.network.turns = self.turns
        return self.network

    def _run_turns(self) -> None:
        """Addition theorems first: once their factors are shared otherwise they cannot be seen."""
        while True:
            known = [d for d in self.where if isinstance(d, Binomial) and self._merged(d) and self._rows(d)]
            best = max(known, key=lambda d: (self._gain(d), d), default=None)
            if best is None or self._gain(best) < 0:
                return
            self._apply(best)

    # -- rows -----------------------------------------------------------------------------------------

    def _row(self, total: Sum) -> Row:
        row: Row = {}
        for cube, c in total.items():
            self._put(row, cube, c)
        return row

    def _put(self, row: Row, cube: Cube, coefficient: float) -> None:
        """Add a product without constants to a row, joining it with a like one."""
        for old in row:
            value, plain = self._split(old)
            if plain == cube:
                coefficient += row.pop(old) * value
                break
        if coefficient:
            factor = () if abs(coefficient) == 1.0 else (self.network.constant(abs(coefficient)),)
            row[tuple(sorted(cube + factor))] = 1 if coefficient > 0 else -1

    def _split(self, cube: Cube) -> tuple[float, Cube]:
        """The constant factor of a product and the rest."""
        value, plain = 1.0, []
        for k in cube:
            number = self.network.number(k)
            if number is None:
                plain.append(k)
            else:
                value *= number
        return value, tuple(plain)

    def _sum(self, row: Row) -> Sum:
        total: Sum = {}
        for cube, sign in row.items():
            value, plain = self._split(cube)
            total[plain] = sign * value
        return total

    def _new_row(self, place: tuple[int, int], row: Row) -> None:
        self.places.append(place)
        self.rows.append(row)
        self.held.append(set())
        self._scan(len(self.rows) - 1)

    def _new_literal(self, row: Row) -> int:
        """A literal that stands for a new row."""
        k = self.network.literal("divisor", len(self.network.literals))
        self.network.sums[k] = {}
        self._new_row((k, 0), row)
        return k

    def _change(self, index: int, row: Row) -> None:
        for divisor in self.held[index]:
            del self.where[divisor][index]
            if not self.where[divisor]:
                del self.where[divisor]
        self.fresh |= self.held[index]
        self.rows[index] = row
        self._scan(index)

    def _scan(self, index: int) -> None:
        """Note the divisors of a row."""
        candidates: dict[Divisor, list] = defaultdict(list)
        cubes = sorted(self.rows[index])
        for i, cube in enumerate(cubes):
            for pair in {Pair(a, b) for j, a in enumerate(cube) for b in cube[j + 1 :]}:
                candidates[pair].append(cube)
            for other in cubes[:i]:
                rest = common(other, cube)
                a, b = (without(other, rest), without(cube, rest)) if rest else (other, cube)
                x, y = (other, cube) if a < b else (cube, other)
                sign = self.rows[index][x] * self.rows[index][y]
                candidates[Binomial(min(a, b), max(a, b), sign)].append(Occurrence(x, y, rest))
        for divisor, places in candidates.items():
            self.where[divisor][index] = places
        self.held[index] = set(candidates)
        self.fresh |= self.held[index]

    # -- choice ---------------------------------------------------------------------------------------

    def _queue(self, divisors: set[Divisor] | list[Divisor]) -> None:
        for divisor in divisors:
            gain = self._gain(divisor)
            if gain > 0:
                heapq.heappush(self.heap, (-gain, isinstance(divisor, Pair), divisor))

    def _next(self) -> Divisor | None:
        """The divisor that saves most now; entries of the heap may be out of date."""
        while self.heap:
            gain, kind, divisor = heapq.heappop(self.heap)
            now = self._gain(divisor)
            if now == -gain:
                return divisor
            if now > 0:
                heapq.heappush(self.heap, (-now, kind, divisor))
        return None

    def _gain(self, divisor: Divisor) -> int:
        """Operations saved by giving the divisor a literal of its own."""
        if isinstance(divisor, Pair):
            places = self.where.get(divisor, {})
            return sum(times(divisor, cube) for cubes in places.values() for cube in cubes) - 1
        is_known = self._known_literal(divisor) is not None
        saved = 0 if is_known else -(cost(divisor.first) + cost(divisor.second) + 1)
        for occurrences in self._rows(divisor).values():
            taken: set[Cube] = set()
            for first, second, rest in occurrences:
                if first not in taken and second not in taken:
                    taken |= {first, second}
                    saved += cost(first) + cost(second) + 1 - len(rest)
        return saved

    def _merged(self, divisor: Binomial) -> Merged | None:
        return merge(self.turns, *divisor) if len(divisor.first) == len(divisor.second) == 2 else None

    def _known_literal(self, divisor: Binomial) -> int | None:
        """The sine or cosine that a binomial is, if there is a literal for it."""
        turn = self._merged(divisor)
        return self.literal_of.get(turn.turn) if turn else None

    def _rows(self, divisor: Binomial) -> dict[int, list[Occurrence]]:
        """Return the rows in which a binomial may be replaced: not the one that defines it."""
        rows, known = self.where.get(divisor, {}), self._known_literal(divisor)
        return rows if known is None else {k: uses for k, uses in rows.items() if self.places[k][0] != known}

    # -- change ---------------------------------------------------------------------------------------

    def _apply(self, divisor: Divisor) -> None:
        """Give a divisor a literal and use it wherever it occurs."""
        if isinstance(divisor, Pair):
            places = dict(self.where[divisor])
            literal = self._new_literal({divisor: 1})
            for index, cubes in places.items():
                self._change(index, self._with_pair(index, divisor, cubes, literal))
        else:
            places = dict(self._rows(divisor))
            literal, factor = self._binomial_literal(divisor)
            for index, occurrences in places.items():
                self._change(index, self._with_binomial(index, occurrences, literal, factor))
        for index in places:
            self._replace_if_alias(index)

    def _binomial_literal(self, divisor: Binomial) -> tuple[int, int]:
        """literal and factor with divisor = factor * literal; sines and cosines are found again."""
        turn = self._merged(divisor)
        if turn is None:
            return self._new_literal({divisor.first: 1, divisor.second: divisor.sign}), 1
        factor = turn.factor
        if turn.turn not in self.literal_of:
            row = {divisor.first: factor, divisor.second: factor * divisor.sign}
            k = self.literal_of[turn.turn] = self._new_literal(row)
            self.turns[k] = turn.turn
        return self.literal_of[turn.turn], factor

    def _with_pair(self, index: int, pair: Pair, cubes: list[Cube], literal: int) -> Row:
        row = dict(self.rows[index])
        for cube in cubes:
            n = times(pair, cube)
            sign = row.pop(cube)
            value, plain = self._split((*without(cube, pair * n), *(literal,) * n))
            self._put(row, tuple(sorted(plain)), sign * value)
        return row

    def _with_binomial(self, index: int, occurrences: list[Occurrence], literal: int, factor: int) -> Row:
        row = dict(self.rows[index])
        for first, second, rest in occurrences:
            if first in row and second in row:
                sign = row.pop(first)
                del row[second]
                value, plain = self._split(rest)
                self._put(row, tuple(sorted((*plain, literal))), sign * factor * value)
        return row

    def _replace_if_alias(self, index: int) -> None:
        """A sum that has become one literal is replaced by it everywhere."""
        (old, _), row = self.places[index], self.rows[index]
        if old not in self.network.sums or len(row) != 1:
            return
        ((cube, sign),) = row.items()
        if len(cube) != 1 or self.network.number(cube[0]) is not None:
            return
        for k, other in enumerate(self.rows):
            if any(old in c for c in other):
                new: Row = {}
                for c, s in other.items():
                    n = c.count(old)
                    value, plain = self._split((*without(c, (old,) * n), *cube * n))
                    self._put(new, tuple(sorted(plain)), s * sign**n * value)
                self._change(k, new)


def cost(cube: Cube) -> int:
    """Multiplications in a product."""
    return len(cube) - 1 if cube else 0


def times(pair: Pair, cube: Cube) -> int:
    """Count how often a pair of factors is in a product."""
    if pair.first == pair.second:
        return cube.count(pair.first) // 2
    return min(cube.count(pair.first), cube.count(pair.second))
