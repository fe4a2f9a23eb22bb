"""LLVM text of a direct CPython entry: contiguous arrays in, fresh arrays (or `out=`) back.

`pycall(self, argv, nargs, kwnames)` is a METH_FASTCALL | METH_KEYWORDS method. It looks at every argument: only
aligned, C-contiguous float64 arrays of the declared shape, alone or behind equal leading axes, are taken here, and
the keywords `out`, `threads` and the names of bound data; any other call goes to the Python fallback. The layouts it
relies on are those of NumPy 2's arrays and of CPython's tuples, checked before the first use (see `direct_calls`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.trace.direct_calls import (
    ALIGNED,
    CONTIGUOUS,
    DATA,
    DIMS,
    DTYPE,
    FLAGS,
    NDIM,
    SIZE,
    TYPE,
    WRITEABLE,
)
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


def entry(graph: Graph, shared: frozenset[int], uniform_size: int) -> str:
    """The text of `pycall`; the shared inputs are in the bound uniform block, unless given as keywords."""
    data = [k for k in range(len(graph.inputs)) if k not in shared]
    bound = sorted(shared)[:MAX_BOUND] if len(shared) <= MAX_BOUND else []
    several = len(graph.outputs) > 1
    lines = [
        *_load_context(len(bound)),
        f"""  %uniform.own = alloca [{max(uniform_size, 1)} x double], align 64
  %dims = alloca [{MAX_AXES + max(len(port.shape) for port in graph.outputs)} x i64]
  %given = alloca [{len(bound) + 2} x ptr]
  %overflow = alloca i32
{field("uniform.bound", "%self", DATA, "ptr")}
  %first = icmp eq i64 %nargs, {len(data)}
  br i1 %first, label %check0, label %fallback""",
        *_inputs(graph, data),
        *_keywords(bound, len(data)),
        *_threads(len(bound) + 1),
        *_uniform(graph, bound),
        *_choice(graph, data, several),
        *_compute(graph, data, several),
        *_fallback(),
    ]
    table = f"@context = global [{len(CONTEXT) + len(bound)} x i64] zeroinitializer"
    head = "define ptr @pycall(ptr %self, ptr %argv, i64 %nargs, ptr %kwnames) nounwind {"
    shapes = [_core(f"i{k}", port) for k, port in enumerate(graph.inputs)]
    shapes += [_core(f"o{k}", port) for k, port in enumerate(graph.outputs)]
    return "\n".join([table, *shapes, HELPERS, head, "start:", *lines, "}"])


def _core(name: str, port: Port) -> str:
    """The axes of one sample."""
    sizes = ", ".join(f"i64 {s}" for s in port.shape) or "i64 1"
    return f"@core_{name} = internal constant [{max(len(port.shape), 1)} x i64] [{sizes}]"


def _load_context(bound: int) -> list[str]:
    lines = []
    for k, name in enumerate([*CONTEXT, *(f"name{j}" for j in range(bound))]):
        lines += [f"  %at_{name} = getelementptr i64, ptr @context, i64 {k}", f"  %{name} = load ptr, ptr %at_{name}"]
    return lines


def field(name: str, base: str, offset: int, kind: str) -> str:
    """Load a field of an object."""
    return f"  %{name}.p = getelementptr i8, ptr {base}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.p"


def _lead(name: str, array: str, port: str, axes: int, flags: int) -> str:
    """The number of axes before those of a sample, -1 if this is no array as declared."""
    words = f"ptr {array}, ptr %ndarray, ptr %float64, i64 {axes}, ptr @core_{port}, i32 {flags}"
    return f"  %{name} = call i64 @lead({words})"


def _inputs(graph: Graph, data: list[int]) -> list[str]:
    """Check the arguments; those with leading axes must agree on them, the others serve all samples."""
    lines, best, most = [], "null", "0"
    for at, k in enumerate(data):
        lines += [
            f"""check{at}:
  %a{at}.at = getelementptr ptr, ptr %argv, i64 {at}
  %a{at} = load ptr, ptr %a{at}.at
{_lead(f"nb{at}", f"%a{at}", f"i{k}", len(graph.inputs[k].shape), CONTIGUOUS | ALIGNED)}
  %bad{at} = icmp slt i64 %nb{at}, 0
  br i1 %bad{at}, label %fallback, label %next{at}
