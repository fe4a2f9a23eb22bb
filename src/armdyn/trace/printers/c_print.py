"""A graph as the text of a C99 function."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.program import Port

# Lines of expressions are not made longer than this.
WIDTH = 100


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# C functions of the same name in math.h.
MATH = _words(
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log log1p expm1 sqrt floor ceil "
    "fmod fabs copysign erf fmin fmax pow hypot remainder"
)
# Words of C, of C++ and of math.h that no argument may be called.
RESERVED_WORDS = MATH | _words(
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile "
    "while asm bool true false class new delete this template operator private public protected virtual friend "
    "namespace using try catch throw gamma lgamma y0 y1 yn j0 j1 jn main"
)
INFIX = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2)}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
LOGIC = {"and": "&&", "or": "||"}
ATOM = 3  # binds more tightly than every operator


class Text(NamedTuple):
    """An expression and how tightly its outermost operator binds."""

    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """The text where an operator of this level needs it, in brackets if it binds less."""
        return self.text if self.level >= level else f"({self.text})"


class Names(NamedTuple):
    """Names of a function's ports in C."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def c_names(inputs: Sequence[Port], outputs: Sequence[Port]) -> Names:
    """C identifiers for ports, all different, none of them taken by the language or by `math.h`."""
    used: set[str] = set()

    def fresh(name: str, suffix: str) -> str:
        name = identifier(name)
        while name in used or name in RESERVED_WORDS or re.fullmatch(r"t\d+|(sin|cos)_\w+", name):
            name += suffix
        used.add(name)
        return name

    return Names(tuple(fresh(p.name, "_") for p in inputs), tuple(fresh(p.name, "_out") for p in outputs))


def identifier(name: str) -> str:
    """A C identifier as near to a name as possible."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return name if re.match(r"[A-Za-z]", name) else f"x{name}"


def arguments(graph: Graph, names: Names, dtype: str) -> str:
    """The parameter list: arrays in C order, single numbers that are read by value."""
    parts = [
        f"const {dtype} {name}[{port.size}]" if port.shape else f"{dtype} {name}"
        for name, port in zip(names.inputs, graph.inputs, strict=True)
        if port.size
    ]
    parts += [
        f"{dtype} {name}[{port.size}]" for name, port in zip(names.outputs, graph.outputs, strict=True) if port.size
    ]
    return ", ".join(parts) or "void"


def number(value: float, dtype: str) -> str:
    """A constant of the given type that reads back as the same number."""
    if dtype == "float":
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value) if dtype == "double" else f"{np.float32(value)!s}"
    return text if dtype == "double" else f"{text}f"


class FunctionPrinter:
    """Prints one graph; statements are in evaluation order and outputs are stored last.

    So an output array may be the same as an input array.
    """

    def __init__(self, graph: Graph, names: Names, dtype: str, sign: str) -> None:
        self.graph, self.names, self.dtype, self.sign = graph, names, dtype, sign
        self.texts: list[Text] = []
        self.lines: list[str] = []

    def body(self) -> list[str]:
        """The statements of the function."""
        read = {node.value[0] for node in self.graph.nodes if node.op == "input"}
        for port, name in enumerate(self.names.inputs):
            if port not in read and self.graph.inputs[port].size:
                self.lines.append(f"(void){name};")
        uses = self.graph.uses()
        results = {k for column in self.graph.results for k in column}
        for k in range(len(self.graph.nodes)):
            self._node(k, uses[k], k in results)
        for name, column in zip(self.names.outputs, self.graph.results, strict=True):
            self.lines += [f"{name}[{i}] = {self.texts[k].text};" for i, k in enumerate(column)]
        return self.lines

    def _node(self, k: int, uses: int, is_result: bool) -> None:
        node = self.graph.nodes[k]
        text = self._expression(k)
        keep = node.op == "const" or (node.op == "input" and not is_result)
        inline = node.op in (*INFIX, "neg") and uses == 1 and len(text.text) < WIDTH // 2
        if not keep and (is_result or not inline):
            name = self._name(k)
            self.lines.append(f"const {self.dtype} {name} = {text.text};")
            text = Text(name)
        self.texts.append(text)

    def _name(self, k: int) -> str:
        """`sin_q2` for the sine of q[2], else a number."""
        node = self.graph.nodes[k]
        if node.op in ("sin", "cos") and self.graph.nodes[node.args[0]].op == "input":
            port, index = self.graph.nodes[node.args[0]].value
            return f"{node.op}_{self.names.inputs[port]}{index}"
        return f"t{k}"

    def _expression(self, k: int) -> Text:
        op, args, value = self.graph.nodes[k]
        if op == "const":
            return Text(number(value, self.dtype), ATOM if value >= 0 else 2)
        if op == "input":
            port, index = value
            name = self.names.inputs[port]
            return Text(f"{name}[{index}]" if self.graph.inputs[port].shape else name)
        operands = [self.texts[a] for a in args]
        if op in INFIX:
            symbol, level = INFIX[op]
            left, right = operands[0].within(level), operands[1].within(level + 1)
            return Text(f"{left} {symbol} {right}" if level == 1 else f"{left}{symbol}{right}", level)
        if op == "neg":
            return Text(f"-{operands[0].within(ATOM)}", 2)
        return self._call(op, operands)

    def _call(self, op: str, operands: list[Text]) -> Text:
        suffix = "f" if self.dtype == "float" else ""
        if op in MATH:
            return Text(f"{op}{suffix}({', '.join(x.text for x in operands)})")
        if op == "sign":
            return Text(f"{self.sign}({operands[0].text})")
        zero, one = number(0.0, self.dtype), number(1.0, self.dtype)
        tight = [x.within(ATOM) for x in operands]
        if op in COMPARISONS:
            return Text(f"({tight[0]} {COMPARISONS[op]} {tight[1]}) ? {one} : {zero}", 0)
        if op in LOGIC:
            both = f" {LOGIC[op]} ".join(f"({x} != {zero})" for x in tight)
            return Text(f"({both}) ? {one} : {zero}", 0)
        if op == "not":
            return Text(f"({tight[0]} != {zero}) ? {zero} : {one}", 0)
        if op == "if_else_zero":
            return Text(f"({tight[0]} != {zero}) ? {tight[1]} : {zero}", 0)
        raise ValueError(f"{self.graph.name}: operation '{op}' has no C form")


def sign_function(name: str, dtype: str) -> list[str]:
    """A function that C lacks: -1, 0 or 1, and NaN for NaN."""
    zero, one = number(0.0, dtype), number(1.0, dtype)
    return [
        f"static {dtype} {name}({dtype} x)",
        "{",
        f"    return x > {zero} ? {one} : x < {zero} ? -{one} : x;",
        "}",
    ]


def comment(lines: Iterable[str]) -> list[str]:
    """A block comment of plain ASCII that nothing in the text can end."""
    plain = [_ascii(line).replace("*/", "* /").replace("/*", "/ *").rstrip() for line in lines]
    return ["/*", *(f" * {line}".rstrip() for line in plain), " */"]


def _ascii(line: str) -> str:
    for sign, text in {"²": "^2", "³": "^3", "·": "*", "±": "+-", "≤": "<=", "≥": ">=", "°": " deg"}.items():
        line = line.replace(sign, text)
    return line.encode("ascii", "replace").decode()
