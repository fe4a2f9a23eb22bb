"""From a graph to LLVM text: `kern` computes one vector of samples, `loop` is a NumPy inner loop over it.

* lanes are samples: rows of the user's arrays are loaded and transposed in the kernel;
* lane pointers are clamped to the last sample, so that tails and single calls need no second kernel;
* what depends on shared inputs only (theta, gravity) is computed once a call by `prepare`;
* large graphs are split into functions, values that cross a border go through a scratch block.
"""

from __future__ import annotations

from dataclasses import dataclass

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.schedule import (
    Compute,
    Schedule,
    Step,
    Store,
    Trig,
    defined_by,
    make_schedule,
    trig_nodes,
)
from armdyn.trace.llvm.emit import Emitter, Host
from armdyn.trace.llvm.functions import is_large_angle, operation, sine_cosine
from armdyn.trace.llvm.inner_loop import inner_loop
from armdyn.trace.llvm.layout import Layout, make_layout
from armdyn.trace.llvm.signature import signature


@dataclass(frozen=True)
class Lowered:
    """LLVM text and the size of the uniform block in doubles."""

    text: str
    uniform_size: int


def lower(graph: Graph, host: Host, shared: frozenset[int]) -> Lowered:
    """The module of a graph whose input ports `shared` have no batch axes."""
    group = 4 if host.width in (4, 8) else 1
    schedule = make_schedule(graph, shared, group)
    layout, chunks = make_layout(graph, schedule)
    declared: set[str] = set()
    parts = [_prepare(graph, host, schedule, layout, shared, declared)]
    table: dict[str, int] = {}
    for k, steps in enumerate(chunks):
        parts.append(_Kernel(graph, host, layout, declared, table).function(f"part{k}", steps))
    parts.append(_constants(host, table))
    parts += [
        _kern(graph, host, layout, len(chunks)),
        inner_loop(graph, host, layout, shared),
        _slow_trig(host, declared),
    ]
    return Lowered("\n".join([*parts, *sorted(declared)]) + "\n", len(layout.uniform) * host.width)


# -- what is the same for all samples ------------------------------------------------------------------------


def _prepare(
    graph: Graph, host: Host, schedule: Schedule, layout: Layout, shared: frozenset[int], declared: set[str]
) -> str:
    """`prepare(ptr shared inputs..., ptr uniform)`: uniform values, computed once and broadcast."""
    e = Emitter(Host(1, host.fma), declared=declared)
    wide = Emitter(host)
    values: dict[int, str] = {}

    def value(k: int) -> str:
        node = graph.nodes[k]
        return e.constant(node.value) if node.op == "const" else values[k]

    for k in schedule.uniform:
        node = graph.nodes[k]
        if node.op == "input":
            port, index = node.value
            at = e.let(f"getelementptr double, ptr %i{port}, i64 {index}")
            values[k] = e.let(f"load double, ptr {at}, align 8")
        elif node.op in ("sin", "cos"):
            values[k] = e.per_lane(node.op, value(node.args[0]))
        else:
            values[k] = operation(e, node.op, [_or_constant(graph, e, values, a) for a in node.args])
        if k in layout.uniform:
            wide.lines, wide._count = e.lines, e._count
            vector = wide.broadcast(values[k])
            at = wide.let(f"getelementptr {wide.T}, ptr %uniform, i64 {layout.uniform[k]}")
            wide.line(f"store {wide.T} {vector}, ptr {at}, align 8")
            e._count = wide._count
    arguments = ", ".join([*(f"ptr %i{p}" for p in sorted(shared)), "ptr %uniform"])
    return "\n".join([f"define void @prepare({arguments}) nounwind {{", *e.lines, "  ret void", "}"])


def _or_constant(graph: Graph, e: Emitter, values: dict[int, str], k: int) -> str:
    """A uniform value, folding subexpressions of constants that have no value of their own."""
    if k in values:
        return values[k]
    node = graph.nodes[k]
    if node.op == "const":
        return e.constant(node.value)
    if node.op in ("sin", "cos"):
        return e.per_lane(node.op, _or_constant(graph, e, values, node.args[0]))
    return operation(e, node.op, [_or_constant(graph, e, values, a) for a in node.args])


# -- the kernel ---------------------------------------------------------------------------------------------


