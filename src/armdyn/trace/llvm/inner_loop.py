"""LLVM text of the loop over samples, and of `loop`, by which NumPy calls it.

Large results stream past the caches.
"""

from __future__ import annotations

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.schedule import Step
from armdyn.trace.llvm.body import (
    address_stack_shortly,
    body_text,
    lane_distances,
    load_ports,
    port_arguments,
    port_names,
    port_parameters,
    scratch,
    uniform_block,
)
from armdyn.trace.llvm.emit import Emitter
from armdyn.trace.llvm.layout import Layout
from armdyn.trace.pool import LARGE_RESULT_BYTES

# Results of at least this many entries per sample go through a stage in the first-level cache, and from there, once
# they do not stay in the last-level cache, past the caches: ordinary stores would first read every line they overwrite.
# For smaller results the copying costs more than that.
STAGE_FROM = 16
# The lines that the next vector of samples will write are fetched during this one in groups, a line every so many
# steps or rarer. Rows may be stored from their end, which the processor does not foresee. Results with less work per
# line are stored in the order of memory, and the fetching would cost more than it saves.
STEPS_PER_LINE = 8
GROUP = 16
LINE = 64
PAGE = 4096


def inner_loop(e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]], shared: frozenset[int]) -> str:
    """`batch(port pointers and strides..., uniform, count)`, and `loop(args, dims, steps, data)` that calls it."""
    e.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    return "\n".join([_batch(e, graph, layout, parts), _loop(e, graph, layout, shared), STREAM])


def _batch(e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]]) -> str:
    """The samples, a vector at a time; the last vector may compute some samples of the one before again."""
    width, ports = e.host.width, port_names(graph)
    # Blocks must be multiples of 32 bytes.
    large = width >= 4 and sum(port.size for port in graph.outputs) >= STAGE_FROM
    staged = {f"o{k}": port.size for k, port in enumerate(graph.outputs) if large and port.size >= 4}
    e.label("entry")
    address_stack_shortly(e)
    lane_distances(e, ports, "%count")
    if staged:
        e.line(f"%bytes = mul i64 %count, {8 * sum(port.size for port in graph.outputs)}")
        e.line(f"%big = icmp sge i64 %bytes, {LARGE_RESULT_BYTES}")
    for port, size in staged.items():
        _decide_streaming(e, port, size)
    scratch(e, layout, parts)
    e.line(f"%most = sub i64 %count, {width}")
    e.line("%short = icmp slt i64 %most, 0")
    e.line("%last = select i1 %short, i64 0, i64 %most")
    e.line("br label %body")
    e.label("body")
    e.line("%k = phi i64 [ 0, %entry ], [ %next, %latch ]")
    if staged:
        e.line(f"%beyond = and i64 %k, {width - 1}")
        e.line("%even = icmp eq i64 %beyond, 0")
    for port in ports:
        e.line(f"%off{port} = mul i64 %k, %s{port}")
        e.line(f"%{'row' if port in staged else 'p'}{port} = getelementptr i8, ptr %{port}, i64 %off{port}")
        if port in staged:
            e.line(f"%use{port} = and i1 %even, %stream{port}")
            e.line(f"%p{port} = select i1 %use{port}, ptr %stage{port}, ptr %row{port}")
    body_text(e, graph, layout, parts, "%count", _fetches(e, graph, parts) if staged else None)
    for port, size in staged.items():
        e.line(f"br i1 %use{port}, label %copy{port}, label %after{port}")
        e.label(f"copy{port}")
        e.line(f"call void @stream(ptr %row{port}, ptr %stage{port}, i64 {8 * size * width})")
        e.line(f"br label %after{port}")
        e.label(f"after{port}")
    e.line("br label %latch")
    e.label("latch")
    e.line(f"%ahead = add i64 %k, {width}")
    e.line("%within = icmp slt i64 %ahead, %last")
    e.line("%next = select i1 %within, i64 %ahead, i64 %last")
    e.line("%more = icmp slt i64 %k, %last")
    e.line("br i1 %more, label %body, label %finish")
    e.label("finish")
    if staged:  # streamed stores are not ordered by themselves
        e.line("br i1 %big, label %order, label %done")
        e.label("order")
        e.line("fence seq_cst")
        e.line("br label %done")
        e.label("done")
    head = f"define internal void @batch({port_parameters(ports)}, ptr noalias readonly %uniform, i64 %count)"
    return "\n".join([f"{head} {e.host.attributes} {{", *e.lines, "  ret void", "}"])


def _fetches(e: Emitter, graph: Graph, parts: list[list[Step]]) -> list[str]:
    """Groups of instructions that fetch what the next vector of samples will write, skipped where results stream."""
    blocks = [8 * port.size * e.host.width for port in graph.outputs]
    places = [(f"o{k}", at) for k, block in enumerate(blocks) for at in range(0, block, LINE)]
    if STEPS_PER_LINE * len(places) > len(parts[0]) or len(parts) > 1:
        return []
    e.line("%further = icmp slt i64 %k, %last")
    e.line("%fetch = select i1 %big, i1 false, i1 %further")
    for k, block in enumerate(blocks):
        e.line(f"%aheado{k} = getelementptr i8, ptr %po{k}, i64 {block}")
    return [_fetch_group(first, places[first : first + GROUP]) for first in range(0, len(places), GROUP)]


