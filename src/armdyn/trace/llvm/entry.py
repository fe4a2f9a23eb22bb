"""LLVM text of a direct CPython entry: one sample, exact arrays in, a fresh array (or `out=`) back.

`pycall(self, argv, nargs, kwnames)` is a METH_FASTCALL | METH_KEYWORDS method. It looks at every argument: only
aligned, C-contiguous float64 arrays of the declared shape are taken here; any other call goes to the
Python fallback. The layouts it relies on are stable in CPython 3.11 to 3.14 and NumPy 2 and are
checked by a self-test before the first use (see `native`).
"""

from __future__ import annotations

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.shapes import Shape

# Byte offsets in NumPy's array object.
TYPE, DATA, NDIM, DIMS, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
ALIGNED, WRITEABLE = 0x0100, 0x0400

# Entries of the table that is filled after loading: addresses in this process.
CONTEXT = ("ndarray", "float64", "empty", "vectorcall", "getitem", "decref", "out")

# Before the uniform block of a bound call stand the Python callables that it needs.
FALLBACK, COLLECT = -64, -56


def entry(graph: Graph, shared: frozenset[int]) -> str:
    """The text of `pycall`; the shared inputs are in the bound uniform block."""
    data = [k for k in range(len(graph.inputs)) if k not in shared]
    several = len(graph.outputs) > 1
    lines = [f"  %first = icmp eq i64 %nargs, {len(data)}", "  br i1 %first, label %check0, label %fallback"]
    for at, k in enumerate(data):
        where = f"getelementptr ptr, ptr %argv, i64 {at}"
        lines += _check(f"a{at}", where, graph.inputs[k].shape, ALIGNED, f"check{at}", f"check{at + 1}")
    lines += [
        f"check{len(data)}:",
        "  %plain = icmp eq ptr %kwnames, null",
        f"  br i1 %plain, label %fresh, label {'%fallback' if several else '%keywords'}",
        *_fresh(graph),
        *(_several(graph, data) if several else [*_given(graph, data), *_compute(graph, data)]),
        *_fallback(),
    ]
    table = f"@context = global [{len(CONTEXT)} x i64] zeroinitializer"
    head = "define ptr @pycall(ptr %self, ptr %argv, i64 %nargs, ptr %kwnames) nounwind {"
    return "\n".join([table, *_dims(graph), head, *_load_context(), *lines, "}"])


def _dims(graph: Graph) -> list[str]:
    """The shapes of the results, as NumPy's allocation wants them."""
    return [
        f"@dims{k} = internal constant [{len(port.shape)} x i64] [{', '.join(f'i64 {s}' for s in port.shape)}]"
        for k, port in enumerate(graph.outputs)
    ]


def _load_context() -> list[str]:
    lines = ["start:"]
    for k, name in enumerate(CONTEXT):
        lines += [f"  %at_{name} = getelementptr i64, ptr @context, i64 {k}", f"  %{name} = load ptr, ptr %at_{name}"]
    return lines


def _field(name: str, base: str, offset: int, kind: str) -> list[str]:
    """Load a field of an object."""
    return [f"  %{name}.p = getelementptr i8, ptr {base}, i64 {offset}", f"  %{name} = load {kind}, ptr %{name}.p"]


def _check(a: str, where: str, shape: Shape, flags: int, label: str, good: str) -> list[str]:
    """Go on to `good` if the array is exactly as declared, else to the fallback."""
    strides = [8]
    for size in shape[:0:-1]:
        strides.insert(0, strides[0] * size)
    lines = [
        f"{label}:",
        f"  %{a}.at = {where}",
        f"  %{a} = load ptr, ptr %{a}.at",
        *_field(f"{a}.type", f"%{a}", TYPE, "ptr"),
    ]
    lines += [
        f"  %{a}.is = icmp eq ptr %{a}.type, %ndarray",
        f"  br i1 %{a}.is, label %{a}.array, label %fallback",
        f"{a}.array:",
    ]
    lines += (
        _field(f"{a}.dtype", f"%{a}", DTYPE, "ptr")
        + _field(f"{a}.nd", f"%{a}", NDIM, "i32")
        + _field(f"{a}.flags", f"%{a}", FLAGS, "i32")
    )
    lines += [
        f"  %{a}.c0 = icmp eq ptr %{a}.dtype, %float64",
        f"  %{a}.c1 = icmp eq i32 %{a}.nd, {len(shape)}",
        f"  %{a}.set = and i32 %{a}.flags, {flags}",
        f"  %{a}.c2 = icmp eq i32 %{a}.set, {flags}",
        f"  %{a}.c3 = and i1 %{a}.c0, %{a}.c1",
        f"  %{a}.c4 = and i1 %{a}.c3, %{a}.c2",
        f"  br i1 %{a}.c4, label %{a}.sizes, label %fallback",
        f"{a}.sizes:",
        *_field(f"{a}.dims", f"%{a}", DIMS, "ptr"),
        *_field(f"{a}.strides", f"%{a}", STRIDES, "ptr"),
    ]
    ok = "true"
    for k, (size, stride) in enumerate(zip(shape, strides, strict=False)):
        for what, want in (("dims", size), ("strides", stride)):
            v = f"{a}.{what}{k}"
            lines += _field(v, f"%{a}.{what}", 8 * k, "i64")
            lines += [f"  %{v}.eq = icmp eq i64 %{v}, {want}", f"  %{v}.ok = and i1 {ok}, %{v}.eq"]
            ok = f"%{v}.ok"
    return [*lines, *_field(f"{a}.data", f"%{a}", DATA, "ptr"), f"  br i1 {ok}, label %{good}, label %fallback"]


