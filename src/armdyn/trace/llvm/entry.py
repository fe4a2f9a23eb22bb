"""LLVM text of a direct CPython entry: contiguous arrays in, fresh arrays (or `out=`) back.

`pycall(self, argv, nargs, kwnames)` is a METH_FASTCALL | METH_KEYWORDS method. It looks at every argument: only
aligned, C-contiguous float64 arrays of the declared shape, alone or behind equal leading axes, are taken here, and
the keywords `out`, `threads` and the names of bound data; any other call goes to the Python fallback. The layouts it
relies on are those of NumPy 2's arrays and of CPython's tuples, checked before the first use (see `direct_calls`). Its
instructions are those of `entry.ll`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.files import fill_template
from armdyn.trace import direct_calls
from armdyn.trace.direct_calls import ALIGNED, CONTIGUOUS, WRITEABLE
from armdyn.trace.pool import LARGE_RESULT_BYTES

if TYPE_CHECKING:
    from armdyn.trace.graphs.graph import Graph
    from armdyn.trace.program import Port

# Entries of the table that is filled after loading: addresses in this process. The names of bound data follow.
CONTEXT = (
    "ndarray", "float64", "empty", "vectorcall", "getitem", "incref", "decref", "save", "restore", "int", "as_long",
    "none", "tuple", "tuple_of", "setitem", "new_tuple", "out", "threads", "scalar",
)  # fmt: skip

# Before the uniform block of a bound call stand the Python callables that it needs, the numbers of samples from
# which the fallback takes over and from which threads pay, and the addresses of the bound data.
HEADER = 192
FALLBACK, COLLECT, LIMIT, PAYS, BOUND = -64, -56, -48, -40, -HEADER
MAX_BOUND = len(range(BOUND, FALLBACK, 8))
# Leading axes that a batch may have here.
MAX_AXES = 8
# From this many samples on other Python threads may run meanwhile.
RELEASE_FROM = 512

FIELDS = {
    name.lower(): getattr(direct_calls, name) for name in ("DATA", "DIMS", "DTYPE", "FLAGS", "NDIM", "SIZE", "TYPE")
}
FIELDS |= {"fallback": FALLBACK, "collect": COLLECT, "limit": LIMIT, "pays": PAYS, "release_from": RELEASE_FROM}
FIELDS |= {"readable": CONTIGUOUS | ALIGNED, "writable": CONTIGUOUS | ALIGNED | WRITEABLE, "max_axes": MAX_AXES}


_text = partial(fill_template, Path(__file__).with_name("entry.ll"), **FIELDS)


def entry(graph: Graph, shared: frozenset[int], uniform_size: int) -> str:
    """The text of `pycall`; the shared inputs are in the bound uniform block, unless given as keywords."""
    data = [k for k in range(len(graph.inputs)) if k not in shared]
    bound = sorted(shared)[:MAX_BOUND] if len(shared) <= MAX_BOUND else []
    context = [*CONTEXT, *(f"name{j}" for j in range(len(bound)))]
    axes = MAX_AXES + max(len(port.shape) for port in graph.outputs)
    sizes = {"uniform_size": max(uniform_size, 1), "axes": axes, "keywords": len(bound) + 2, "arguments": len(data)}
    lines = [
        *(_text("context", name=name, place=k) for k, name in enumerate(context)),
        _text("start", **sizes),
        *_inputs(graph, data),
        *_keywords(bound, len(data)),
        *_uniform(graph, bound),
        *_choice(graph, data),
        *_compute(graph, data),
        _text("fallback"),
    ]
    table = f"@context = global [{len(context)} x i64] zeroinitializer"
    head = "define ptr @pycall(ptr %self, ptr %argv, i64 %nargs, ptr %kwnames) nounwind {"
    shapes = [_core(f"i{k}", port) for k, port in enumerate(graph.inputs)]
    shapes += [_core(f"o{k}", port) for k, port in enumerate(graph.outputs)]
    return "\n".join([table, *shapes, _text("helpers"), head, "start:", *lines, "}"])


def _core(name: str, port: Port) -> str:
    """The axes of one sample."""
    sizes = ", ".join(f"i64 {s}" for s in port.shape) or "i64 1"
    return f"@core_{name} = internal constant [{max(len(port.shape), 1)} x i64] [{sizes}]"


def _inputs(graph: Graph, data: list[int]) -> list[str]:
    """Check the arguments; those with leading axes must agree on them, the others serve all samples."""
    lines, best, most = [], "null", "0"
    for at, k in enumerate(data):
        core = len(graph.inputs[k].shape)
        lines += [_text("check", at=at, ahead=at + 1, port=k, core=core, best=best, most=most)]
        best, most = f"%best{at}", f"%most{at}"
    lines += [_text("few", count=len(data), most=most)]
    for at, k in enumerate(data):
        lines += [_text("same", at=at, ahead=at + 1, stride=8 * graph.inputs[k].size, best=best, most=most)]
    return [*lines, _text("count", count=len(data), best=best, most=most)]


def _keywords(bound: list[int], count: int) -> list[str]:
    """Sort the keywords into bound data, `out` and `threads`; any other is for the fallback.

    One thread does, unless several are asked for and would pay.
    """
    names = [*(f"%name{j}" for j in range(len(bound))), "%out", "%threads"]
    lines = ["keywords:"]
    lines += [f"  %given{j} = getelementptr ptr, ptr %given, i64 {j}" for j in range(len(names))]
    lines += [f"  store ptr null, ptr %given{j}" for j in range(len(names))]
    lines += [_text("keywords", count=count)]
    for j, name in enumerate(names):
        other = f"kw.is{j + 1}" if j + 1 < len(names) else "fallback"
        lines += [_text("keyword", at=j, name=name, other=other)]
    slots = ", ".join(f"[ {j}, %kw.is{j} ]" for j in range(len(names)))
    return [*lines, _text("sorted", slots=slots, threads=len(bound) + 1)]


def _uniform(graph: Graph, bound: list[int]) -> list[str]:
    """The uniform block: the bound one, or one made from the data that are given instead."""
    lines = ["data:", *(f"  %b{j} = load ptr, ptr %given{j}" for j in range(len(bound)))]
    lines += [f"  %y = load ptr, ptr %given{len(bound)}"]
    if not bound:
        return [*lines, _text("bound")]
    any_given = "false"
    for j in range(len(bound)):
        lines += [_text("given", at=j, any=any_given)]
        any_given = f"%any{j}"
    lines += [f"  br i1 {any_given}, label %own0, label %ready"]
    for j, k in enumerate(bound):
        lines += [_text("own", at=j, ahead=j + 1, port=k, core=len(graph.inputs[k].shape), kept=BOUND + 8 * j)]
    words = ", ".join([*(f"ptr %u{j}" for j in range(len(bound))), "ptr %uniform.own"])
    return [*lines, _text("prepared", count=len(bound), words=words)]


def _choice(graph: Graph, data: list[int]) -> list[str]:
    """Allocate the results, or take `out` if it is as declared and apart from all inputs."""
    count, total = len(graph.outputs), 8 * sum(port.size for port in graph.outputs)
    scalar = count > 1 and any(not port.shape for port in graph.outputs)  # a scalar is no array to collect
    lines = [_text("choice", total=total, large=LARGE_RESULT_BYTES, least=0 if scalar else -1)]
    for k, port in enumerate(graph.outputs):
        lines += [f"new{k}:"]
        lines += [_text("axis", port=k, axis=j, length=size) for j, size in enumerate(port.shape)]
        # NumPy's function takes over one reference to the dtype.
        lines += [_text("new", port=k, core=len(port.shape), after=f"new{k + 1}" if k + 1 < count else "compute")]
    lines += ["failed:", "  ret ptr null", "to:"]
    lines += [_text("tuple", count=count) if count > 1 else "  br label %to0"]
    for k, port in enumerate(graph.outputs):
        place = f"call ptr %getitem(ptr %y, i64 {k})" if count > 1 else "getelementptr i8, ptr %y, i64 0"
        least, after = -1 if port.shape else 0, f"to{k + 1}" if k + 1 < count else "ends"
        sizes = {"core": len(port.shape), "stride": 8 * port.size, "scalar": least}
        lines += [_text("to", port=k, place=place, after=after, **sizes)]
    return [*lines, *_apart(graph, data)]


def _apart(graph: Graph, data: list[int]) -> list[str]:
    """Check that given arrays overlap neither inputs nor each other."""
    lines, count = ["ends:"], len(graph.outputs)
    lines += [_text("end", at=at, stride=8 * graph.inputs[k].size) for at, k in enumerate(data)]
    # Bound data are read before the results are written: they may overlap.
    others = [[*(f"%a{at}" for at in range(len(data))), *(f"%y{j}" for j in range(k))] for k in range(count)]
    apart = "true"
    for k in range(count):
        for j, other in enumerate(others[k]):
            lines += [_text("apart", port=k, pair=f"{k}.{j}", other=other, apart=apart)]
            apart = f"%apart{k}.{j}"
    return [*lines, _text("taken", apart=apart)]


def _compute(graph: Graph, data: list[int]) -> list[str]:
    """Run the kernel into the new arrays or the given ones."""
    place, count = {k: at for at, k in enumerate(data)}, len(graph.outputs)
    lines, words = [], []
    for k in range(len(graph.inputs)):  # shared inputs are not read: their values are in the uniform block
        words.append(f"ptr %a{place[k]}.data, i64 %s{place[k]}" if k in place else "ptr null, i64 0")
    for k, port in enumerate(graph.outputs):
        words.append(f"ptr %r{k}.data, i64 {8 * port.size}")
        for end, new in (("", ".array"), (".data", ".data")):
            lines.append(_text("result", port=k, end=end, new=new, last=count - 1))
    lines += [_text("call", words=", ".join(words))]
    if count == 1:  # of a single sample without axes its number is returned, an array with axes stays itself
        return [*lines, _text("one"), _text("array" if graph.outputs[0].shape else "scalar")]
    # The arrays in a named tuple, made as `tuple.__new__` does; `setitem` takes the references over.
    lines += [_text("collect", count=count), *(_text("fill", port=k) for k in range(count)), _text("named")]
    return [*lines, *(f"  call void %decref(ptr %r{k})" for k in range(count)), _text("answer")]