next{at}:
{field(f"a{at}.data", f"%a{at}", DATA, "ptr")}
  %more{at} = icmp sgt i64 %nb{at}, {most}
  %best{at} = select i1 %more{at}, ptr %a{at}, ptr {best}
  %most{at} = select i1 %more{at}, i64 %nb{at}, i64 {most}
  br label %check{at + 1}""",
        ]
        best, most = f"%best{at}", f"%most{at}"
    lines += [f"check{len(data)}:", f"  %few = icmp sle i64 {most}, {MAX_AXES}"]
    lines += ["  br i1 %few, label %same0, label %fallback"]
    for at, k in enumerate(data):
        lines += [
            f"""same{at}:
  %equal{at} = call i1 @same(ptr %a{at}, i64 %nb{at}, ptr {best}, i64 {most})
  %single{at} = icmp eq i64 %nb{at}, 0
  %s{at} = select i1 %single{at}, i64 0, i64 {8 * graph.inputs[k].size}
  br i1 %equal{at}, label %same{at + 1}, label %fallback""",
        ]
    return [
        *lines,
        f"""same{len(data)}:
  %axes = add i64 {most}, 0
  %count = call i64 @samples(ptr {best}, i64 {most}, ptr %dims)
{field("limit", "%uniform.bound", LIMIT, "i64")}
  %some = icmp sgt i64 %count, 0
  %within = icmp slt i64 %count, %limit
  %mine = and i1 %some, %within
  br i1 %mine, label %keywords, label %fallback""",
    ]


def _keywords(bound: list[int], count: int) -> list[str]:
    """Sort the keywords into bound data, `out` and `threads`; any other is for the fallback."""
    names = [*(f"%name{j}" for j in range(len(bound))), "%out", "%threads"]
    lines = ["keywords:"]
    lines += [f"  %given{j} = getelementptr ptr, ptr %given, i64 {j}" for j in range(len(names))]
    lines += [f"  store ptr null, ptr %given{j}" for j in range(len(names))]
    lines += [
        f"""  %plain = icmp eq ptr %kwnames, null
  br i1 %plain, label %sorted, label %kw.start
kw.start:
{field("kw.count", "%kwnames", SIZE, "i64")}
  br label %kw.next
kw.next:
  %kw.k = phi i64 [ 0, %kw.start ], [ %kw.ahead, %kw.store ]
  %kw.more = icmp slt i64 %kw.k, %kw.count
  br i1 %kw.more, label %kw.name, label %sorted
kw.name:
  %kw.at = call ptr %getitem(ptr %kwnames, i64 %kw.k)
  %kw.place = add i64 %kw.k, {count}
  %kw.argument = getelementptr ptr, ptr %argv, i64 %kw.place
  %kw.given = load ptr, ptr %kw.argument
  %kw.none = icmp eq ptr %kw.given, %none
  %kw.value = select i1 %kw.none, ptr null, ptr %kw.given
  br label %kw.is0""",
    ]
    for j, name in enumerate(names):
        other = f"kw.is{j + 1}" if j + 1 < len(names) else "fallback"
        lines += [f"kw.is{j}:", f"  %kw.hit{j} = icmp eq ptr %kw.at, {name}"]
        lines += [f"  br i1 %kw.hit{j}, label %kw.store, label %{other}"]
    return [
        *lines,
        f"""kw.store:
  %kw.slot = phi i64 {", ".join(f"[ {j}, %kw.is{j} ]" for j in range(len(names)))}
  %kw.to = getelementptr ptr, ptr %given, i64 %kw.slot
  store ptr %kw.value, ptr %kw.to
  %kw.ahead = add i64 %kw.k, 1
  br label %kw.next""",
    ]


def _threads(place: int) -> list[str]:
    """One thread does, unless several are asked for and would pay."""
    # `as_long` gives -1 beyond 64 bits.
    return [
        f"""sorted:
  %t = load ptr, ptr %given{place}
  %t.no = icmp eq ptr %t, null
  br i1 %t.no, label %data, label %t.look
