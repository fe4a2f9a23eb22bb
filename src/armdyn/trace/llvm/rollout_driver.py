"""LLVM text of `rollout_driver`, all steps of all rollouts in one call."""

from __future__ import annotations

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.schedule import Step
from armdyn.trace.llvm.body import (
    address_stack_shortly,
    body_text,
    lane_distances,
    load_ports,
    port_names,
    scratch,
    stage_blocks,
    uniform_block,
)
from armdyn.trace.llvm.emit import Emitter
from armdyn.trace.llvm.layout import Layout


def rollout_driver(e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]], shared: frozenset[int]) -> str:
    """Write `rollout_driver(pointers, strides across, strides along, rollouts, steps)`: vectors of rollouts in turn."""
    return "\n".join([_rollouts(e, graph, layout, parts), _integrate_batch(Emitter(e.host), graph, layout, shared)])


def _rollouts(e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]]) -> str:
    """All steps of a vector of rollouts; a state's input and output overlap, one step apart."""
    ports = port_names(graph)
    e.label("entry")
    address_stack_shortly(e)
    lane_distances(e, ports, "%remaining")
    scratch(e, layout, parts)
    stage_blocks(e, graph)
    e.line("br label %body")
    e.label("body")
    e.line("%t = phi i64 [ 0, %entry ], [ %next, %latch ]")
    for port in ports:
        e.line(f"%go{port} = mul i64 %t, %a{port}")
        e.line(f"%p{port} = getelementptr i8, ptr %{port}, i64 %go{port}")
    body_text(e, graph, layout, parts, "%remaining")
    e.line("br label %latch")
    e.label("latch")
    e.line("%next = add i64 %t, 1")
    e.line("%more = icmp slt i64 %next, %steps")
    e.line("br i1 %more, label %body, label %done")
    e.label("done")
    words = ", ".join(f"ptr %{port}, i64 %s{port}, i64 %a{port}" for port in ports)
    head = f"define internal void @rollouts({words}, ptr noalias readonly %uniform, i64 %remaining, i64 %steps)"
    return "\n".join([f"{head} {e.host.attributes} {{", *e.lines, "  ret void", "}"])


def _integrate_batch(e: Emitter, graph: Graph, layout: Layout, shared: frozenset[int]) -> str:
    """One vector of rollouts after the other."""
    ports = port_names(graph)
    e.label("entry")
    e.line("%some = icmp sgt i64 %count, 0")
    e.line("%any = icmp sgt i64 %steps, 0")
    e.line("%work = and i1 %some, %any")
    e.line("br i1 %work, label %start, label %done")
    e.label("start")
    load_ports(e, ports, ("", "args", "ptr"), ("s", "across", "i64"), ("a", "along", "i64"))
    uniform_block(e, layout, shared)
    e.line("br label %rollouts")
    e.label("rollouts")
    e.line("%k = phi i64 [ 0, %start ], [ %next, %rollouts ]")
    e.line("%remaining = sub i64 %count, %k")
    for port in ports:
        e.line(f"%shift{port} = mul i64 %k, %s{port}")
        e.line(f"%row{port} = getelementptr i8, ptr %{port}, i64 %shift{port}")
    words = ", ".join(f"ptr %row{port}, i64 %s{port}, i64 %a{port}" for port in ports)
    e.line(f"call void @rollouts({words}, ptr %uniform, i64 %remaining, i64 %steps)")
    e.line(f"%next = add i64 %k, {e.host.width}")
    e.line("%more = icmp slt i64 %next, %count")
    e.line("br i1 %more, label %rollouts, label %done")
    e.label("done")
    head = "define void @rollout_driver(ptr %args, ptr %across, ptr %along, i64 %count, i64 %steps) nounwind {"
    return "\n".join([head, *e.lines, "  ret void", "}", ""])
