"""The native atan2 against 80-bit references and the C library's special values."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.llvm.compile import compile_graph
from armdyn.trace.llvm.native import LoadedKernel
from armdyn.trace.program import Port

SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e308, -1.7e308, 5e-324, 1e-310, -2.2e-308])


@pytest.fixture
def atan2(width):
    graph = Graph("atan2", (Port("y", (1,)), Port("x", (1,))), (Port("angle", (1,)),))
    graph.results = [[graph.add("atan2", graph.add("input", value=(0, 0)), graph.add("input", value=(1, 0)))]]
    loaded = LoadedKernel(compile_graph(graph, frozenset()))

    def call(y, x):
        # NaN among the inputs raises the processor's flag for invalid operations.
        with np.errstate(all="ignore"):
            return loaded.gufunc(np.asarray(y, float)[:, None], np.asarray(x, float)[:, None])[:, 0]

    return call


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs an 80-bit long double as reference")
def test_accuracy_in_all_directions_and_at_all_ratios(atan2):
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=(2, 40_000)) * 10.0 ** rng.uniform(-6, 6, (2, 40_000))
    angle = np.linspace(-np.pi, np.pi, 20_001)
    y, x = np.concatenate([y, np.sin(angle)]), np.concatenate([x, np.cos(angle)])
    reference = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    ulp = np.abs(atan2(y, x) - reference) / np.spacing(np.abs(reference.astype(float)))
    assert ulp.max() <= 3  # 2.1 seen, just above 22.5 degrees


def test_special_values_are_those_of_the_c_library(atan2):
    y, x = (v.ravel() for v in np.meshgrid(SPECIAL, SPECIAL))
    got, want = atan2(y, x), np.arctan2(y, x)
    np.testing.assert_allclose(got, want, rtol=4e-16)
    known = ~np.isnan(want)
    assert np.array_equal(np.signbit(got[known]), np.signbit(want[known]))