t.look:
{field("t.type", "%t", TYPE, "ptr")}
  %t.is = icmp eq ptr %t.type, %int
  br i1 %t.is, label %t.read, label %fallback
t.read:
  %t.long = call i64 %as_long(ptr %t, ptr %overflow)
  %t.below = sub i64 %t.long, 2
  %t.several = icmp ult i64 %t.below, 1023
{field("pays", "%uniform.bound", PAYS, "i64")}
  %t.vain = icmp slt i64 %count, %pays
  %t.ignored = and i1 %t.several, %t.vain
  %t.one = icmp eq i64 %t.long, 1
  %t.mine = or i1 %t.one, %t.ignored
  br i1 %t.mine, label %data, label %fallback""",
    ]


def _uniform(graph: Graph, bound: list[int]) -> list[str]:
    """The uniform block: the bound one, or one made from the data that are given instead."""
    lines = ["data:", *(f"  %b{j} = load ptr, ptr %given{j}" for j in range(len(bound)))]
    lines += [f"  %y = load ptr, ptr %given{len(bound)}"]
    if not bound:
        return [
            *lines,
            """  br label %ready
ready:
  %uniform = getelementptr i8, ptr %uniform.bound, i64 0""",
        ]
    any_given = "false"
    for j in range(len(bound)):
        lines += [f"  %has{j} = icmp ne ptr %b{j}, null", f"  %any{j} = or i1 {any_given}, %has{j}"]
        any_given = f"%any{j}"
    lines += [f"  br i1 {any_given}, label %own0, label %ready"]
    for j, k in enumerate(bound):
        lines += [
            f"""own{j}:
{field(f"kept{j}", "%uniform.bound", BOUND + 8 * j, "ptr")}
  br i1 %has{j}, label %look{j}, label %own.next{j}
look{j}:
{_lead(f"nbb{j}", f"%b{j}", f"i{k}", len(graph.inputs[k].shape), CONTIGUOUS | ALIGNED)}
{field(f"b{j}.data", f"%b{j}", DATA, "ptr")}
  %single.b{j} = icmp eq i64 %nbb{j}, 0
  br i1 %single.b{j}, label %own.next{j}, label %fallback
own.next{j}:
  %u{j} = phi ptr [ %kept{j}, %own{j} ], [ %b{j}.data, %look{j} ]
  br label %own{j + 1}""",
        ]
    return [
        *lines,
        f"""own{len(bound)}:
  call void @prepare({", ".join([*(f"ptr %u{j}" for j in range(len(bound))), "ptr %uniform.own"])})
  br label %ready
ready:
  %uniform = phi ptr [ %uniform.bound, %data ], [ %uniform.own, %own{len(bound)} ]""",
    ]


def _choice(graph: Graph, data: list[int], several: bool) -> list[str]:
    """Allocate the results, or take `out` if it is as declared and apart from all inputs."""
    total = 8 * sum(port.size for port in graph.outputs)
    scalar = several and any(not port.shape for port in graph.outputs)  # a scalar is no array to collect
    lines = ["  %fresh = icmp eq ptr %y, null", "  br i1 %fresh, label %size, label %to"]
    lines += [
        f"""size:
  %bytes = mul i64 %count, {total}
  %small = icmp slt i64 %bytes, {LARGE_RESULT_BYTES}"""
    ]
    lines += [f"  %batched = icmp sgt i64 %axes, {0 if scalar else -1}", "  %here = and i1 %small, %batched"]
    lines += ["  br i1 %here, label %new0, label %fallback"]
    for k, port in enumerate(graph.outputs):
        lines += [f"new{k}:"]
        for j, size in enumerate(port.shape):
            lines += [
                f"  %d{k}.{j} = add i64 %axes, {j}",
                f"  %dp{k}.{j} = getelementptr i64, ptr %dims, i64 %d{k}.{j}",
            ]
            lines += [f"  store i64 {size}, ptr %dp{k}.{j}"]
        # NumPy's function takes over one reference to the dtype.
        lines += [
            f"""  %nd{k} = add i64 %axes, {len(port.shape)}
  %n{k} = trunc i64 %nd{k} to i32
  call void %incref(ptr %float64)
  %new{k}.array = call ptr %empty(i32 %n{k}, ptr %dims, ptr %float64, i32 0)
  %none{k} = icmp eq ptr %new{k}.array, null
  br i1 %none{k}, label %failed, label %made{k}
