"""The simplifier: same numbers, never more operations, and the savings it promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn.trace.graphs.graph import Graph, count_operations, graph_of
from armdyn.trace.graphs.interpret import evaluate_graph
from armdyn.trace.graphs.simplify import effort, simplify
from armdyn.trace.program import Port


def graph_for(formula: Callable[..., list[int]], n: int = 4) -> Graph:
    """A graph of inputs x[0..n-1]; `formula(graph, x)` returns the nodes of the outputs."""
    graph = Graph("test", (Port("x", (n,)),), ())
    x = [graph.add("input", value=(0, k)) for k in range(n)]
    results = formula(graph, x)
    graph.outputs = (Port("y", (len(results),)),)
    graph.results = [results]
    return graph


def folded_graph(function: Callable[..., Any], arm: armdyn.Arm) -> Graph:
    traced = function.traced
    return graph_of(traced.make_program(arm, traced.plain_variant, fold=True))


def largest_error(plain: Graph, simple: Graph, samples: int = 50) -> float:
    """Largest difference, as a fraction of the largest number that the plain graph meets on the way."""
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-2, 2, (samples, port.size)) for port in plain.inputs]
    want, got = evaluate_graph(plain, inputs), evaluate_graph(simple, inputs)
    whole = Graph(plain.name, plain.inputs, plain.outputs, plain.nodes, [list(range(len(plain.nodes)))])
    scale = np.abs(evaluate_graph(whole, inputs)[0]).max()
    return max(np.abs(a - b).max(initial=0.0) for a, b in zip(want, got, strict=True)) / scale


# -- identities ----------------------------------------------------------------------------------------------


def test_common_factor_is_taken_out() -> None:
    plain = graph_for(lambda g, x: [g.add("add", g.add("mul", x[0], x[1]), g.add("mul", x[0], x[2]))])
    assert count_operations(simplify(plain))[:2] == (1, 1)


def test_products_that_differ_in_sign_are_one() -> None:
    def formula(g: Graph, x: list[int]) -> list[int]:
        return [g.add("mul", x[0], x[1]), g.add("mul", g.add("neg", x[0]), x[1])]

    assert count_operations(simplify(graph_for(formula))).multiplications == 1


def test_sums_that_differ_in_sign_are_one() -> None:
    def formula(g: Graph, x: list[int]) -> list[int]:
        return [g.add("mul", g.add("sub", x[0], x[1]), x[2]), g.add("mul", g.add("sub", x[1], x[0]), x[3])]

    assert count_operations(simplify(graph_for(formula)))[:2] == (2, 1)


def test_constants_meet() -> None:
    def formula(g: Graph, x: list[int]) -> list[int]:
        twice = g.add("mul", g.constant(3.0), g.add("mul", g.constant(0.5), x[0]))
        return [g.add("add", twice, g.add("mul", g.constant(2.5), x[0]))]

    # 3 (0.5 x) + 2.5 x = 4 x
    assert count_operations(simplify(graph_for(formula)))[:2] == (1, 0)


def test_sums_in_another_order_are_shared() -> None:
    def formula(g: Graph, x: list[int]) -> list[int]:
        first = g.add("add", g.add("add", x[0], x[1]), x[2])
        second = g.add("add", g.add("add", x[0], x[2]), x[3])
        return [first, second]

    assert count_operations(simplify(graph_for(formula))).additions == 3


def test_divisions_by_one_number_become_one() -> None:
    def formula(g: Graph, x: list[int]) -> list[int]:
        return [g.add("div", x[k], x[3]) for k in range(3)]

    plain = graph_for(formula)
    assert count_operations(simplify(plain))[:3] == (3, 0, 1)
    assert largest_error(plain, simplify(plain)) < 1e-15


def trig(g: Graph, x: int) -> tuple[int, int]:
    return g.add("cos", x), g.add("sin", x)


def test_sum_of_squares_of_sine_and_cosine_is_one() -> None:
    def formula(g: Graph, x: list[int]) -> list[int]:
        c, s = trig(g, x[0])
        squares = g.add("add", g.add("mul", c, c), g.add("mul", s, s))
        return [g.add("mul", squares, x[1])]

    assert count_operations(simplify(graph_for(formula))) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("sign", ["add", "sub"])
def test_addition_theorems(sign: str) -> None:
    other = {"add": "sub", "sub": "add"}[sign]

    def formula(g: Graph, x: list[int]) -> list[int]:
        (c1, s1), (c2, s2) = trig(g, x[0]), trig(g, x[1])
        cosine = g.add(other, g.add("mul", c1, c2), g.add("mul", s1, s2))
        sine = g.add(sign, g.add("mul", s1, c2), g.add("mul", c1, s2))
        return [g.add("mul", x[2], cosine), g.add("mul", x[2], sine)]

    plain = graph_for(formula)
    simple = simplify(plain)
    # Two products with x2, one sum of angles, and one pair of calls instead of two.
    assert count_operations(simple)[:4] == (2, 1, 0, 1)
    assert largest_error(plain, simple) < 1e-15


def test_three_parallel_axes() -> None:
    rows = [{"kind": "R", "a": a, "alpha": 0.0, "d": 0.0, "theta": 0.0} for a in (0.5, 0.4, 0.3)]
    plain = folded_graph(armdyn.forward_kinematics, armdyn.Arm.from_dh(rows))
    counts = count_operations(simplify(plain))
    # x = a1 c1 + a2 c12 + a3 c123, y alike: 6 products, 4 sums and 2 sums of angles.
    assert counts[:4] == (6, 6, 0, 3)


def test_angles_are_not_merged_where_that_costs_calls() -> None:
    """cos(a + b) beside cos a, sin a, cos b, sin b: a third pair of calls is dearer than three operations."""

    def formula(g: Graph, x: list[int]) -> list[int]:
        (c1, s1), (c2, s2) = trig(g, x[0]), trig(g, x[1])
        return [c1, s1, c2, s2, g.add("sub", g.add("mul", c1, c2), g.add("mul", s1, s2))]

    assert count_operations(simplify(graph_for(formula))) == (2, 1, 0, 2, 0)


def test_constant_outputs_and_copies_of_inputs() -> None:
    plain = graph_for(lambda g, x: [g.constant(0.0), x[1], g.add("neg", x[0]), g.constant(float("nan"))])
    simple = simplify(plain)
    assert count_operations(simple) == (0, 0, 0, 0, 0)
    value = evaluate_graph(simple, [np.array([[1.0, 2.0, 3.0, 4.0]])])[0]
    np.testing.assert_array_equal(value, [[0.0, 2.0, -1.0, np.nan]])


# -- random graphs -------------------------------------------------------------------------------------------

BINARY = ["add", "sub", "mul", "add", "sub", "mul", "fmin", "atan2"]
UNARY = ["neg", "sin", "cos", "tanh", "fabs"]


@st.composite
def random_graphs(draw: st.DrawFn) -> Graph:
    choice = draw(st.randoms(use_true_random=False))
    size = draw(st.integers(2, 60))

    def formula(g: Graph, x: list[int]) -> list[int]:
        nodes = [*x, g.constant(0.5), g.constant(-2.0), g.constant(3.0)]
        for _ in range(size):
            if choice.random() < 0.25:
                nodes.append(g.add(choice.choice(UNARY), choice.choice(nodes)))
            else:
                nodes.append(g.add(choice.choice(BINARY), choice.choice(nodes[-12:]), choice.choice(nodes)))
        return nodes[-4:]

    return graph_for(formula)


@settings(max_examples=100)
@given(random_graphs())
def test_random_graphs_keep_their_values(plain: Graph) -> None:
    simple = simplify(plain)
    assert effort(simple) <= effort(plain.pruned())
    # Sums in another order: round-off of the largest intermediate number, through up to 60 operations.
    assert largest_error(plain, simple) < 1e-12


# -- arms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("inverse_dynamics", kinds) for kinds in ("R", "P", "PRR", "RRPR")]
    + [("mass_matrix", "RRPR"), ("forward_dynamics", "PR"), ("jacobian", "RRRRR"), ("regressor", "RP")],
)
@pytest.mark.by_day(2)
def test_arms_keep_their_values(name: str, kinds: str, random_arm: Callable[..., armdyn.Arm]) -> None:
    plain = folded_graph(getattr(armdyn, name), random_arm(kinds))
    simple = simplify(plain)
    assert effort(simple) <= effort(plain)
    assert largest_error(plain, simple, samples=10) < 1e-13


PUMA = [
    {"kind": "R", "a": a, "alpha": alpha, "d": d, "theta": 0.0}
    for a, alpha, d in (
        (0.0, 0.0, 0.0),
        (0.0, -np.pi / 2, 0.2435),
        (0.4318, 0.0, -0.0934),
        (-0.0203, np.pi / 2, 0.4331),
        (0.0, -np.pi / 2, 0.0),
        (0.0, np.pi / 2, 0.0),
    )
]


def generic_puma(seed: int = 0) -> armdyn.Arm:
    """The PUMA 560's geometry in modified DH, with all sixty parameters general numbers."""
    theta = np.random.default_rng(seed).uniform(0.1, 1.0, 60)
    return armdyn.Arm.from_dh(PUMA, convention="modified").with_theta(theta)


@pytest.mark.slow
def test_puma_inverse_dynamics_on_base_parameters() -> None:
    base = armdyn.base_parameters(generic_puma())
    assert base.count == 36
    counts = count_operations(simplify(folded_graph(armdyn.inverse_dynamics, base.arm)))
    assert counts.multiplications <= 260
    assert counts.additions <= 250
    assert counts.sincos == 5  # no call is added; gravity is along the first axis, whose angle is not needed


@pytest.mark.slow
def test_puma_inverse_dynamics_with_sixty_parameters() -> None:
    counts = count_operations(simplify(folded_graph(armdyn.inverse_dynamics, generic_puma())))
    assert counts.multiplications <= 310
    assert counts.additions <= 310
