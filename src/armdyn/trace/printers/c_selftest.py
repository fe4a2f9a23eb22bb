"""A C program that checks exported functions against values computed by the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.trace import virtual
from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.interpret import evaluate_graph
from armdyn.trace.printers.c_print import Names, comment, fill_template, number
from armdyn.trace.program import Program

SAMPLES = 8
SEED = 1
# Errors allowed at least, as fractions of an output's largest entry over all samples.
LEAST_ALLOWED_ERROR = {"double": 1e-12, "float": 1e-5}


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
    results = virtual.evaluate(program, arrays, [None] * len(program.outputs))
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


def selftest(header: str, dtype: str, checks: Sequence[Check], build: str) -> str:
    """The text of the program: it prints one line a result and returns the number of failures, at most 1."""
    # Whether an output is within its tolerance of what is wanted; infinities and NaNs must be the same.
    compare = fill_template(Path(__file__).parent / "selftest_compare.c", dtype=dtype)
    lines = comment(["Checks the functions of " + header + " against values computed by armdyn.", "", build])
    lines += ["#include <math.h>", "#include <stdio.h>", "", f'#include "{header}"', "", compare]
    for check in checks:
        lines += [*_data(check, dtype), *_run(check, dtype), ""]
    lines += ["int main(void)", "{", "    int failures = 0;"]
    lines += [f"    failures += test_{check.name}();" for check in checks]
    lines += ['    printf("%d failure(s)\\n", failures);', "    return failures != 0;", "}"]
    return "\n".join(lines) + "\n"


def _data(check: Check, dtype: str) -> Iterator[str]:
    for port, values in enumerate(check.vectors.inputs):
        if values.size:
            yield from c_array(f"{check.name}_in{port}", dtype, values)
    for port, values in enumerate(check.vectors.outputs):
        if values.size:
            yield from c_array(f"{check.name}_out{port}", "double", values)


def c_array(name: str, dtype: str, values: NDArray) -> Iterator[str]:
    """The lines of a constant array in C: one row per sample (samples, ...)."""
    rows = values.reshape(len(values), -1)
    yield f"static const {dtype} {name}[{rows.shape[0]}][{rows.shape[1]}] = {{"
    for row in rows:
        yield f"    {{{', '.join(number(float(x), dtype) for x in row)}}},"
    yield "};"


def _run(check: Check, dtype: str) -> Iterator[str]:
    name, graph = check.name, check.graph
    yield f"static int test_{name}(void)"
    yield "{"
    yield "    int k, failures = 0;"
    yield f"    for (k = 0; k < {SAMPLES}; ++k) {{"
    arguments = [f"{name}_in{k}[k]" + ("" if p.shape else "[0]") for k, p in enumerate(graph.inputs) if p.size]
    for k, port in enumerate(graph.outputs):
        if port.size:
            yield f"        {dtype} y{k}[{port.size}];"
            arguments.append(f"y{k}")
    yield f"        {name}({', '.join(arguments)});"
    for k, port in enumerate(graph.outputs):
        if port.size:
            allowed = number(check.tolerances[k] * scale(check.vectors.outputs[k]), "double")
            what = f'"{name}: {check.names.outputs[k]}"'
            yield f"        failures += compare({what}, y{k}, {name}_out{k}[k], {port.size}, {allowed});"
    yield "    }"
    yield f'    printf("{name}: %s\\n", failures ? "FAILED" : "ok");'
    yield "    return failures;"
    yield "}"
