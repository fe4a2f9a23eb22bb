"""Machine code of a graph."""

from __future__ import annotations

from typing import Any, Literal

from armdyn.trace import function
from armdyn.trace.graphs.divisions import with_fewer_divisions
from armdyn.trace.graphs.graph import Graph
from armdyn.trace.llvm import processor
from armdyn.trace.llvm.entry import entry
from armdyn.trace.llvm.lower import lower
from armdyn.trace.llvm.native import Module
from armdyn.trace.llvm.processor import llvm_binding, target, target_machine
from armdyn.trace.llvm.xla_handler import xla_handler
from armdyn.trace.program import Port

# What is compiled around a graph: calls from NumPy and Python, the same with what finds them, calls from XLA, many
# steps for lanes of rollouts, or for one.
Form = Literal["kernel", "trial", "xla", "rollout", "single rollout"]

# What an operation and an entry of a result cost per sample, on one core of 2023 [ns]; within a factor of two for
# kernels from 10 to 1,000 ns.
OPERATION_NS, ENTRY_NS = 0.03, 0.1


def cost(graph: Graph) -> float:
    """About how long one sample of a batch takes [ns]."""
    return OPERATION_NS * len(graph.nodes) + ENTRY_NS * sum(port.size for port in graph.outputs)


def compile_graph(graph: Graph, shared: frozenset[int], form: Form = "kernel") -> Module:
    """Machine code of a graph whose ports `shared` carry no batch axes, in the form that is asked for."""
    llvm, machine = llvm_binding(), target_machine()
    host = target().host
    if form == "single rollout":
        host = host._replace(width=1, pack=host.width)
    graph = with_fewer_divisions(graph)
    lowered = lower(graph, host, shared, steps="rollout" in form)
    text = lowered.text
    if form == "xla":
        text += xla_handler(graph, shared)
    elif "rollout" not in form:
        text += entry(graph, shared, lowered.uniform_size)
    if form == "trial":
        text += "\n" + function.dispatch_text()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if form == "single rollout" and processor.is_optimised():
        _pair_scalars(llvm, machine, module)
    code = machine.emit_object(module)
    ports = graph.own_inputs, graph.own_outputs
    return Module(code, *ports, tuple(sorted(shared)), lowered.uniform_size, cost(graph))


def _pair_scalars(llvm: Any, machine: Any, module: Any) -> None:
    """Let LLVM put equal operations on scalars into one on vectors: code without lanes has the registers for it."""
    options = llvm.create_pipeline_tuning_options()
    options.speed_level, options.slp_vectorization = 1, True
    options.loop_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def compile_trial() -> Module:
    """A tiny kernel, a difference and a product, with the code that finds fast paths: it tests this machine."""
    graph = Graph("self_test", (Port("x", (2,)),), (Port("y", (2,)),))
    x = [graph.add("input", value=(0, k)) for k in range(2)]
    graph.results = [[graph.add("sub", x[1], x[0]), graph.add("mul", x[0], x[1])]]
    return compile_graph(graph, frozenset(), "trial")