def _fetch_group(first: int, places: list[tuple[str, int]]) -> str:
    """Fetch some lines, the first of which has the number `first`, if anything is to be fetched."""
    lines = [f"br i1 %fetch, label %fetch{first}, label %fetched{first}", f"fetch{first}:"]
    for k, (port, at) in enumerate(places, first):
        lines += [f"  %line{k} = getelementptr i8, ptr %ahead{port}, i64 {at}"]
        lines += [f"  call void @llvm.prefetch.p0(ptr %line{k}, i32 1, i32 3, i32 1)"]
    return "\n".join([*lines, f"  br label %fetched{first}", f"fetched{first}:"])


def _loop(e: Emitter, graph: Graph, layout: Layout, shared: frozenset[int]) -> str:
    """NumPy's inner loop over samples."""
    ports, e = port_names(graph), Emitter(e.host)
    e.label("entry")
    e.line("%count = load i64, ptr %dims")
    e.line("%some = icmp sgt i64 %count, 0")
    e.line("br i1 %some, label %start, label %done")
    e.label("start")
    load_ports(e, ports, ("", "args", "ptr"), ("s", "steps", "i64"))
    uniform_block(e, layout, shared)
    e.line(f"call void @batch({port_arguments(ports)}, ptr %uniform, i64 %count)")
    if e.host.fp_flags:  # NaN in, NaN out, without a warning from NumPy
        e.line(f"call i32 @feclearexcept(i32 {e.host.fp_flags})")
    e.line("br label %done")
    e.label("done")
    head = "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {"
    return "\n".join([head, *e.lines, "  ret void", "}", "declare i32 @feclearexcept(i32)"])


def _decide_streaming(e: Emitter, port: str, size: int) -> None:
    """Stream an output past the caches if it is contiguous, 16-byte aligned and larger than they are.

    Its stage ends where, seen from the start of their pages, the constants begin: a load waits for a store to the same
    place of another page. By chance of the stack's address that doubled the time of small results.
    """
    block = 8 * size * e.host.width
    e.line(f"%within{port} = alloca [{block + PAGE} x i8], align 64")
    e.line(f"%start{port} = ptrtoint ptr %within{port} to i64")
    e.line(f"%end{port} = add i64 %start{port}, {block}")
    e.line(f"%apart{port} = sub i64 ptrtoint (ptr @constants to i64), %end{port}")
    e.line(f"%shift{port} = and i64 %apart{port}, {PAGE - LINE}")
    e.line(f"%stage{port} = getelementptr i8, ptr %within{port}, i64 %shift{port}")
    e.line(f"%dense{port} = icmp eq i64 %s{port}, {8 * size}")
    e.line(f"%int{port} = ptrtoint ptr %{port} to i64")
    e.line(f"%low{port} = and i64 %int{port}, 15")
    e.line(f"%whole{port} = icmp eq i64 %low{port}, 0")
    e.line(f"%both{port} = and i1 %big, %dense{port}")
    e.line(f"%stream{port} = and i1 %both{port}, %whole{port}")


def _copy_loop(name: str, before: str, start: str, stop: str, step: int, piece: int, how: str = "") -> str:
    """Copies the bytes from `start` to `stop`, `step` at a time in pieces; the text follows the block `before`."""
    kind = f"<{piece // 8} x double>"
    pieces = [
        f"""  %f.{name}{at} = getelementptr i8, ptr %from.{name}, i64 {at}
  %t.{name}{at} = getelementptr i8, ptr %to.{name}, i64 {at}
  %v.{name}{at} = load {kind}, ptr %f.{name}{at}, align 8
  store {kind} %v.{name}{at}, ptr %t.{name}{at}, align {piece}{how}"""
        for at in range(0, step, piece)
    ]
    return "\n".join(
        [
            f"""  br label %{name}
{name}:
  %k.{name} = phi i64 [ {start}, %{before} ], [ %next.{name}, %some.{name} ]
  %more.{name} = icmp slt i64 %k.{name}, {stop}
  br i1 %more.{name}, label %some.{name}, label %after.{name}
some.{name}:
  %from.{name} = getelementptr i8, ptr %from, i64 %k.{name}
  %to.{name} = getelementptr i8, ptr %to, i64 %k.{name}""",
            *pieces,
            f"""  %next.{name} = add i64 %k.{name}, {step}
  br label %{name}
after.{name}:""",
        ]
    )


# Copies a block (a multiple of 16 bytes, at least 64) to a 16-byte aligned place with non-temporal stores. Lines that
# it shares with its neighbours are stored as usual: parts of lines are slow to write past the caches. The one that the
# next block ends in is fetched meanwhile.
STREAM = f"""define internal void @stream(ptr %to, ptr %from, i64 %bytes) noinline nounwind {{
entry:
  %int = ptrtoint ptr %to to i64
  %below = sub i64 0, %int
  %first = and i64 %below, {LINE - 1}
  %rest = sub i64 %bytes, %first
  %whole = and i64 %rest, -{LINE}
  %last = add i64 %first, %whole
  %twice = mul i64 %bytes, 2
  %far = getelementptr i8, ptr %to, i64 %twice
  call void @llvm.prefetch.p0(ptr %far, i32 1, i32 3, i32 1)
{_copy_loop("head", "entry", "0", "%first", 16, 16)}
{_copy_loop("lines", "after.head", "%first", "%last", LINE, 32, ", !nontemporal !1")}
{_copy_loop("tail", "after.lines", "%last", "%bytes", 16, 16)}
  ret void
}}
!1 = !{{i32 1}}"""
