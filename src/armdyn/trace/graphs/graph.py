"""A program as a flat graph: what native lowering and the C printer read.

Nodes are in evaluation order, each computed once (equal subexpressions are one node), constants folded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from armdyn.trace.program import Port, Program
from armdyn.trace.symbols import ca


class Node(NamedTuple):
    """An operation on earlier nodes; `value` is a constant's number or an input's (port, index)."""

    op: str
    args: tuple[int, ...] = ()
    value: Any = None


COMMUTATIVE = {"add", "mul", "fmin", "fmax", "eq", "ne", "and", "or", "hypot"}


class Stage(NamedTuple):
    """A part that is evaluated `calls` times, and where its ports begin behind those of the graph.

    Inputs are what the stage reads, then the results of each call; outputs the results, then what each call gives.
    """

    input: int
    output: int
    calls: int


@dataclass
class Graph:
    """Nodes and, for every output, the nodes that hold its entries in C order."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    nodes: list[Node] = field(default_factory=list)
    results: list[list[int]] = field(default_factory=list)
    stage: Stage | None = None
    _known: dict[Node, int] = field(default_factory=dict, repr=False)

    def add(self, op: str, *args: int, value: Any = None) -> int:
        """The index of the node `op(args)`, simplified, and shared if it exists already."""
        simple = self._simplify(op, args)
        if simple is not None:
            return simple
        if op in COMMUTATIVE and args[0] > args[1]:
            args = args[::-1]
        node = Node(op, args, value)
        index = self._known.get(node)
        if index is None:
            index = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return index

    def constant(self, value: float) -> int:
        """The node of a number (0.0 and -0.0 are one constant)."""
        return self.add("const", value=float(value) + 0.0)

    def is_constant(self, index: int, value: float) -> bool:
        """Whether a node is the given number."""
        node = self.nodes[index]
        return node.op == "const" and node.value == value

    def _simplify(self, op: str, args: tuple[int, ...]) -> int | None:
        """An existing node that `op(args)` equals whatever its inputs, if there is one."""
        if not args:
            return None
        values = [self.nodes[a].value for a in args if self.nodes[a].op == "const"]
        if len(values) == len(args) and op in FOLDABLE:
            return self.constant(FOLDABLE[op](*values))
        if op == "neg" and self.nodes[args[0]].op == "neg":
            return self.nodes[args[0]].args[0]
        if not values:
            return None
        return self._simplify_with_constant(op, *args) if op in ("add", "sub", "mul", "div") else None

    def _simplify_with_constant(self, op: str, a: int, b: int) -> int | None:
        """x + 0, x - 0, 0 - x, x * 1, x * -1, x * 0, x / 1."""
        for x, other in ((a, b), (b, a)) if op in ("add", "mul") else ((a, b),):
            if op in ("add", "sub") and self.is_constant(other, 0.0):
                return x
            if op in ("mul", "div") and self.is_constant(other, 1.0):
                return x
            if op == "mul" and self.is_constant(other, 0.0):
                return other
            if op in ("mul", "div") and self.is_constant(other, -1.0):
                return self.add("neg", x)
        if op == "sub" and self.is_constant(a, 0.0):
            return self.add("neg", b)
        return None

    def input_node(self, port: int, index: int) -> int | None:
        """The node of an input entry, if the graph reads it."""
        return self._known.get(Node("input", (), (port, index)))

    @property
    def own_inputs(self) -> tuple[Port, ...]:
        """The inputs without those of the stage."""
        return self.inputs[: self.stage.input] if self.stage else self.inputs

    @property
    def own_outputs(self) -> tuple[Port, ...]:
        """The outputs without those of the stage."""
        return self.outputs[: self.stage.output] if self.stage else self.outputs

    def uses(self) -> list[int]:
        """Count how often each node is read, by other nodes or as an output."""
        count = [0] * len(self.nodes)
        for node in self.nodes:
            for a in node.args:
                count[a] += 1
        for column in self.results:
            for k in column:
                count[k] += 1
        return count

    def pruned(self) -> Graph:
        """The same graph without nodes that no output needs, in the same order."""
        needed = [False] * len(self.nodes)
        for column in self.results:
            for k in column:
                needed[k] = True
        for k in range(len(self.nodes) - 1, -1, -1):
            if needed[k]:
                for a in self.nodes[k].args:
                    needed[a] = True
        graph = Graph(self.name, self.inputs, self.outputs, stage=self.stage)
        place: dict[int, int] = {}
        for k, node in enumerate(self.nodes):
            if needed[k]:
                place[k] = len(graph.nodes)
                graph.nodes.append(Node(node.op, tuple(place[a] for a in node.args), node.value))
        graph._known = {node: k for k, node in enumerate(graph.nodes)}
        graph.results = [[place[k] for k in column] for column in self.results]
        return graph


