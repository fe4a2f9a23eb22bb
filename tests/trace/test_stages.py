"""Formulas that a program evaluates several times: one function of the kernel, the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import ComputedTorque, Plant, simulate
from armdyn.trace import backend, stages
from armdyn.trace.graphs.graph import Graph, graph_of
from armdyn.trace.llvm.lower import lower
from armdyn.trace.llvm.processor import target
from armdyn.trace.program import Port, Program
from armdyn.trace.rollout import make_rollout
from armdyn.trace.stages import call_stage, staged_graph
from armdyn.trace.symbols import ca

SHARED = frozenset({"a"})


def heun(after: Callable[[Any], Any] = lambda x: x) -> Program:
    """A step of x' = sin(a x) with three evaluations; `after` is applied to the result."""

    def formula(x: Any, a: Any) -> list[Any]:
        def rate(y: Any) -> Any:
            return ca.sin(a * y)

        k1 = call_stage(rate, x)
        k2 = call_stage(rate, x + 0.1 * k1)
        k3 = call_stage(rate, x + 0.05 * (k1 + k2))
        return [after(x + 0.1 * (k1 + 4 * k3 + k2) / 6)]

    return Program("heun", (Port("x", (3,)), Port("a", (3,))), (Port("x", (3,)),), formula)


def plain(program: Program) -> np.ndarray:
    """Twenty steps of two rollouts on CasADi's virtual machine."""
    with backend.using("virtual"):
        return run(program)


def run(program: Program, single: bool = False, shared: frozenset[str] = SHARED) -> np.ndarray:
    """Twenty steps of two rollouts."""
    x = np.empty((2, 21, 3))
    x[:, 0] = [[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5]]
    a = np.array([[[1.0, 2.0, 3.0]]])
    make_rollout(lambda: program, shared, None, single)({"x": x[:, :-1], "a": a}, {"x": x[:, 1:]})
    return x


def is_staged(graph: Graph) -> bool:
    return graph.stage is not None


@pytest.mark.parametrize("single", [False, True])
def test_a_stage_gives_what_its_formula_gives(single: bool) -> None:
    program = heun()
    graph = staged_graph(program, SHARED)
    assert is_staged(graph)
    text = lower(graph, target().host, frozenset({1}), steps=True).text
    assert text.count("call void @stage(") == 3
    assert text.count("define internal void @stage(") == 1
    np.testing.assert_allclose(run(heun(), single), plain(heun()), rtol=0, atol=1e-14)


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("single", [False, True])
def test_a_body_split_into_parts_calls_its_stage(single: bool, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is split: results of a call are read in parts with and without calls of their own."""
    from armdyn.trace.llvm import layout

    monkeypatch.setattr(layout, "SPLIT_ABOVE", 10)
    monkeypatch.setattr(layout, "CHUNK", chunk)
    text = lower(staged_graph(heun(), SHARED), target().host, frozenset({1}), steps=True).text
    assert text.count("define internal void @part") > 2
    np.testing.assert_allclose(run(heun(), single), plain(heun()), rtol=0, atol=1e-14)


def test_numbers_of_constants_alone_belong_to_stage_and_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that read no input, such as a root of two, are computed on both sides."""
    from armdyn.trace.llvm import layout

    def formula(x: Any, a: Any) -> list[Any]:
        root = ca.sqrt(ca.SX.sym("two"))
        root = ca.substitute(root, ca.symvar(root)[0], 2.0)
        k = call_stage(lambda y: ca.sin(a * y) * root, root * x)
        return [x + 0.1 * k * root]

    def program() -> Program:
        return Program("roots", (Port("x", (3,)), Port("a", (3,))), (Port("x", (3,)),), formula)

    monkeypatch.setattr(layout, "SPLIT_ABOVE", 5)
    monkeypatch.setattr(layout, "CHUNK", 2)
    np.testing.assert_allclose(run(program()), plain(program()), rtol=0, atol=1e-14)


def test_every_width(width: int) -> None:
    np.testing.assert_allclose(run(heun()), plain(heun()), rtol=0, atol=1e-14)


def test_formulas_that_read_what_differs_between_rollouts_stay_in_place() -> None:
    assert not is_staged(staged_graph(heun(), frozenset()))
    np.testing.assert_allclose(run(heun(), shared=frozenset()), plain(heun()), rtol=0, atol=1e-14)


def test_sines_of_their_results_keep_them_in_place() -> None:
    assert not is_staged(staged_graph(heun(ca.sin), SHARED))
    np.testing.assert_allclose(run(heun(ca.sin)), plain(heun(ca.sin)), rtol=0, atol=1e-14)


def test_programs_without_such_formulas_are_left_alone() -> None:
    program = Program("twice", (Port("x", (1,)),), (Port("x", (1,)),), lambda x: [2 * x])
    assert staged_graph(program, frozenset()).nodes == graph_of(program).nodes


@pytest.mark.parametrize("name", ["planar2", "puma560"])
@pytest.mark.by_day(1)
def test_simulations_do_not_change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dry friction and rotors included; runs with their own parameters each cannot share a stage."""
    arm = getattr(armdyn.arms, name)()
    law = ComputedTorque.from_bandwidth(arm, 3.0)
    start = np.full(arm.n, 0.1)
    thetas = np.stack([arm.theta, 1.1 * arm.theta, arm.theta])
    settings: dict[str, Any] = {"duration": 0.05, "q0": start + 0.01, "check": False}
    runs = [simulate(plant, law, start, **settings).q for plant in (Plant(arm), Plant(arm, theta=thetas))]
    with backend.using("virtual"):
        slow = simulate(Plant(arm), law, start, **settings).q
    np.testing.assert_allclose(runs[0], slow, rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs[1][[0, 2]], [slow, slow], rtol=0, atol=1e-12)


def test_a_mark_without_a_search_is_the_formula() -> None:
    assert call_stage(lambda x, y: x + y, 1, 2) == 3
    assert stages._recorder.get() is None
