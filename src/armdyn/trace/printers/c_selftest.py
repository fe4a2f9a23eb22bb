"""A C program that checks exported functions against values computed by the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.files import fill_template
from armdyn.trace import virtual
from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.interpret import evaluate_graph
from armdyn.trace.printers.c_print import Names, number
from armdyn.trace.program import Program

SAMPLES = 8
SEED = 1
# Errors allowed at least, as fractions of an output's largest entry over all samples.
MIN_ALLOWED_ERROR = {"double": 1e-12, "float": 1e-5}


@dataclass(frozen=True, eq=False)
class Vectors:
    """Random inputs and what the reference makes of them, one array (samples, entries) a port."""

    inputs: list[NDArray]
    outputs: list[NDArray]

    def errors(self, graph: Graph, dtype: str) -> list[float]:
        """Largest error of each output of a graph evaluated in the given precision; inf where NaNs differ."""
        kind = np.float32 if dtype == "float" else np.float64
        results = evaluate_graph(graph, self.inputs, kind)
        return [_error(got, want) for got, want in zip(results, self.outputs, strict=True)]


def _error(got: NDArray, want: NDArray) -> float:
    ordinary = np.isfinite(want)
    with np.errstate(invalid="ignore"):
        same = np.where(np.isnan(want), np.isnan(got), got == want)
    if not (ordinary | same).all():
        return np.inf
    worst = np.abs(got - want)[ordinary].max(initial=0.0)
    return float(worst / scale(want)) if worst else 0.0


def scale(values: NDArray) -> float:
    """The largest finite magnitude, or 1 if all is zero."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0


def vectors(program: Program, dtype: str) -> Vectors:
    """Seeded random inputs, exact in the given precision, and outputs by the CasADi virtual machine."""
    random = np.random.default_rng(SEED)
    kind = np.float32 if dtype == "float" else np.float64
    inputs = [random.uniform(-2.0, 2.0, (SAMPLES, port.size)).astype(kind).astype(float) for port in program.inputs]
    arrays = [x.reshape(SAMPLES, *port.shape) for x, port in zip(inputs, program.inputs, strict=True)]
    results = virtual.evaluate(program, arrays)
    rows = SAMPLES if inputs else 1
    outputs = [y.reshape(rows, port.size) for y, port in zip(results, program.outputs, strict=True)]
    return Vectors(inputs, [np.broadcast_to(y, (SAMPLES, y.shape[1])) for y in outputs])


@dataclass(frozen=True, eq=False)
class Check:
    """One exported function with its vectors and the errors allowed."""

    name: str
    graph: Graph
    names: Names
    vectors: Vectors
    tolerances: Sequence[float]


def selftest(prefix: str, dtype: str, checks: Sequence[Check]) -> str:
    """The text of the program: it prints one line a result and returns the number of failures, at most 1."""
    tests = "\n".join(_test(check, dtype) for check in checks)
    calls = "\n".join(f"    failures += test_{check.name}();" for check in checks)
    return fill_template(Path(__file__).with_name("selftest.c"), prefix=prefix, dtype=dtype, tests=tests, calls=calls)


def c_array(name: str, dtype: str, values: NDArray) -> Iterator[str]:
    """The lines of a constant array in C: one row per sample (samples, ...)."""
    rows = values.reshape(len(values), -1)
    yield f"static const {dtype} {name}[{rows.shape[0]}][{rows.shape[1]}] = {{"
    for row in rows:
        yield f"    {{{', '.join(number(float(x), dtype) for x in row)}}},"
    yield "};"


def _test(check: Check, dtype: str) -> str:
    """The function in C that tests one function, and its data."""
    name, graph, vectors = check.name, check.graph, check.vectors
    inputs, outputs = ([k for k, port in enumerate(ports) if port.size] for ports in (graph.inputs, graph.outputs))
    data = [line for k in inputs for line in c_array(f"{name}_in{k}", dtype, vectors.inputs[k])]
    data += [line for k in outputs for line in c_array(f"{name}_out{k}", "double", vectors.outputs[k])]
    arguments = [f"{name}_in{k}[k]" + ("" if graph.inputs[k].shape else "[0]") for k in inputs]
    comparisons = []
    for k in outputs:
        allowed = number(check.tolerances[k] * scale(vectors.outputs[k]), "double")
        compared = f'"{name}: {check.names.outputs[k]}", y{k}, {name}_out{k}[k], {graph.outputs[k].size}, {allowed}'
        comparisons.append(f"        failures += compare({compared});")
    return fill_template(
        Path(__file__).with_name("selftest_function.c"), name=name, samples=SAMPLES, data="\n".join(data),
        results="\n".join(f"        {dtype} y{k}[{graph.outputs[k].size}];" for k in outputs),
        arguments=", ".join([*arguments, *(f"y{k}" for k in outputs)]), comparisons="\n".join(comparisons),
    )  # fmt: skip