FOLDABLE: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "div": lambda a, b: (
        a / b if b else math.nan if not a or math.isnan(a) else math.copysign(math.inf, a * math.copysign(1, b))
    ),
    "sin": lambda a: math.sin(a) if math.isfinite(a) else math.nan,
    "cos": lambda a: math.cos(a) if math.isfinite(a) else math.nan,
}

# Operations of one or two arguments that mean the same here as in CasADi.
SAME = (
    "add", "sub", "mul", "div", "neg", "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fmod", "fabs", "sign", "copysign", "erf",
    "fmin", "fmax", "pow", "lt", "le", "eq", "ne", "not", "and", "or", "if_else_zero", "log1p", "expm1", "hypot",
    "remainder",
)  # fmt: skip


@cache
def _opcodes() -> dict[int, str]:
    """CasADi's operation codes by our names; powers with constant exponents are powers."""
    codes = {getattr(ca, f"OP_{name.upper()}"): name for name in SAME}
    codes[ca.OP_CONSTPOW] = "pow"
    return codes


def graph_of(program: Program) -> Graph:
    """The graph of a traced program."""
    return graph_of_function(program.function, program.inputs, program.outputs)


def graph_of_function(f: Any, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Graph:
    """The graph of a CasADi function over flat vectors."""
    graph = Graph(f.name(), inputs, outputs)
    graph.results = [[-1] * port.size for port in outputs]
    work: dict[int, int] = {}  # CasADi reuses its work slots: slot -> node now in it
    codes = _opcodes()
    for k in range(f.n_instructions()):
        op, out = f.instruction_id(k), f.instruction_output(k)
        if op == ca.OP_CONST:
            work[out[0]] = graph.constant(f.instruction_constant(k))
            continue
        ins = f.instruction_input(k)
        if op == ca.OP_INPUT:
            work[out[0]] = graph.add("input", value=(ins[0], ins[1]))
        elif op == ca.OP_OUTPUT:
            graph.results[out[0]][out[1]] = work[ins[0]]
        else:
            work[out[0]] = _operation(graph, op, [work[i] for i in ins], codes)
    return graph.pruned()


def _operation(graph: Graph, op: int, args: Sequence[int], codes: dict[int, str]) -> int:
    """One CasADi instruction as a node."""
    if op == ca.OP_SQ:
        return graph.add("mul", args[0], args[0])
    if op == ca.OP_TWICE:
        return graph.add("add", args[0], args[0])
    if op == ca.OP_INV:
        return graph.add("div", graph.constant(1.0), args[0])
    if op == ca.OP_ASSIGN:
        return args[0]
    if op not in codes:
        raise ValueError(f"{graph.name}: CasADi operation {op} has no native form")
    return graph.add(codes[op], *args)


class Counts(NamedTuple):
    """Operations of one evaluation; squares are multiplications, doublings additions, negations free."""

    multiplications: int
    additions: int
    divisions: int
    sincos: int  # distinct angles of which a sine, a cosine or both are taken
    calls: int  # every other function, comparison or selection

    def __str__(self) -> str:
        words = ("multiplications", "additions", "divisions", "sin/cos pairs", "other calls")
        parts = [f"{count} {what}" for count, what in zip(self, words, strict=True) if count]
        return ", ".join(parts) or "no operations"


def count_operations(graph: Graph) -> Counts:
    """The operations of a graph; nodes that no output needs count too, so prune first."""
    ops = [node.op for node in graph.nodes]
    angles = {node.args for node in graph.nodes if node.op in ("sin", "cos")}
    known = ("const", "input", "neg", "mul", "add", "sub", "div", "sin", "cos")
    return Counts(
        ops.count("mul"),
        ops.count("add") + ops.count("sub"),
        ops.count("div"),
        len(angles),
        sum(op not in known for op in ops),
    )
