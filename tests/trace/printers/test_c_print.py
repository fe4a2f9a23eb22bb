"""Expressions of C: brackets where operators need them, judged by Python, whose arithmetic binds as C's does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.printers.c_print import FunctionPrinter, Names
from armdyn.trace.program import Port

OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("outer", "inner"), list(product(OPERATORS, [*OPERATORS, "neg", "const"])))
def test_brackets_keep_the_order_of_operations(outer: str, inner: str, side: int) -> None:
    """`outer` of the input a and of `inner`, on either side, and its negative: three levels of binding."""
    graph = Graph("nested", (Port("x", (3,)),), (Port("y", ()),))
    a, b, c = (graph.add("input", value=(0, k)) for k in range(3))
    one = graph.constant(-2.5) if inner == "const" else graph.add(inner, *((b,) if inner == "neg" else (b, c)))
    graph.results = [[graph.add("neg", graph.add(outer, *((one, a) if side else (a, one))))]]
    lines = FunctionPrinter(graph, Names(("x",), ("y",)), "double", "sign").body()
    values = {"x": [0.7, -1.3, 2.9], "y": [0.0]}
    exec("\n".join(line.removeprefix("const double ").rstrip(";") for line in lines), values)
    x, y, z = values["x"]
    middle = {"neg": -y, "const": -2.5}[inner] if inner not in OPERATORS else OPERATORS[inner](y, z)
    assert values["y"][0] == pytest.approx(-OPERATORS[outer](*((middle, x) if side else (x, middle))), rel=1e-14)