made{k}:
{field(f"new{k}.data", f"%new{k}.array", DATA, "ptr")}
  br label %{f"new{k + 1}" if k + 1 < len(graph.outputs) else "compute"}""",
        ]
    return [*lines, "failed:", "  ret ptr null", *_to(graph, data, several)]


def _to(graph: Graph, data: list[int], several: bool) -> list[str]:
    """Check `out`, an array or a tuple of them."""
    count = len(graph.outputs)
    lines = ["to:"]
    if several:
        lines += [
            f"""{field("y.type", "%y", TYPE, "ptr")}
{field("y.class", "%uniform.bound", COLLECT, "ptr")}
  %y.named = icmp eq ptr %y.type, %y.class
  %y.plain = icmp eq ptr %y.type, %tuple
  %y.tuple = or i1 %y.named, %y.plain
  br i1 %y.tuple, label %to.size, label %fallback
to.size:
{field("y.count", "%y", SIZE, "i64")}
  %y.whole = icmp eq i64 %y.count, {count}
  br i1 %y.whole, label %to0, label %fallback""",
        ]
    else:
        lines += ["  br label %to0"]
    for k, port in enumerate(graph.outputs):
        place = f"call ptr %getitem(ptr %y, i64 {k})" if several else "getelementptr i8, ptr %y, i64 0"
        lines += [
            f"""to{k}:
  %y{k} = {place}
{_lead(f"nby{k}", f"%y{k}", f"o{k}", len(port.shape), CONTIGUOUS | ALIGNED | WRITEABLE)}
  %as_many{k} = icmp eq i64 %nby{k}, %axes
  %not_scalar{k} = icmp sgt i64 %nby{k}, {-1 if port.shape else 0}
  %y{k}.fits = and i1 %as_many{k}, %not_scalar{k}
  br i1 %y{k}.fits, label %to.axes{k}, label %fallback
to.axes{k}:
{field(f"y{k}.dims", f"%y{k}", DIMS, "ptr")}
  %y{k}.same = call i1 @equal(ptr %y{k}.dims, ptr %dims, i64 %axes)
{field(f"y{k}.data", f"%y{k}", DATA, "ptr")}
  %y{k}.bytes = mul i64 %count, {8 * port.size}
  %y{k}.end = getelementptr i8, ptr %y{k}.data, i64 %y{k}.bytes
  br i1 %y{k}.same, label %{f"to{k + 1}" if k + 1 < count else "ends"}, label %fallback""",
        ]
    return [*lines, *_apart(graph, data)]


def _apart(graph: Graph, data: list[int]) -> list[str]:
    """Check that given arrays overlap neither inputs nor each other."""
    lines, count = ["ends:"], len(graph.outputs)
    for at, k in enumerate(data):
        lines += [
            f"""  %rows{at} = select i1 %single{at}, i64 1, i64 %count
  %room{at} = mul i64 %rows{at}, {8 * graph.inputs[k].size}
  %a{at}.end = getelementptr i8, ptr %a{at}.data, i64 %room{at}""",
        ]
    # Bound data are read before the results are written: they may overlap.
    others = [[*(f"%a{at}" for at in range(len(data))), *(f"%y{j}" for j in range(k))] for k in range(count)]
    apart = "true"
    for k in range(count):
        for j, other in enumerate(others[k]):
            lines += [
                f"""  %before{k}.{j} = icmp ule ptr %y{k}.end, {other}.data
  %behind{k}.{j} = icmp ule ptr {other}.end, %y{k}.data
  %clear{k}.{j} = or i1 %before{k}.{j}, %behind{k}.{j}
  %apart{k}.{j} = and i1 {apart}, %clear{k}.{j}""",
            ]
            apart = f"%apart{k}.{j}"
    return [
        *lines,
        f"""  br i1 {apart}, label %taken, label %fallback
