"""Sums of products: the form in which a graph is simplified.

A graph's additions and multiplications are gathered into sums of products of literals. A literal is an
input, a call (sine, square root, ...), or a sum that is multiplied or read more than once. In this form
the order of terms and factors is free, so that `divisors` can choose what to share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from armdyn.precision import ROUND_OFF
from armdyn.trace.graphs.graph import Graph

Cube = tuple[int, ...]  # literals of a product in ascending order, repeated for powers; () is the number 1
Sum = dict[Cube, float]  # coefficients of products; empty is zero
Key = tuple[tuple[Cube, float], ...]  # a sum that can be looked up

# In place of a literal: the outputs.
OUTPUTS = -1


class TrigLiteral(NamedTuple):
    """Facts about a literal that is the sine or cosine of an angle."""

    function: str
    angle: Key


class Network:
    """Sums over literals, and what the outputs are in them."""

    def __init__(self, graph: Graph) -> None:
        self.source = graph
        self.literals: list[tuple[Any, ...]] = []
        self.sums: dict[int, Sum] = {}
        self.calls: dict[int, tuple[str, list[Sum]]] = {}
        self.outputs: list[Sum] = []  # of all ports, one after the other
        self.turns: dict[int, TrigLiteral] = {}
        self._known: dict[tuple[Any, ...], int] = {}

    def copy(self) -> Network:
        """A network that can be changed without changing this one."""
        other = Network(self.source)
        other.literals, other._known, other.turns = list(self.literals), dict(self._known), dict(self.turns)
        other.sums = {k: dict(s) for k, s in self.sums.items()}
        other.calls = {k: (op, [dict(s) for s in args]) for k, (op, args) in self.calls.items()}
        other.outputs = [dict(s) for s in self.outputs]
        return other

    # -- literals -------------------------------------------------------------------------------------

    def literal(self, *what: Any) -> int:
        """The literal of something hashable, the same for equal things."""
        index = self._known.get(what)
        if index is None:
            index = self._known[what] = len(self.literals)
            self.literals.append(what)
        return index

    def constant(self, value: float) -> int:
        """The literal of a positive number; numbers equal to 15 digits are one."""
        index = self.literal("constant", f"{value:.14e}")
        if len(self.literals[index]) == 2:
            self.literals[index] = ("constant", f"{value:.14e}", value)
        return index

    def fixed(self, value: float) -> Sum:
        """A number as a sum; what is not finite stays a literal, which no rule touches."""
        if not math.isfinite(value):
            return {(self.constant(value),): 1.0}
        return {(): value} if value else {}

    def number(self, literal: int) -> float | None:
        """The value of a constant literal."""
        what = self.literals[literal]
        return what[2] if what[0] == "constant" else None

    def call(self, op: str, args: list[Sum]) -> Sum:
        """A function of sums; sines and cosines of opposite angles are one literal."""
        sign = 1.0
        if op in ("sin", "cos") and args[0]:
            parity, key = canonical(args[0])
            args, sign = [dict(key)], parity if op == "sin" else 1.0
        index = self.literal("call", op, tuple(tuple(sorted(arg.items())) for arg in args))
        self.calls[index] = (op, args)
        if op in ("sin", "cos"):
            self.turns[index] = TrigLiteral(op, tuple(sorted(args[0].items())))
        return {(index,): sign}

    def named(self, total: Sum) -> Sum:
        """A sum as one product: itself if it has one term, else a literal that stands for it."""
        if len(total) < 2:
            return total
        sign, key = canonical(total)
        index = self.literal("sum", key)
        self.sums[index] = dict(key)
        return {(index,): sign}

    # -- traversal ------------------------------------------------------------------------------------

    def parts(self, literal: int) -> list[Sum]:
        """The sums that a literal, or `OUTPUTS`, is made of."""
        if literal == OUTPUTS:
            return self.outputs
        if literal in self.sums:
            return [self.sums[literal]]
        return self.calls[literal][1] if literal in self.calls else []

    def order(self) -> list[int]:
        """The literals that the outputs need, each after those it is made of."""
        done: dict[int, bool] = {}  # False while its parts are visited
        stack = [k for s in reversed(self.outputs) for k in members(s)]
        order = []
        while stack:
            k = stack[-1]
            if k not in done:
                done[k] = False
                stack.extend(m for part in self.parts(k) for m in members(part) if m not in done)
                continue
            stack.pop()
            if not done[k]:
                done[k] = True
                order.append(k)
        return order

    def uses(self) -> dict[int, int]:
        """Count the products that each needed literal is in."""
        cubes = (cube for k in [*self.order(), OUTPUTS] for part in self.parts(k) for cube in part)
        return Counter(k for cube in cubes for k in set(cube))

    # -- back to a graph ------------------------------------------------------------------------------

    def graph(self) -> Graph:
        """The graph that evaluates this network."""
        graph = Graph(self.source.name, self.source.inputs, self.source.outputs)
        nodes: dict[int, tuple[int, int]] = {}  # sign and node of each literal

        def product(cube: Cube, coefficient: float) -> tuple[int, int]:
            sign, node = (1 if coefficient > 0 else -1), -1
            if abs(coefficient) not in (1.0, 2.0) or not cube:
                node = graph.constant(abs(coefficient))
            for k in cube:
                sign *= nodes[k][0]
                node = nodes[k][1] if node < 0 else graph.add("mul", node, nodes[k][1])
            return sign, graph.add("add", node, node) if cube and abs(coefficient) == 2.0 else node

        def value(total: Sum) -> tuple[int, int]:
            terms = [product(cube, c) for cube, c in total.items()]
            if not terms:
                return 1, graph.constant(0.0)
            first = next((k for k, (sign, _) in enumerate(terms) if sign > 0), 0)
            sign, node = terms.pop(first)
            for other, term in terms:
                node = graph.add("add" if other == sign else "sub", node, term)
            return sign, node

        def plain(total: Sum) -> int:
            sign, node = value(total)
            return node if sign > 0 else graph.add("neg", node)

        for k in self.order():
            if k in self.sums:
                nodes[k] = value(self.sums[k])
            elif k in self.calls:
                op, args = self.calls[k]
                nodes[k] = 1, graph.add(op, *(plain(arg) for arg in args))
            elif self.number(k) is not None:
                nodes[k] = 1, graph.constant(self.number(k) or 0.0)
            else:
                nodes[k] = 1, graph.add("input", value=self.literals[k][1])
        entries = iter(self.outputs)
        graph.results = [[plain(next(entries)) for _ in column] for column in self.source.results]
        return graph.pruned()


def members(total: Sum) -> Iterator[int]:
    """The literals in a sum."""
    return (k for cube in total for k in cube)


def canonical(total: Sum) -> tuple[float, Key]:
    """Sign and sorted terms of a sum, the first of them positive: x - y and y - x differ in sign only."""
    cubes = sorted(total)
    sign = 1.0 if total[cubes[0]] > 0 else -1.0
    return sign, tuple((cube, sign * total[cube]) for cube in cubes)


def add(first: Sum, second: Sum, factor: float = 1.0) -> Sum:
    """first + factor * second."""
    total = dict(first)
    for cube, c in second.items():
        old = total.get(cube, 0.0)
        new = old + factor * c
        if abs(new) <= ROUND_OFF * abs(old):
            total.pop(cube, None)
        else:
            total[cube] = new
    return total


def multiply(first: Sum, second: Sum) -> Sum:
    """The product of two sums, expanded."""
    total: Sum = {}
    for a, x in first.items():
        total = add(total, {tuple(sorted(a + b)): x * y for b, y in second.items()})
    return total


def substitute(total: Sum, meaning: Callable[[int], Sum], watch: Callable[[Sum], None] | None = None) -> Sum:
    """A sum with sums in place of its literals, expanded; `watch` is called with what there is so far."""
    result: Sum = {}
    for cube, c in total.items():
        product: Sum = {(): c}
        for k in cube:
            product = multiply(product, meaning(k))
        result = add(result, product)
        if watch is not None:
            watch(result)
    return result


def without(cube: Cube, part: Iterable[int]) -> Cube:
    """A product divided by one of its parts."""
    left = list(cube)
    for k in part:
        left.remove(k)
    return tuple(left)


def common(first: Cube, second: Cube) -> Cube:
    """The greatest common part of two products."""
    factors, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            factors.append(first[i])
            i, j = i + 1, j + 1
        elif first[i] < second[j]:
            i += 1
        else:
            j += 1
    return tuple(factors)


def network_of(graph: Graph, inline: bool = False, spread: bool = False) -> Network:
    """The network of a graph.

    With `inline`, sums that are read more than once are opened in other sums; with `spread`, a number times
    a sum that is read nowhere else goes into the sum's coefficients. Several divisions by one number become
    products with its inverse.
    """
    network = Network(graph)
    uses = graph.uses()
    divisors = Counter(node.args[1] for node in graph.nodes if node.op == "div")
    values: list[Sum] = []

    def term(k: int) -> Sum:
        return values[k] if uses[k] == 1 or inline else network.named(values[k])

    def factors(a: int, b: int) -> tuple[Sum, Sum]:
        for x, y in ((a, b), (b, a)):
            if spread and graph.nodes[x].op == "const" and uses[y] == 1:
                return values[x], values[y]
        return network.named(values[a]), network.named(values[b])

    for node in graph.nodes:
        if node.op == "const":
            values.append(network.fixed(node.value))
        elif node.op == "input":
            values.append({(network.literal("input", node.value),): 1.0})
        elif node.op in ("add", "sub"):
            a, b = node.args
            values.append(add(term(a), term(b), 1.0 if node.op == "add" else -1.0))
        elif node.op == "neg":
            values.append({cube: -c for cube, c in values[node.args[0]].items()})
        elif node.op == "mul":
            values.append(multiply(*factors(*node.args)))
        elif node.op == "div" and graph.nodes[node.args[1]].op == "const" and graph.nodes[node.args[1]].value:
            divisor = graph.nodes[node.args[1]].value
            values.append({cube: c / divisor for cube, c in values[node.args[0]].items()})
        elif node.op == "div" and divisors[node.args[1]] > 1:
            inverse = network.call("div", [{(): 1.0}, network.named(values[node.args[1]])])
            values.append(multiply(network.named(values[node.args[0]]), inverse))
        else:
            args = [values[a] for a in node.args]
            named = node.op not in ("sin", "cos")
            values.append(network.call(node.op, [network.named(arg) if named else arg for arg in args]))
    network.outputs = [network.named(values[k]) for column in graph.results for k in column]
    return network
