"""LLVM text of `rollout_driver`, all steps of all rollouts in one call."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from armdyn.files import fill_template
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

_text = partial(fill_template, Path(__file__).with_name("rollout_driver.ll"))


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
    e.text(_text("body"))
    for port in ports:
        e.text(_text("place", port=port))
    body_text(e, graph, layout, parts, "%remaining")
    e.text(_text("latch"))
    words = ", ".join(f"ptr %{port}, i64 %s{port}, i64 %a{port}" for port in ports)
    head = f"define internal void @rollouts({words}, ptr noalias readonly %uniform, i64 %remaining, i64 %steps)"
    return "\n".join([f"{head} {e.host.attributes} {{", *e.lines, "  ret void", "}"])


def _integrate_batch(e: Emitter, graph: Graph, layout: Layout, shared: frozenset[int]) -> str:
    """One vector of rollouts after the other."""
    ports = port_names(graph)
    e.text(_text("some"))
    load_ports(e, ports, ("", "args", "ptr"), ("s", "across", "i64"), ("a", "along", "i64"))
    uniform_block(e, layout, shared)
    e.text(_text("rollouts"))
    for port in ports:
        e.text(_text("row", port=port))
    words = ", ".join(f"ptr %row{port}, i64 %s{port}, i64 %a{port}" for port in ports)
    e.text(_text("next", words=words, width=e.host.width))
    head = "define void @rollout_driver(ptr %args, ptr %across, ptr %along, i64 %count, i64 %steps) nounwind {"
    return "\n".join([head, *e.lines, "  ret void", "}", ""])
