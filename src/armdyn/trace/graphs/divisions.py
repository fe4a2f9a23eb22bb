"""Divisions that a multiplication does as well: a processor divides ten times slower than it multiplies."""

from __future__ import annotations

import math
from collections import Counter

from armdyn.trace.graphs.graph import Graph


def with_fewer_divisions(graph: Graph) -> Graph:
    """The graph with products in place of divisions by powers of two, and by what divides several values.

    The first change no bit. Of the others one reciprocal is left per divisor, which rounds once more: to the last
    digit, and up to an infinite reciprocal of a divisor below 6e-309.
    """
    divisors = Counter(node.args[1] for node in graph.nodes if node.op == "div")
    result = Graph(graph.name, graph.inputs, graph.outputs, stage=graph.stage)
    place: list[int] = []
    for node in graph.nodes:
        args = [place[a] for a in node.args]
        if node.op != "div":
            place.append(result.add(node.op, *args, value=node.value))
            continue
        by = graph.nodes[node.args[1]]
        several = by.op != "const" and divisors[node.args[1]] > 1
        if several or (by.op == "const" and _has_exact_reciprocal(by.value)):
            place.append(result.add("mul", args[0], result.add("div", result.constant(1.0), args[1])))
        else:
            place.append(result.add("div", *args))
    result.results = [[place[k] for k in column] for column in graph.results]
    return result.pruned()


def _has_exact_reciprocal(value: float) -> bool:
    """Whether a number is a power of two whose reciprocal is normal."""
    return abs(math.frexp(value)[0]) == 0.5 and 2.0**-1000 < abs(value) < 2.0**1000
