"""Divisions turned into products: the same numbers, fewer divisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import armdyn
from armdyn.trace.graphs.divisions import with_fewer_divisions
from armdyn.trace.graphs.graph import Graph, graph_of
from armdyn.trace.graphs.interpret import evaluate_graph
from armdyn.trace.program import Port


def quotients(*divisors: float) -> Graph:
    """x / d for every divisor."""
    graph = Graph("quotients", (Port("x", ()),), (Port("y", (len(divisors),)),))
    x = graph.add("input", value=(0, 0))
    graph.results = [[graph.add("div", x, graph.constant(d)) for d in divisors]]
    return graph


def operations(graph: Graph) -> Counter[str]:
    return Counter(node.op for node in graph.nodes)


def test_powers_of_two_become_products_of_the_same_bits() -> None:
    graph = quotients(2.0, 0.25, -8.0)
    found = with_fewer_divisions(graph)
    assert operations(found)["div"] == 0
    for x in (1 / 3, -1e300, 7e-310, 5e-324, np.inf):
        np.testing.assert_array_equal(
            evaluate_graph(found, [np.array([[x]])]), evaluate_graph(graph, [np.array([[x]])])
        )


def test_other_constants_stay_divisors() -> None:
    graph = quotients(3.0, 2.0**-1074, 0.1)
    assert operations(with_fewer_divisions(graph))["div"] == operations(graph)["div"] == 3


def test_a_divisor_of_one_value_stays() -> None:
    graph = Graph("one", (Port("x", (2,)),), (Port("y", ()),))
    graph.results = [[graph.add("div", *(graph.add("input", value=(0, k)) for k in range(2)))]]
    assert operations(with_fewer_divisions(graph)) == operations(graph)


def test_forward_dynamics_divides_once_per_joint(random_arm: Callable[..., Any]) -> None:
    """As its formula is written; symbols turn a product with a reciprocal back into a division."""
    arm = random_arm("RRPR")
    traced = armdyn.forward_dynamics.traced
    graph = graph_of(traced.make_program(arm, traced.plain_variant))
    found = with_fewer_divisions(graph)
    assert operations(graph)["div"] > operations(found)["div"] == arm.n
    values = [(arm.trace_data(p.name) if p.name in traced.bound else np.full(p.size, 0.3))[None] for p in graph.inputs]
    got, want = (evaluate_graph(g, values)[0] for g in (found, graph))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())  # of some hundred roundings
