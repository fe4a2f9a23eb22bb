"""The loop over samples: what it fetches ahead changes no bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.trace.graphs.graph import graph_of
from armdyn.trace.llvm import inner_loop
from armdyn.trace.llvm.compile import compile_graph
from armdyn.trace.llvm.lower import lower
from armdyn.trace.llvm.native import LoadedKernel
from armdyn.trace.llvm.processor import target


def made(arm: Any, name: str) -> tuple[str, Callable[..., Any]]:
    """The text of a kernel, and a call of it."""
    traced = getattr(armdyn, name).traced
    graph = graph_of(traced.make_program(arm, traced.plain_variant))
    shared = frozenset(k for k, port in enumerate(graph.inputs) if port.name in traced.bound)
    data = [arm.trace_data(graph.inputs[k].name) for k in sorted(shared)]
    loaded = LoadedKernel(compile_graph(graph, shared))
    call = loaded.bind(data, lambda *_, **__: pytest.fail("not taken"), traced.result)
    return lower(graph, target().host, shared).text, call


@pytest.mark.parametrize("name", ["coriolis_matrix", "linearize"])
def test_fetching_ahead_changes_no_bit(
    name: str, random_arm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = random_arm("RRRR")
    fetching, ahead = made(arm, name)
    monkeypatch.setattr(inner_loop, "STEPS_PER_LINE", 10**9)
    plain, without = made(arm, name)
    of_copies = inner_loop.stream().count("call void @llvm.prefetch")
    assert plain.count("call void @llvm.prefetch") == of_copies
    width = target().host.width
    if width >= 4:  # narrower kernels have no results that wait for memory
        sizes = [arm.n**2] * 3 + [4 * arm.n**2, 2 * arm.n**2] if name == "linearize" else [arm.n**2]
        blocks = sum(-(-8 * size * width // inner_loop.LINE) for size in sizes)
        assert fetching.count("call void @llvm.prefetch") == of_copies + blocks  # all of every block
    for count in (1, 9, 40, 1000):
        arrays = np.random.default_rng(1).uniform(-2, 2, (3, count, arm.n))[: 3 if name == "linearize" else 2]
        got, want = ahead(*arrays), without(*arrays)
        for g, w in zip(got, want, strict=True):  # outputs, or samples of the only one
            np.testing.assert_array_equal(g, w)
