"""Fewer operations for the same result: what exported code is made from.

The graph becomes a network of sums of products (`sums`); what those have in common is shared
(`divisors`), sines and cosines of parallel axes are merged (`angles`), and of several ways to open sums
beforehand the one with the fewest operations is kept. Every step is an identity of real numbers, so
results change by round-off only.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

from armdyn.trace.graphs.angles import square_free
from armdyn.trace.graphs.divisors import Extraction
from armdyn.trace.graphs.graph import Graph, count_operations
from armdyn.trace.graphs.sums import OUTPUTS, Cube, Key, Network, Sum, add, multiply, network_of, substitute, without

# What a sine and a cosine of one angle, and a division, cost in additions, about.
SINCOS, DIVISION = 25, 5
# Nodes that the search may go through: some fifty trials on an arm of six joints. Larger graphs keep the sharing that
# they have but for divisions by one number: to seek more would take minutes.
NODES_VISITED_LIMIT = 30_000
# A sum is not opened beyond this many terms.
MAX_TERMS = 80


def simplify(graph: Graph, *, search: bool = True) -> Graph:
    """A graph with the same outputs and no more operations; without `search` what it has in common is shared, once."""
    graph = graph.pruned()
    if search and len(graph.nodes) <= NODES_VISITED_LIMIT:
        return Search(graph).run()
    network = tidy(network_of(graph))
    return min(graph, network.graph() if len(graph.nodes) > NODES_VISITED_LIMIT else share_terms(network), key=effort)


class Search:
    """Opens sums one after the other and keeps what leads to fewer operations."""

    def __init__(self, graph: Graph) -> None:
        self.best, self.effort = graph, effort(graph)
        self.budget = NODES_VISITED_LIMIT
        ways = [(inline, spread) for inline in (False, True) for spread in (False, True)]
        starts = [
            tidy(network_of(graph, *way))
            for way in (ways if len(graph.nodes) < NODES_VISITED_LIMIT // 10 else ways[:1])
        ]
        self.starts = sorted(starts, key=self._try)

    def run(self) -> Graph:
        """The best graph found from the two most promising networks."""
        for network in self.starts[:2]:
            self._climb(network)
        return self.best

    def _climb(self, network: Network) -> None:
        """Try all ways to open sums, over and over, until none has helped since the last that did."""
        reached = self._try(network)
        failed: set[tuple[Any, ...]] = set()
        ways = openings(network)
        while ways and self.budget > 0:
            opening = ways.pop(0)
            trial = network.copy()
            if opening in failed or not opening[0](trial, *opening[1:]):
                continue
            height = self._try(trial)
            if height < reached:
                reached, network = height, trial
                failed.clear()
                ways = openings(network)
            else:
                failed.add(opening)

    def _try(self, network: Network) -> int:
        """The effort that a network leads to, remembering its graph if it is the best so far."""
        graph = share_terms(network)
        self.budget -= len(graph.nodes)
        reached = effort(graph)
        if reached < self.effort:
            self.best, self.effort = graph, reached
        return reached


def openings(network: Network) -> list[tuple[Any, ...]]:
    """Ways to open sums: those of one sum, the outputs' first, or those between two angles."""
    angles = sorted({turn.angle for turn in network.turns.values()})
    sums = [k for k in reversed(network.order()) if k in network.sums]
    return [(open_sum, k) for k in sums] + [(open_turns, *pair) for pair in permutations(angles, 2)]


def effort(graph: Graph) -> int:
    """Return the cost of a graph, in additions."""
    counts = count_operations(graph)
    return counts.multiplications + counts.additions + SINCOS * counts.sincos + DIVISION * counts.divisions


def tidy(network: Network) -> Network:
    """The network with sin² + cos² gone, and without literals that stand for zero or for one product."""

    def meaning(m: int) -> Sum:
        return network.sums[m] if m in network.sums and len(network.sums[m]) < 2 else {(m,): 1.0}

    for k in [*network.order(), OUTPUTS]:
        for part in network.parts(k):
            total = cancel(network, square_free(network, substitute(part, meaning)))
            part.clear()
            part.update(total)
    return network


def cancel(network: Network, total: Sum) -> Sum:
    """A sum with those of its terms opened that are sums themselves and then cancel others."""
    for cube in list(total):
        if len(cube) == 1 and cube[0] in network.sums and cube in total:
            opened = multiply_out(total, cube, cube[0], network.sums[cube[0]])
            if len(opened) < len(total):
                total = opened
    return total


def share_terms(network: Network) -> Graph:
    """The graph of a network after sharing; the network itself stays as it is."""
    initial = set(network.turns)
    network = Extraction(tidy(network.copy())).run()
    best = network.graph()
    for angle in sorted({turn.angle for k, turn in network.turns.items() if k not in initial}):
        trial = network.copy()
        for k, turn in network.turns.items():
            if turn.angle == angle and k in trial.sums:
                trial.sums[k] = trial.call(turn.function, [dict(angle)])
        # Sums of angles may have terms in common.
        candidate = Extraction(trial.copy()).run().graph()
        if effort(candidate) < effort(best):
            best, network = candidate, trial
    return best


def open_turns(network: Network, outer: Key, inner: Key) -> bool:
    """Multiply out sums that hold sin or cos of `inner` and are read once, beside sin or cos of `outer`.

    R(outer) (x + R(inner) y) becomes R(outer) x + R(outer) R(inner) y, which turns y once if the axes are
    parallel. Returns whether there was anything to do.
    """
    outside = {k for k, turn in network.turns.items() if turn.angle == outer}
    inside = {k for k, turn in network.turns.items() if turn.angle == inner}
    changed = False
    while _open_turns_once(network, outside, inside):
        changed = True
    return changed


def _open_turns_once(network: Network, outside: set[int], inside: set[int]) -> bool:
    uses = network.uses()
    holds: set[int] = set()  # sums that hold `inside`, themselves or through sums that are read once

    def involved(cube: Cube) -> bool:
        return any(k in inside or (k in holds and uses[k] == 1) for k in cube)

    changed = False
    for k in network.order():
        if k not in network.sums:
            continue
        total = network.sums[k]
        for cube in [c for c in total if outside.intersection(c)]:
            factor = next((m for m in cube if m in holds and uses[m] == 1), None)
            if factor is not None:
                changed = True
                moved = {c: x for c, x in network.sums[factor].items() if involved(c)}
                stays = {c: x for c, x in network.sums[factor].items() if c not in moved}
                total = multiply_out(total, cube, factor, add(moved, network.named(stays)))
        network.sums[k] = total
        if any(involved(cube) for cube in total):
            holds.add(k)
    return changed


def open_sum(network: Network, literal: int) -> bool:
    """Multiply out all sums within one sum that are read nowhere else; whether there was one."""
    total = network.sums.get(literal, {})
    uses = network.uses()
    changed = False
    while True:
        inner = ((c, m) for c in total for m in c if m in network.sums and uses[m] == 1 and c.count(m) == 1)
        cube, factor = next(inner, ((), None))
        if factor is None or len(total) > MAX_TERMS:
            network.sums[literal] = total
            return changed
        changed = True
        total = multiply_out(total, cube, factor, network.sums[factor])


def multiply_out(total: Sum, cube: Cube, factor: int, meaning: Sum) -> Sum:
    """A sum in which one product's factor is replaced by the sum that it means."""
    left = {without(cube, (factor,)): total[cube]}
    return add(add(total, {cube: total[cube]}, -1.0), multiply(left, meaning))
