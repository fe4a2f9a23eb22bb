"""A formula that a program evaluates several times, such as the stages of an integrator: compiled once, then called.

Code that does not fit into the first-level cache waits for its instructions. `call_stage` marks such a formula; it is
evaluated in place, unless `staged_graph` looks for marks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from armdyn.trace.graphs.graph import Graph, Stage, graph_of, graph_of_function
from armdyn.trace.graphs.schedule import TRIG, ancestors, uniform_nodes
from armdyn.trace.program import Port, Program
from armdyn.trace.symbols import ca


class _Recorder:
    """The formula marked first, over symbols of its own, and its calls: arguments, and symbols for the results."""

    def __init__(self) -> None:
        self.slots: list[Any] = []
        self.body: Any = None
        self.calls: list[tuple[Any, Any]] = []

    def call(self, formula: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        if self.body is None:
            self.slots = [ca.SX.sym(f"slot{k}", *value.shape) for k, value in enumerate(values)]
            self.body = ca.densify(formula(*self.slots))
        result = ca.SX.sym(f"call{len(self.calls)}", *self.body.shape)
        self.calls.append((_column(values), result))
        return result


_recorder: ContextVar[_Recorder | None] = ContextVar("recorder", default=None)


def call_stage(formula: Callable[..., Any], *values: Any) -> Any:
    """`formula(*values)`, symbols in, one symbol out; a program has one such formula, and the same at all calls.

    What else the formula reads must be shared by all samples, or it is evaluated in place.
    """
    recorder = _recorder.get()
    return formula(*values) if recorder is None else recorder.call(formula, values)


def _column(values: Any) -> Any:
    return ca.vertcat(*(ca.densify(ca.vec(ca.SX(value))) for value in values))


def staged_graph(program: Program, shared: frozenset[str]) -> Graph:
    """The graph of a program with its repeated formula as a stage, or without where that cannot be."""
    graph = _graph_with_stage(program)
    if graph is None:
        return graph_of(program)
    bound = frozenset(k for k, port in enumerate(program.inputs) if port.name in shared)
    return graph if _stands_alone(graph, bound) else graph_of(program)


def _graph_with_stage(program: Program) -> Graph | None:
    recorder = _Recorder()
    token = _recorder.set(recorder)
    try:
        flat, columns = program.trace()
    finally:
        _recorder.reset(token)
    if not recorder.calls:
        return None
    slots, body = _column(recorder.slots), ca.vec(recorder.body)
    columns += [body, *(arguments for arguments, _ in recorder.calls)]
    flat += [slots, *(ca.vec(result) for _, result in recorder.calls)]
    calls = range(len(recorder.calls))
    graph = graph_of_function(
        ca.Function(program.name, flat, ca.cse(columns)),
        (*program.inputs, Port("slots", (slots.numel(),)), *(Port(f"call{k}", (body.numel(),)) for k in calls)),
        (*program.outputs, Port("stage", (body.numel(),)), *(Port(f"given{k}", (slots.numel(),)) for k in calls)),
    )
    graph.stage = Stage(len(program.inputs), len(program.outputs), len(calls))
    return graph


def _stands_alone(graph: Graph, shared: frozenset[int]) -> bool:
    """Whether the stage reads nothing but its slots and uniform values, and no sine waits for its results."""
    stage = graph.stage
    assert stage is not None
    uniform = uniform_nodes(graph, shared)
    everything = set(range(len(graph.nodes)))
    inside = ancestors(graph, tuple(graph.results[stage.output]), everything - uniform)
    inputs = {graph.nodes[k].value[0] for k in inside if graph.nodes[k].op == "input"}
    if inputs - {stage.input}:
        return False
    after: set[int] = set()
    for k, node in enumerate(graph.nodes):
        if (node.op == "input" and node.value[0] > stage.input) or any(a in after for a in node.args):
            after.add(k)
    return not any(graph.nodes[k].op in TRIG for k in after)