class _Kernel:
    """Emits the steps of one function."""

    def __init__(self, graph: Graph, host: Host, layout: Layout, declared: set[str], table: dict[str, int]) -> None:
        self.graph, self.host, self.layout = graph, host, layout
        self.e = Emitter(host, declared=declared, table=table)
        self.values: dict[int, str] = {}
        self.rows: dict[str, list[str]] = {}
        self.lanes: list[str] = []
        self.blocks = 0
        self.trig = trig_nodes(graph)

    def function(self, name: str, steps: list[Step]) -> str:
        """The text of a function that runs the steps."""
        self.e.label("entry")
        for step in steps:
            if isinstance(step, Compute):
                self._compute(step)
            elif isinstance(step, Trig):
                self._trig(step)
            else:
                self._store(step)
            for k in defined_by(self.graph, step):
                if k in self.layout.scratch:
                    at = self._slot("%scratch", self.layout.scratch[k])
                    self.e.line(f"store {self.e.T} {self.values[k]}, ptr {at}, align 8")
        head = f"define internal void @{name}({signature(self.graph)}, ptr noalias %scratch) noinline nounwind {{"
        return "\n".join([head, *self.e.lines, "  ret void", "}"])

    # -- values ---------------------------------------------------------------------------------------

    def _value(self, k: int) -> str:
        if k in self.values:
            return self.values[k]
        node = self.graph.nodes[k]
        if node.op == "const":
            return self.e.constant(node.value)
        if k in self.layout.uniform:  # loaded at every use: the load becomes an operand of its reader
            return self._load(self._slot("%uniform", self.layout.uniform[k]))
        if node.op == "input":
            port, index = node.value
            return self._input(port, index, k)
        if k in self.layout.scratch:
            self.values[k] = self._load(self._slot("%scratch", self.layout.scratch[k]))
            return self.values[k]
        return operation(self.e, node.op, [self._value(a) for a in node.args])  # of constants only

    def _load(self, at: str) -> str:
        return self.e.let(f"load {self.e.T}, ptr {at}, align 8")

    def _slot(self, block: str, slot: int) -> str:
        return self.e.let(f"getelementptr {self.e.T}, ptr {block}, i64 {slot}")

    def _compute(self, step: Compute) -> None:
        node = self.graph.nodes[step.node]
        self.values[step.node] = operation(self.e, node.op, [self._value(a) for a in node.args])

    # -- sines ----------------------------------------------------------------------------------------

    def _trig(self, step: Trig) -> None:
        """Sine and cosine of all angles inline, or by the C library if any angle is very large."""
        e, tag = self.e, self.blocks
        self.blocks += 1
        angles = [self._value(a) for a in step.angles]
        large = [is_large_angle(e, x) for x in angles]
        while len(large) > 1:
            large = [*large[2:], e.let(f"or {e.vector('i1')} {large[0]}, {large[1]}")]
        e.line(f"br i1 {e.any_lane(large[0])}, label %large{tag}, label %near{tag}, !prof !0")
        e.label(f"large{tag}")
        pair = f"{{ {e.T}, {e.T} }}"
        far = []
        for x in angles:
            both = e.let(f"call {pair} @slow_trig({e.T} {x})")
            far.append(tuple(e.let(f"extractvalue {pair} {both}, {i}") for i in (0, 1)))
        e.line(f"br label %angles{tag}")
        e.label(f"near{tag}")
        near = [sine_cosine(e, x) for x in angles]
        e.line(f"br label %angles{tag}")
        e.label(f"angles{tag}")
        for angle, slow, fast in zip(step.angles, far, near, strict=True):
            for k in self.trig.get(angle, ()):
                i = 0 if self.graph.nodes[k].op == "sin" else 1
                self.values[k] = e.let(f"phi {e.T} [ {slow[i]}, %large{tag} ], [ {fast[i]}, %near{tag} ]")

    # -- memory ---------------------------------------------------------------------------------------

    def _row_pointers(self, port: str) -> list[str]:
        """One pointer a lane, the ones past the last sample clamped to it."""
        e = self.e
        if not self.lanes:
            self.lanes = ["0"]
            last = e.let("sub i64 %remaining, 1")
            for k in range(1, self.host.width):
                inside = e.let(f"icmp slt i64 {k}, %remaining")
                self.lanes.append(e.let(f"select i1 {inside}, i64 {k}, i64 {last}"))
        if port not in self.rows:
            self.rows[port] = [f"%{port}"]
            for lane in self.lanes[1:]:
                shift = e.let(f"mul i64 {lane}, %s{port}")
                self.rows[port].append(e.let(f"getelementptr i8, ptr %{port}, i64 {shift}"))
        return self.rows[port]

    def _input(self, port: int, index: int, k: int) -> str:
        """An input entry; whole groups of four columns are loaded and transposed together."""
        e, size = self.e, self.graph.inputs[port].size
        rows = self._row_pointers(f"i{port}")
        if self.host.width not in (4, 8) or size < 4:
            lanes = [e.let(f"load double, ptr {self._entry(row, index)}, align 8") for row in rows]
            self.values[k] = e.from_lanes(lanes)
            return self.values[k]
        start = min(index - index % 4, size - 4)
        loaded = [e.let(f"load <4 x double>, ptr {self._entry(row, start)}, align 8") for row in rows]
        for i, column in enumerate(self._transposed_in(loaded)):
            node = self.graph.input_node(port, start + i)
            if node is not None:
                self.values.setdefault(node, column)
        return self.values[k]

    def _store(self, step: Store) -> None:
        """A group of output entries; four columns are transposed and stored together."""
        e = self.e
        rows = self._row_pointers(f"o{step.port}")
        values = [self._value(k) for k in step.nodes]
        if len(values) != 4 or self.host.width not in (4, 8):
            for i, value in enumerate(values):
                for lane, row in enumerate(rows):
                    e.line(f"store double {e.lane(value, lane)}, ptr {self._entry(row, step.start + i)}, align 8")
            return
        for row, columns in zip(rows, self._transposed_out(values), strict=True):
            e.line(f"store <4 x double> {columns}, ptr {self._entry(row, step.start)}, align 8")

    def _entry(self, row: str, index: int) -> str:
        return row if index == 0 else self.e.let(f"getelementptr double, ptr {row}, i64 {index}")

    def _transposed_in(self, rows: list[str]) -> list[str]:
        """Four columns, one vector of samples each, from one <4 x double> a sample."""
        if self.host.width == 4:
            return _transpose4(self.e, rows)
        low, high = _transpose4(self.e, rows[:4]), _transpose4(self.e, rows[4:])
        return [_shuffle(self.e, 4, a, b, range(8)) for a, b in zip(low, high, strict=True)]

    def _transposed_out(self, columns: list[str]) -> list[str]:
        """One <4 x double> a sample from four columns."""
        if self.host.width == 4:
            return _transpose4(self.e, columns)
        low = [_shuffle(self.e, 8, c, "poison", range(4)) for c in columns]
        high = [_shuffle(self.e, 8, c, "poison", range(4, 8)) for c in columns]
        return _transpose4(self.e, low) + _transpose4(self.e, high)


