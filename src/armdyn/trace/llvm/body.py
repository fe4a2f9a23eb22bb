"""LLVM text of a kernel's steps, for one vector of samples.

* lanes are samples: rows of the user's arrays are loaded and transposed in the kernel;
* lanes past the last sample read and write the last one, so that short batches need no second kernel.

The text stands in a function that knows, for every port, `%p<port>` (the row of the first lane) and
`%l<port>_<lane>` (the distance of the other lanes' rows, in bytes), and the block `%uniform`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.schedule import Call, Compute, Step, StoreStep, Trig, defined_by, read_by, trig_nodes
from armdyn.trace.llvm.emit import Emitter
from armdyn.trace.llvm.functions import is_large_angle, operation, sine_cosine
from armdyn.trace.llvm.layout import Layout
from armdyn.trace.llvm.processor import Host


def port_names(graph: Graph) -> list[str]:
    """Short names of all ports: i0, i1, ..., o0, ..."""
    return [f"i{k}" for k in range(len(graph.own_inputs))] + [f"o{k}" for k in range(len(graph.own_outputs))]


def port_arguments(ports: Iterable[str], place: str = "") -> str:
    """The ports of a call: where their rows are, and their strides."""
    return ", ".join(f"ptr %{place}{port}, i64 %s{port}" for port in ports)


def port_parameters(ports: Iterable[str], place: str = "") -> str:
    """The same of the function that is called."""
    return ", ".join(f"ptr noalias {'readonly ' * (port[0] == 'i')}%{place}{port}, i64 %s{port}" for port in ports)


def lane_distances(e: Emitter, ports: Iterable[str], remaining: str) -> None:
    """Define `%l<port>_<lane>`, from the strides `%s<port>`; lanes past the last of `remaining` samples fall on it."""
    if e.host.width == 1:
        return
    last = e.let(f"sub i64 {remaining}, 1")
    lanes = []
    for k in range(1, e.host.width):
        inside = e.let(f"icmp slt i64 {k}, {remaining}")
        lanes.append(e.let(f"select i1 {inside}, i64 {k}, i64 {last}"))
    for port in ports:
        for k, lane in enumerate(lanes, 1):
            e.line(f"%l{port}_{k} = mul i64 {lane}, %s{port}")


def address_stack_shortly(e: Emitter) -> None:
    """Let spilled values be addressed through a register other than the stack pointer, which takes a byte more.

    Long kernels are bound by how fast instructions are fetched and decoded. LLVM takes another register where the
    stack holds something of a size that it cannot foresee: one word and as many as the first bit of an address, none.
    """
    if sys.platform == "win32":  # that size would be checked by a function of the C compiler
        return
    address = e.let("ptrtoint ptr %uniform to i64")
    words = e.let(f"add i64 1, {e.let(f'lshr i64 {address}, 63')}")
    e.line(f"store volatile i64 0, ptr {e.let(f'alloca i64, i64 {words}')}")


def load_ports(e: Emitter, ports: Iterable[str], *tables: tuple[str, str, str]) -> None:
    """Define `%<short><port>` from each table, given as its short name, name and type of entries."""
    for k, port in enumerate(ports):
        for short, table, kind in tables:
            e.line(f"%at_{table}{port} = getelementptr {kind}, ptr %{table}, i64 {k}")
            e.line(f"%{short}{port} = load {kind}, ptr %at_{table}{port}")


def uniform_block(e: Emitter, layout: Layout, shared: frozenset[int]) -> None:
    """Make `%uniform` of what all samples share."""
    e.line(f"%uniform = alloca [{max(len(layout.uniform), 1) * e.host.width} x double], align 64")
    e.line(f"call void @prepare({', '.join([*(f'ptr %i{p}' for p in sorted(shared)), 'ptr %uniform'])})")


class KernelBody:
    """Emits steps of a graph; values that cross from one function into another stand in the block `%scratch`."""

    def __init__(self, e: Emitter, graph: Graph, layout: Layout) -> None:
        self.e, self.graph, self.layout = e, graph, layout
        self.values: dict[int, str] = {}
        self.rows: dict[str, list[str]] = {}
        self.blocks = 0
        self.trig = trig_nodes(graph)

    def run(self, steps: list[Step], ahead: list[str] | None = None) -> None:
        """Emit the steps in order, and about evenly between them the texts `ahead`, which may hold blocks."""
        waiting = list(ahead or [])
        every = len(steps) // len(waiting) if waiting else 0
        borders = self._borders(steps) if waiting else set()
        due = every
        for at, step in enumerate(steps, 1):
            if isinstance(step, Compute):
                self._compute(step)
            elif isinstance(step, Trig):
                self._trig(step)
            elif isinstance(step, Call):
                self._call(step)
            else:
                self._store(step)
            for k in defined_by(self.trig, step):
                if k in self.layout.scratch:
                    slot = self._slot("%scratch", self.layout.scratch[k])
                    self.e.line(f"store {self.e.T} {self.values[k]}, ptr {slot}, align 8")
            if waiting and at >= due and at in borders:
                self.e.line(waiting.pop(0))
                due += every
        for text in waiting:
            self.e.line(text)

    def _borders(self, steps: list[Step]) -> set[int]:
        """After how many steps a block may end: LLVM does not see that a product in another block is for one sum only.

        Results would otherwise change in their last bits with what stands between the steps.
        """
        uses, products, borders = self.graph.uses(), set[int](), set[int]()
        for at, step in enumerate(steps, 1):
            products -= set(read_by(self.graph, step))
            defined = defined_by(self.trig, step)
            products |= {k for k in defined if self.graph.nodes[k].op == "mul" and uses[k] == 1}
            if not products:
                borders.add(at)
        return borders

    # -- values ---------------------------------------------------------------------------------------

    def _value(self, k: int) -> str:
        if k in self.values:
            return self.values[k]
        node = self.graph.nodes[k]
        if node.op == "const":
            return self.e.constant(node.value)
        if k in self.layout.uniform:  # loaded at every use: the load becomes an operand of its reader
            return self._load(self._slot("%uniform", self.layout.uniform[k]))
        if k in self.layout.scratch:  # results of the stage too, which are inputs to the graph
            self.values[k] = self._load(self._slot("%scratch", self.layout.scratch[k]))
            return self.values[k]
        if node.op == "input":
            port, index = node.value
            if port >= len(self.graph.own_inputs):  # of the stage, in which this stands
                self.values[k] = self._load(self._slot("%given", index))
                return self.values[k]
            return self._input(port, index, k)
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
        near = self._sines(angles)
        e.line(f"br label %angles{tag}")
        e.label(f"angles{tag}")
        for angle, slow, fast in zip(step.angles, far, near, strict=True):
            for k in self.trig.get(angle, ()):
                i = 0 if self.graph.nodes[k].op == "sin" else 1
                self.values[k] = e.let(f"phi {e.T} [ {slow[i]}, %large{tag} ], [ {fast[i]}, %near{tag} ]")

    def _sines(self, angles: list[str]) -> list[tuple[str, str]]:
        """Sine and cosine of each angle; without lanes, those of several angles in one vector."""
        e, pack = self.e, self.e.host.pack
        if pack == 1:
            return [sine_cosine(e, x) for x in angles]
        wide = e.with_width(pack)
        pairs: list[tuple[str, str]] = []
        for first in range(0, len(angles), pack):
            some = angles[first : first + pack]
            both = sine_cosine(wide, wide.from_lanes([*some, *some[-1:] * (pack - len(some))]))
            pairs += [(wide.lane(both[0], k), wide.lane(both[1], k)) for k in range(len(some))]
        return pairs

    # -- the stage ------------------------------------------------------------------------------------

    def _call(self, step: Call) -> None:
        """Evaluate the stage; arguments and results stand in blocks of their own."""
        e = self.e
        for place, k in enumerate(step.arguments):
            e.line(f"store {e.T} {self._value(k)}, ptr {self._slot('%given', place)}, align 8")
        e.line("call void @stage(ptr %given, ptr %made, ptr %uniform)")
        for k, place in step.results:
            self.values[k] = self._load(self._slot("%made", place))

    def results(self, nodes: list[int]) -> None:
        """Put the results of the stage, in which this stands, into their block."""
        for place, k in enumerate(nodes):
            value = self._value(k)
            self.e.line(f"store {self.e.T} {value}, ptr {self._slot('%made', place)}, align 8")

    # -- memory ---------------------------------------------------------------------------------------

    def _row_pointers(self, port: str) -> list[str]:
        """One pointer per lane."""
        if port not in self.rows:
            others = range(1, self.e.host.width)
            self.rows[port] = [
                f"%p{port}",
                *(self.e.let(f"getelementptr i8, ptr %p{port}, i64 %l{port}_{k}") for k in others),
            ]
        return self.rows[port]

    def _input(self, port: int, index: int, k: int) -> str:
        """An input entry; pairs of columns are loaded and transposed together."""
        e, size = self.e, self.graph.inputs[port].size
        rows = self._row_pointers(f"i{port}")
        if e.host.width not in (4, 8) or size < 2:
            lanes = [e.let(f"load double, ptr {self._entry(row, index)}, align 8") for row in rows]
            self.values[k] = e.from_lanes(lanes)
            return self.values[k]
        start = min(index - index % 2, size - 2)
        loaded = [e.let(f"load <2 x double>, ptr {self._entry(row, start)}, align 8") for row in rows]
        for i, column in enumerate(_pair_of_columns(e, loaded)):
            node = self.graph.input_node(port, start + i)
            if node is not None:
                self.values.setdefault(node, column)
        return self.values[k]

    def _store(self, step: StoreStep) -> None:
        """A group of output entries; four columns are transposed and stored together."""
        e = self.e
        rows = self._row_pointers(f"o{step.port}")
        values = [self._value(k) for k in step.nodes]
        if len(values) != 4 or e.host.width not in (4, 8):
            for i, value in enumerate(values):
                for lane, row in enumerate(rows):
                    e.line(f"store double {e.lane(value, lane)}, ptr {self._entry(row, step.start + i)}, align 8")
            return
        for row, columns in zip(rows, _rows_of_four(e, values), strict=True):
            e.line(f"store <4 x double> {columns}, ptr {self._entry(row, step.start)}, align 8")

    def _entry(self, row: str, index: int) -> str:
        return row if index == 0 else self.e.let(f"getelementptr double, ptr {row}, i64 {index}")


def _pair_of_columns(e: Emitter, rows: list[str]) -> list[str]:
    """Two columns, one vector of samples each, from one <2 x double> per sample.

    Halves of a register are loaded from two rows, which saves shuffling across the halves.
    """
    columns = []
    for first in range(0, len(rows), 4):
        even = _shuffle(e, 2, rows[first], rows[first + 2], range(4))
        odd = _shuffle(e, 2, rows[first + 1], rows[first + 3], range(4))
        columns.append([_shuffle(e, 4, even, odd, m) for m in ((0, 4, 2, 6), (1, 5, 3, 7))])
    if len(columns) == 1:
        return columns[0]
    return [_shuffle(e, 4, a, b, range(8)) for a, b in zip(*columns, strict=True)]


def _rows_of_four(e: Emitter, columns: list[str]) -> list[str]:
    """One <4 x double> per sample from four columns."""
    if e.host.width == 4:
        return _transpose4(e, columns)
    low = [_shuffle(e, 8, c, "poison", range(4)) for c in columns]
    high = [_shuffle(e, 8, c, "poison", range(4, 8)) for c in columns]
    return _transpose4(e, low) + _transpose4(e, high)


def _shuffle(e: Emitter, width: int, a: str, b: str, lanes: range | tuple[int, ...]) -> str:
    mask = ", ".join(f"i32 {k}" for k in lanes)
    return e.let(f"shufflevector <{width} x double> {a}, <{width} x double> {b}, <{len(lanes)} x i32> <{mask}>")


def _transpose4(e: Emitter, r: list[str]) -> list[str]:
    """The transpose of a 4x4 block held in four vectors."""
    t = [_shuffle(e, 4, r[a], r[b], m) for a, b in ((0, 1), (2, 3)) for m in ((0, 4, 2, 6), (1, 5, 3, 7))]
    return [_shuffle(e, 4, t[a], t[b], m) for m in ((0, 1, 4, 5), (2, 3, 6, 7)) for a, b in ((0, 2), (1, 3))]


# -- parts of a large body ----------------------------------------------------------------------------------


def body_text(
    e: Emitter, graph: Graph, layout: Layout, parts: list[list[Step]], remaining: str, ahead: list[str] | None = None
) -> None:
    """Emit the whole body: its steps with the lines `ahead` between them, or calls of the parts it is split into."""
    if len(parts) == 1:
        KernelBody(e, graph, layout).run(parts[0], ahead)
        return
    words = port_arguments(port_names(graph), "p")
    for k in range(len(parts)):
        e.line(f"call void @part{k}({words}, ptr %uniform, ptr %scratch, i64 {remaining})")


def scratch(e: Emitter, layout: Layout, parts: list[list[Step]]) -> None:
    """Make room for the values that cross from one part into another."""
    if len(parts) > 1:
        e.line(f"%scratch = alloca [{max(layout.scratch_size, 1) * e.host.width} x double], align 64")


def stage_function(e: Emitter, graph: Graph, layout: Layout, steps: list[Step]) -> str:
    """The text of the stage, empty where the graph has none."""
    if graph.stage is None:
        return ""
    e.label("entry")
    address_stack_shortly(e)
    body = KernelBody(e, graph, Layout(layout.uniform))  # the scratch block belongs to the parts
    body.run(steps)
    body.results(graph.results[graph.stage.output])
    words = "ptr noalias readonly %given, ptr noalias %made, ptr noalias readonly %uniform"
    return "\n".join([f"define internal void @stage({words}) {e.host.attributes} {{", *e.lines, "  ret void", "}"])


def stage_blocks(e: Emitter, graph: Graph) -> None:
    """Make room for what the stage is given and for what it makes."""
    if graph.stage is not None:
        sizes = graph.inputs[graph.stage.input].size, graph.outputs[graph.stage.output].size
        for name, size in zip(("given", "made"), sizes, strict=True):
            e.line(f"%{name} = alloca [{size * e.host.width} x double], align 64")


def part_functions(
    graph: Graph, host: Host, layout: Layout, parts: list[list[Step]], declared: set[str], table: dict[str, int]
) -> list[str]:
    """The text of the functions that a large body is split into."""
    return [
        _part(Emitter(host, declared=declared, table=table), graph, layout, f"part{k}", steps)
        for k, steps in enumerate(parts)
        if len(parts) > 1
    ]


def _part(e: Emitter, graph: Graph, layout: Layout, name: str, steps: list[Step]) -> str:
    ports = port_names(graph)
    e.label("entry")
    address_stack_shortly(e)
    lane_distances(e, ports, "%remaining")
    if any(isinstance(step, Call) for step in steps):
        stage_blocks(e, graph)
    KernelBody(e, graph, layout).run(steps)
    words = f"{port_parameters(ports, 'p')}, ptr noalias readonly %uniform, ptr noalias %scratch, i64 %remaining"
    head = f"define internal void @{name}({words}) {e.host.attributes} {{"
    return "\n".join([head, *e.lines, "  ret void", "}"])