taken:
  br label %compute""",
    ]


def _compute(graph: Graph, data: list[int], several: bool) -> list[str]:
    """Run the kernel into the new arrays or the given ones."""
    place, count = {k: at for at, k in enumerate(data)}, len(graph.outputs)
    lines, words = ["compute:"], []
    for k in range(len(graph.inputs)):  # shared inputs are not read: their values are in the uniform block
        words.append(f"ptr %a{place[k]}.data, i64 %s{place[k]}" if k in place else "ptr null, i64 0")
    for k, port in enumerate(graph.outputs):
        words.append(f"ptr %r{k}.data, i64 {8 * port.size}")
        for end, kind in (("", ".array"), (".data", ".data")):
            lines.append(f"  %r{k}{end} = phi ptr [ %new{k}{kind}, %made{count - 1} ], [ %y{k}{end}, %taken ]")
    call = f"  call void @batch({', '.join(words)}, ptr %uniform, i64 %count)"
    return [
        *lines,
        f"""  %long = icmp sge i64 %count, {RELEASE_FROM}
  br i1 %long, label %release, label %hold
release:
  %thread = call ptr %save()""",
        call,
        """  call void %restore(ptr %thread)
  br label %finish
hold:""",
        call,
        "  br label %finish",
        "finish:",
        *(_collect(count) if several else _one(graph.outputs[0])),
    ]


def _one(port: Port) -> list[str]:
    """The result; a given array gets a reference more, and of a single sample without axes its number is returned."""
    return [
        """  br i1 %fresh, label %answer.new, label %answer.given
answer.given:
  call void %incref(ptr %r0)
  ret ptr %r0
answer.new:""",
        *([] if port.shape else ["  %number = call ptr %scalar(ptr %r0)"]),  # an array with axes stays itself
        f"  ret ptr {'%r0' if port.shape else '%number'}",
    ]


def _collect(count: int) -> list[str]:
    """The arrays in a named tuple, made as `tuple.__new__` does, without Python's function for it."""
    lines = [
        f"""  %all = call ptr %tuple_of(i64 {count})
  %all.none = icmp eq ptr %all, null
  br i1 %all.none, label %collected, label %fill
fill:""",
    ]
    for k in range(count):
        lines += [f"  call void %incref(ptr %r{k})", f"  call i32 %setitem(ptr %all, i64 {k}, ptr %r{k})"]
    # `setitem` takes the references over.
    lines += [
        f"""  %only = call ptr %tuple_of(i64 1)
  %only.none = icmp eq ptr %only, null
  br i1 %only.none, label %spoiled, label %make
spoiled:
  call void %decref(ptr %all)
  br label %collected
make:
  call i32 %setitem(ptr %only, i64 0, ptr %all)
{field("collect", "%uniform.bound", COLLECT, "ptr")}
  %made = call ptr %new_tuple(ptr %collect, ptr %only, ptr null)
  call void %decref(ptr %only)
  br label %collected
collected:
  %results = phi ptr [ null, %finish ], [ null, %spoiled ], [ %made, %make ]
  br i1 %fresh, label %own, label %answer.all
own:""",
    ]
    lines += [f"  call void %decref(ptr %r{k})" for k in range(count)]
    return [
        *lines,
        """  br label %answer.all
answer.all:
  ret ptr %results""",
    ]


def _fallback() -> list[str]:
    """Let Python handle the call."""
    return [
        f"""fallback:
{field("callable", "%uniform.bound", FALLBACK, "ptr")}
  %answer = call ptr %vectorcall(ptr %callable, ptr %argv, i64 %nargs, ptr %kwnames)
  ret ptr %answer""",
    ]


