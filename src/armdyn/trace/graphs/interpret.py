"""Evaluate a graph with NumPy, node by node: slow, and independent of every compiler."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.trace.graphs.graph import Graph

_NUMPY: dict[str, Callable[..., Any]] = {
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "not": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "if_else_zero": lambda condition, x: np.where(condition != 0, x, 0.0),
    "erf": np.vectorize(math.erf, otypes=[float]),
    "remainder": np.vectorize(math.remainder, otypes=[float]),
}


def evaluate_graph(graph: Graph, arrays: Sequence[NDArray], dtype: Any = np.float64) -> list[NDArray]:
    """One array (samples, entries) an output from one array (samples, entries) an input."""
    arrays = [np.asarray(a, dtype) for a in arrays]
    samples = max((len(a) for a in arrays), default=1)
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            if node.op == "const":
                values.append(dtype(node.value))
            elif node.op == "input":
                port, index = node.value
                values.append(arrays[port][:, index])
            else:
                function = _NUMPY.get(node.op) or getattr(np, node.op)
                values.append(np.asarray(function(*(values[a] for a in node.args)), dtype))
    results = [np.empty((samples, len(column))) for column in graph.results]
    for result, column in zip(results, graph.results, strict=True):
        for k, index in enumerate(column):
            result[:, k] = values[index]
    return results
