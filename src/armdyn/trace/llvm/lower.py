"""From a graph to LLVM text: loops over samples or over steps, with the body of the kernel inside.

* what depends on shared inputs only (theta, gravity) is computed once per call by `prepare`;
* large graphs are split into functions, values that cross a border go through a scratch block.
"""

from __future__ import annotations

from dataclasses import dataclass

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.schedule import TRIG, GraphSchedule, make_schedule
from armdyn.trace.llvm.body import part_functions, stage_function
from armdyn.trace.llvm.emit import Emitter
from armdyn.trace.llvm.functions import is_large_angle, operation, sine_cosine
from armdyn.trace.llvm.inner_loop import inner_loop
from armdyn.trace.llvm.layout import Layout, make_layout
from armdyn.trace.llvm.processor import Host
from armdyn.trace.llvm.rollout_driver import rollout_driver


@dataclass(frozen=True)
class Lowered:
    """LLVM text and the size of the uniform block in doubles."""

    text: str
    uniform_size: int


def lower(graph: Graph, host: Host, shared: frozenset[int], steps: bool = False) -> Lowered:
    """The module of a graph whose ports `shared` have no batch axes: over samples, or over `steps` of rollouts."""
    group = 4 if host.width in (4, 8) else 1
    schedule = make_schedule(graph, shared, group)
    layout, parts = make_layout(graph, schedule)
    declared: set[str] = set()
    table: dict[str, int] = {}
    texts = [
        _prepare(graph, host, schedule, layout, shared, declared),
        *part_functions(graph, host, layout, parts, declared, table),
        stage_function(Emitter(host, declared=declared, table=table), graph, layout, schedule.stage),
        (rollout_driver if steps else inner_loop)(
            Emitter(host, declared=declared, table=table), graph, layout, parts, shared
        ),
        _constants(host, table),
        _slow_trig(host, declared),
    ]
    return Lowered("\n".join([*texts, *sorted(declared)]) + "\n", len(layout.uniform) * host.width)


# -- what is the same for all samples ------------------------------------------------------------------------


def _prepare(
    graph: Graph, host: Host, schedule: GraphSchedule, layout: Layout, shared: frozenset[int], declared: set[str]
) -> str:
    """`prepare(ptr shared inputs..., ptr uniform)`: uniform values, computed once and broadcast."""
    e = Emitter(Host(1, host.fma), declared=declared)
    wide = e.with_width(host.width)
    values: dict[int, str] = {}

    def value(k: int) -> str:
        """A uniform value, or one of constants alone, which has no place of its own."""
        node = graph.nodes[k]
        if k in values:
            return values[k]
        if node.op == "const":
            return e.constant(node.value)
        if node.op == "input":
            port, index = node.value
            at = e.let(f"getelementptr double, ptr %i{port}, i64 {index}")
            return e.let(f"load double, ptr {at}, align 8")
        args = [value(a) for a in node.args]
        return e.per_lane(node.op, *args) if node.op in TRIG else operation(e, node.op, args)

    for k in schedule.uniform:
        values[k] = value(k)
        if k in layout.uniform:
            vector = wide.broadcast(values[k])
            at = wide.let(f"getelementptr {wide.T}, ptr %uniform, i64 {layout.uniform[k]}")
            wide.line(f"store {wide.T} {vector}, ptr {at}, align 8")
    arguments = ", ".join([*(f"ptr %i{p}" for p in sorted(shared)), "ptr %uniform"])
    return "\n".join([f"define void @prepare({arguments}) nounwind {{", *e.lines, "  ret void", "}"])


# -- what all parts share -------------------------------------------------------------------------------------


def _constants(host: Host, table: dict[str, int]) -> str:
    """The table of constants; not marked constant, or LLVM would see through it and broadcast again."""
    kind = f"<{host.width} x double>"
    rows = ", ".join(f"{kind} <{', '.join([f'double {bits}'] * host.width)}>" for bits in table)
    return f"@constants = internal global [{len(table)} x {kind}] [{rows}], align 64"


def _slow_trig(host: Host, declared: set[str]) -> str:
    """Sine and cosine by the C library in lanes of very large angles, and the hint that they are rare.

    The other lanes get the same bits as on the fast way: no sample changes what its neighbours get.
    """
    e = Emitter(host, declared=declared)
    large, near = is_large_angle(e, "%x"), sine_cosine(e, "%x")
    s, c = (e.select(large, e.per_lane(f, "%x"), fast) for f, fast in zip(("sin", "cos"), near, strict=True))
    pair = f"{{ {e.T}, {e.T} }}"
    half = e.let(f"insertvalue {pair} poison, {e.T} {s}, 0")
    both = e.let(f"insertvalue {pair} {half}, {e.T} {c}, 1")
    head = f"define internal {pair} @slow_trig({e.T} %x) noinline cold nounwind {{"
    return "\n".join(
        [head, *e.lines, f"  ret {pair} {both}", "}", '!0 = !{!"branch_weights", i32 1, i32 100000}', "!2 = !{}"]
    )