def _fresh(graph: Graph) -> list[str]:
    """Allocate the results; NumPy's function takes over one reference to the dtype each time."""
    lines = ["fresh:"]
    for k, port in enumerate(graph.outputs):
        lines += [
            f"  %refs{k} = load i64, ptr %float64",
            f"  %more{k} = add i64 %refs{k}, 1",
            f"  store i64 %more{k}, ptr %float64",
            f"  %new{k} = call ptr %empty(i32 {len(port.shape)}, ptr @dims{k}, ptr %float64, i32 0)",
            f"  %none{k} = icmp eq ptr %new{k}, null",
            f"  br i1 %none{k}, label %failed, label %allocated{k}",
            f"allocated{k}:",
            *_field(f"new{k}.data", f"%new{k}", DATA, "ptr"),
        ]
    return [*lines, "  br label %compute", "failed:", "  ret ptr null"]


def _given(graph: Graph, data: list[int]) -> list[str]:
    """Take `out=` if it is the only keyword, exactly as declared and apart from the inputs."""
    count, shape = len(data), graph.outputs[0].shape
    lines = ["keywords:", *_field("kw.count", "%kwnames", 16, "i64"), "  %kw.one = icmp eq i64 %kw.count, 1"]
    lines += ["  br i1 %kw.one, label %kw.name, label %fallback", "kw.name:"]
    lines += ["  %kw.at = call ptr %getitem(ptr %kwnames, i64 0)", "  %kw.out = icmp eq ptr %kw.at, %out"]
    lines += ["  br i1 %kw.out, label %given, label %fallback"]
    lines += _check("y", f"getelementptr ptr, ptr %argv, i64 {count}", shape, ALIGNED | WRITEABLE, "given", "apart0")
    size = 8 * graph.outputs[0].size
    for at, k in enumerate(data):
        lines += [
            f"apart{at}:",
            f"  %y.end{at} = getelementptr i8, ptr %y.data, i64 {size}",
            f"  %x.end{at} = getelementptr i8, ptr %a{at}.data, i64 {8 * graph.inputs[k].size}",
            f"  %before{at} = icmp ule ptr %y.end{at}, %a{at}.data",
            f"  %behind{at} = icmp ule ptr %x.end{at}, %y.data",
            f"  %apart.ok{at} = or i1 %before{at}, %behind{at}",
            f"  br i1 %apart.ok{at}, label %apart{at + 1}, label %fallback",
        ]
    return [
        *lines,
        f"apart{count}:",
        "  %refs.y = load i64, ptr %y",
        "  %more.y = add i64 %refs.y, 1",
        "  store i64 %more.y, ptr %y",
        "  br label %compute",
    ]


def _inputs(graph: Graph, data: list[int]) -> list[str]:
    """The kernel's input arguments. Shared inputs are not read: their values are in the uniform block."""
    place = {k: f"%a{at}.data" for at, k in enumerate(data)}
    return [f"ptr {place.get(k, 'null')}, i64 0" for k in range(len(graph.inputs))]


def _compute(graph: Graph, data: list[int]) -> list[str]:
    """Run the kernel on one sample, into the new array or the given one."""
    words = [*_inputs(graph, data), "ptr %result.data, i64 0", "ptr %uniform", "i64 1"]
    last = f"apart{len(data)}"
    return [
        "compute:",
        f"  %result = phi ptr [ %new0, %allocated0 ], [ %y, %{last} ]",
        f"  %result.data = phi ptr [ %new0.data, %allocated0 ], [ %y.data, %{last} ]",
        *_field("uniform", "%self", DATA, "ptr"),
        f"  call void @batch({', '.join(words)})",
        "  ret ptr %result",
    ]


def _several(graph: Graph, data: list[int]) -> list[str]:
    """Run the kernel on one sample and let Python's named tuple collect the arrays."""
    count = len(graph.outputs)
    outs = [f"ptr %new{k}.data, i64 0" for k in range(count)]
    lines = [
        "compute:",
        *_field("uniform", "%self", DATA, "ptr"),
        f"  call void @batch({', '.join([*_inputs(graph, data), *outs, 'ptr %uniform', 'i64 1'])})",
        f"  %arrays = alloca [{count} x ptr]",
    ]
    for k in range(count):
        lines += [f"  %arrays{k} = getelementptr ptr, ptr %arrays, i64 {k}", f"  store ptr %new{k}, ptr %arrays{k}"]
    lines += _field("collect", "%uniform", COLLECT, "ptr")
    lines += [f"  %tuple = call ptr %vectorcall(ptr %collect, ptr %arrays, i64 {count}, ptr null)"]
    return [*lines, *(f"  call void %decref(ptr %new{k})" for k in range(count)), "  ret ptr %tuple"]


def _fallback() -> list[str]:
    """Let Python handle the call."""
    return [
        "fallback:",
        *_field("block", "%self", DATA, "ptr"),
        *_field("callable", "%block", FALLBACK, "ptr"),
        "  %answer = call ptr %vectorcall(ptr %callable, ptr %argv, i64 %nargs, ptr %kwnames)",
        "  ret ptr %answer",
    ]
