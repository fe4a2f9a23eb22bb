"""LLVM text of the loop over samples, and of `loop`, by which NumPy calls it.

Large results stream past the caches.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from armdyn.files import fill_template
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


_text = partial(fill_template, Path(__file__).with_name("inner_loop.ll"))


def inner_loop(e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]], shared: frozenset[int]) -> str:
    """`batch(port pointers and strides..., uniform, count)`, and `loop(args, dims, steps, data)` that calls it."""
    e.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    return "\n".join([_batch(e, graph, layout, parts), _loop(e, graph, layout, shared), stream()])


def _batch(e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]]) -> str:
    """The samples, a vector at a time; the last vector may compute some samples of the one before again."""
    width, ports, entries = e.host.width, port_names(graph), sum(port.size for port in graph.outputs)
    # Blocks must be multiples of 32 bytes.
    large = width >= 4 and entries >= STAGE_FROM
    staged = {f"o{k}": 8 * port.size for k, port in enumerate(graph.outputs) if large and port.size >= 4}
    e.label("entry")
    address_stack_shortly(e)
    lane_distances(e, ports, "%count")
    if staged:
        e.text(_text("big", bytes=8 * entries, large=LARGE_RESULT_BYTES))
    for port, stride in staged.items():
        e.text(_streaming(port, stride, stride * width))
    scratch(e, layout, parts)
    e.text(_text("body", width=width))
    if staged:
        e.text(_text("even", lanes=width - 1))
    for port in ports:
        e.text(_text("staged" if port in staged else "row", port=port))
    body_text(e, graph, layout, parts, "%count", _fetches(e, graph, parts) if staged else None)
    for port, stride in staged.items():
        e.text(_text("copy", port=port, block=stride * width))
    e.text(_text("latch", width=width))
    if staged:  # streamed stores are not ordered by themselves
        e.text(_text("order"))
    head = f"define internal void @batch({port_parameters(ports)}, ptr noalias readonly %uniform, i64 %count)"
    return "\n".join([f"{head} {e.host.attributes} {{", *e.lines, "  ret void", "}"])


def _fetches(e: Emitter, graph: Graph, parts: list[list[Step]]) -> list[str]:
    """Groups of instructions that fetch what the next vector of samples will write, skipped where results stream."""
    blocks = [8 * port.size * e.host.width for port in graph.outputs]
    places = [(f"o{k}", at) for k, block in enumerate(blocks) for at in range(0, block, LINE)]
    if STEPS_PER_LINE * len(places) > len(parts[0]) or len(parts) > 1:
        return []
    e.text(_text("further"))
    for k, block in enumerate(blocks):
        e.line(f"%aheado{k} = getelementptr i8, ptr %po{k}, i64 {block}")
    return [_fetch_group(first, places[first : first + GROUP]) for first in range(0, len(places), GROUP)]


def _fetch_group(first: int, places: list[tuple[str, int]]) -> str:
    """Fetch some lines, the first of which has the number `first`, if anything is to be fetched."""
    lines = [f"br i1 %fetch, label %fetch{first}, label %fetched{first}", f"fetch{first}:"]
    lines += [_text("line", line=k, port=port, at=at) for k, (port, at) in enumerate(places, first)]
    return "\n".join([*lines, f"  br label %fetched{first}", f"fetched{first}:"])


def _loop(e: Emitter, graph: Graph, layout: Layout, shared: frozenset[int]) -> str:
    """NumPy's inner loop over samples."""
    ports, e = port_names(graph), Emitter(e.host)
    e.text(_text("some"))
    load_ports(e, ports, ("", "args", "ptr"), ("s", "steps", "i64"))
    uniform_block(e, layout, shared)
    e.line(f"call void @batch({port_arguments(ports)}, ptr %uniform, i64 %count)")
    if e.host.fp_flags:  # NaN in, NaN out, without a warning from NumPy
        e.line(f"call i32 @feclearexcept(i32 {e.host.fp_flags})")
    e.line("br label %done")
    e.label("done")
    head = "define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {"
    return "\n".join([head, *e.lines, "  ret void", "}", "declare i32 @feclearexcept(i32)"])


def _streaming(port: str, stride: int, block: int) -> str:
    """Stream an output past the caches if it is contiguous, 16-byte aligned and larger than they are.

    Its stage ends where, seen from the start of their pages, the constants begin: a load waits for a store to the same
    place of another page. By chance of the stack's address that doubled the time of small results.
    """
    return _text("streaming", port=port, stride=stride, block=block, room=block + PAGE, mask=PAGE - LINE)


def _copy_loop(name: str, before: str, start: str, stop: str, step: int, piece: int, how: str = "") -> str:
    """Copies the bytes from `start` to `stop`, `step` at a time in pieces; the text follows the block `before`."""
    kind = f"<{piece // 8} x double>"
    pieces = [_text("piece", name=name, at=at, kind=kind, piece=piece, how=how) for at in range(0, step, piece)]
    values = {"before": before, "start": start, "stop": stop, "step": step, "pieces": "\n".join(pieces)}
    return _text("copies", name=name, **values)


@cache
def stream() -> str:
    """Write `stream(to, from, bytes)`: copies a block to a 16-byte aligned place with non-temporal stores.

    A block has a multiple of 16 bytes, at least 64. Lines that it shares with its neighbours are stored as usual: parts
    of lines are slow to write past the caches. The one that the next block ends in is fetched meanwhile.
    """
    copies = [
        _copy_loop("head", "entry", "0", "%first", 16, 16),
        _copy_loop("lines", "after.head", "%first", "%last", LINE, 32, ", !nontemporal !1"),
        _copy_loop("tail", "after.lines", "%last", "%bytes", 16, 16),
    ]
    return _text("stream", part=LINE - 1, line=LINE, copies="\n".join(copies))