def _shuffle(e: Emitter, width: int, a: str, b: str, lanes: range | tuple[int, ...]) -> str:
    mask = ", ".join(f"i32 {k}" for k in lanes)
    return e.let(f"shufflevector <{width} x double> {a}, <{width} x double> {b}, <{len(lanes)} x i32> <{mask}>")


def _transpose4(e: Emitter, r: list[str]) -> list[str]:
    """The transpose of a 4x4 block held in four vectors."""
    t = [_shuffle(e, 4, r[a], r[b], m) for a, b in ((0, 1), (2, 3)) for m in ((0, 4, 2, 6), (1, 5, 3, 7))]
    return [_shuffle(e, 4, t[a], t[b], m) for m in ((0, 1, 4, 5), (2, 3, 6, 7)) for a, b in ((0, 2), (1, 3))]


def _constants(host: Host, table: dict[str, int]) -> str:
    """The table of constants; not marked constant, or LLVM would see through it and broadcast again."""
    if not table:
        return ""
    kind = f"<{host.width} x double>"
    rows = ", ".join(f"{kind} <{', '.join([f'double {bits}'] * host.width)}>" for bits in table)
    return f"@constants = internal global [{len(table)} x {kind}] [{rows}], align 64"


# -- what calls the kernel ---------------------------------------------------------------------------------


def _kern(graph: Graph, host: Host, layout: Layout, chunks: int) -> str:
    """`kern`: the parts in order, with a scratch block between them."""
    call = signature(graph, names_only=True)
    lines = [f"  call void @part{k}({call}, ptr %scratch)" for k in range(chunks)]
    room = f"  %scratch = alloca [{max(layout.scratch_size, 1) * host.width} x double], align 64"
    head = f"define internal void @kern({signature(graph)}) noinline nounwind {{"
    return "\n".join([head, room, *lines, "  ret void", "}"])


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