HELPERS = f"""define internal i64 @lead(ptr %a, ptr %kind, ptr %float64, i64 %core, ptr %shape, i32 %want) nounwind {{
  %type.p = getelementptr i8, ptr %a, i64 {TYPE}
  %type = load ptr, ptr %type.p
  %is = icmp eq ptr %type, %kind
  br i1 %is, label %array, label %bad
array:
  %dtype.p = getelementptr i8, ptr %a, i64 {DTYPE}
  %dtype = load ptr, ptr %dtype.p
  %flags.p = getelementptr i8, ptr %a, i64 {FLAGS}
  %flags = load i32, ptr %flags.p
  %nd.p = getelementptr i8, ptr %a, i64 {NDIM}
  %nd32 = load i32, ptr %nd.p
  %nd = sext i32 %nd32 to i64
  %dims.p = getelementptr i8, ptr %a, i64 {DIMS}
  %dims = load ptr, ptr %dims.p
  %lead = sub i64 %nd, %core
  %c0 = icmp eq ptr %dtype, %float64
  %set = and i32 %flags, %want
  %c1 = icmp eq i32 %set, %want
  %c2 = icmp sge i64 %lead, 0
  %c3 = and i1 %c0, %c1
  %c4 = and i1 %c3, %c2
  br i1 %c4, label %sizes, label %bad
sizes:
  %tail = getelementptr i64, ptr %dims, i64 %lead
  %fits = call i1 @equal(ptr %tail, ptr %shape, i64 %core)
  %answer = select i1 %fits, i64 %lead, i64 -1
  ret i64 %answer
bad:
  ret i64 -1
}}
define internal i1 @equal(ptr %a, ptr %b, i64 %count) nounwind {{
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %ahead, %look ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %good
look:
  %ap = getelementptr i64, ptr %a, i64 %k
  %bp = getelementptr i64, ptr %b, i64 %k
  %x = load i64, ptr %ap
  %y = load i64, ptr %bp
  %same = icmp eq i64 %x, %y
  %ahead = add i64 %k, 1
  br i1 %same, label %next, label %bad
good:
  ret i1 true
bad:
  ret i1 false
}}
define internal i1 @same(ptr %a, i64 %na, ptr %b, i64 %nb) nounwind {{
  %alone = icmp eq i64 %na, 0
  br i1 %alone, label %good, label %count
count:
  %as_many = icmp eq i64 %na, %nb
  br i1 %as_many, label %look, label %bad
look:
  %a.p = getelementptr i8, ptr %a, i64 {DIMS}
  %b.p = getelementptr i8, ptr %b, i64 {DIMS}
  %a.dims = load ptr, ptr %a.p
  %b.dims = load ptr, ptr %b.p
  %equal = call i1 @equal(ptr %a.dims, ptr %b.dims, i64 %na)
  ret i1 %equal
good:
  ret i1 true
bad:
  ret i1 false
}}
define internal i64 @samples(ptr %a, i64 %axes, ptr %to) nounwind {{
start:
  %one = icmp eq i64 %axes, 0
  br i1 %one, label %alone, label %many
alone:
  ret i64 1
many:
  %dims.p = getelementptr i8, ptr %a, i64 {DIMS}
  %dims = load ptr, ptr %dims.p
  br label %next
next:
  %k = phi i64 [ 0, %many ], [ %ahead, %next ]
  %count = phi i64 [ 1, %many ], [ %product, %next ]
  %from.p = getelementptr i64, ptr %dims, i64 %k
  %to.p = getelementptr i64, ptr %to, i64 %k
  %size = load i64, ptr %from.p
  store i64 %size, ptr %to.p
  %product = mul i64 %count, %size
  %ahead = add i64 %k, 1
  %more = icmp slt i64 %ahead, %axes
  br i1 %more, label %next, label %done
done:
  ret i64 %product
}}"""
