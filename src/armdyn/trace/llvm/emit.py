"""LLVM text for arithmetic on vectors whose lanes are samples."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from armdyn.trace.llvm.processor import Host


@dataclass
class Emitter:
    """Appends lines of one function; methods return the name of the value they computed."""

    host: Host
    lines: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)  # declarations that the module needs
    table: dict[str, int] | None = None  # constants kept in memory, whole vectors, by their bits
    numbers: Iterator[int] = field(default_factory=lambda: count(1))  # of the values' names

    def with_width(self, width: int) -> Emitter:
        """The same function, written to with so many lanes, and without a table of constants."""
        return replace(self, host=self.host._replace(width=width), table=None)

    # -- types and names ------------------------------------------------------------------------------

    def vector(self, scalar: str) -> str:
        """The type of one `scalar` a lane."""
        return scalar if self.host.width == 1 else f"<{self.host.width} x {scalar}>"

    @property
    def T(self) -> str:
        """Doubles, one per lane."""
        return self.vector("double")

    @property
    def mangled(self) -> str:
        """The suffix of overloaded intrinsics."""
        return "f64" if self.host.width == 1 else f"v{self.host.width}f64"

    def name(self) -> str:
        """A fresh value name."""
        return f"%v{next(self.numbers)}"

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def text(self, lines: str) -> None:
        """Append lines as they are."""
        self.lines.append(lines)

    def label(self, name: str) -> None:
        """Start a block."""
        self.lines.append(f"{name}:")

    def let(self, text: str) -> str:
        """Append an instruction with a result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    # -- constants ------------------------------------------------------------------------------------

    def constant(self, value: float) -> str:
        """A number in every lane, written by its bits.

        With a table it is a load of a whole vector, which becomes an operand of its reader, where LLVM
        would spend an instruction on broadcasting a scalar.
        """
        bits = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        if self.host.width == 1:
            return bits
        if self.table is None or value == 0.0:
            return f"splat (double {bits})"
        slot = self.table.setdefault(bits, len(self.table))
        at = f"getelementptr ({self.T}, ptr @constants, i64 {slot})"
        # Marked invariant, or LLVM would rather spill it to the stack than load it again.
        return self.let(f"load {self.T}, ptr {at}, align {8 * self.host.width}, !invariant.load !2")

    def integer(self, value: int) -> str:
        """A 64-bit integer in every lane."""
        return str(value) if self.host.width == 1 else f"splat (i64 {value})"

    # -- arithmetic -----------------------------------------------------------------------------------

    def binary(self, op: str, a: str, b: str, exact: bool = False) -> str:
        """`fadd`, `fsub`, `fmul`, `fdiv`; multiply-adds may be contracted unless `exact`."""
        flag = "" if exact or not self.host.fma else "contract "
        return self.let(f"{op} {flag}{self.T} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        """a + b, rounded as written."""
        return self.binary("fadd", a, b, exact=True)

    def sub(self, a: str, b: str) -> str:
        """a - b, rounded as written."""
        return self.binary("fsub", a, b, exact=True)

    def mul(self, a: str, b: str) -> str:
        """a * b, rounded as written."""
        return self.binary("fmul", a, b, exact=True)

    def div(self, a: str, b: str) -> str:
        """a / b."""
        return self.binary("fdiv", a, b, exact=True)

    def neg(self, a: str) -> str:
        """-a."""
        return self.let(f"fneg {self.T} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a * b + c, with one rounding where the host can."""
        if not self.host.fma:
            return self.add(self.mul(a, b), c)
        return self.intrinsic("fma", a, b, c)

    def intrinsic(self, function: str, *args: str) -> str:
        """An LLVM intrinsic over doubles, e.g. `sqrt`, `fabs`, `minnum`."""
        name = f"@llvm.{function}.{self.mangled}"
        self.declared.add(f"declare {self.T} {name}({', '.join([self.T] * len(args))})")
        return self.let(f"call {self.T} {name}({', '.join(f'{self.T} {a}' for a in args)})")

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """c0 + c1 x + c2 x² + ... by Horner's rule."""
        value = self.constant(coefficients[-1])
        for c in coefficients[-2::-1]:
            value = self.fma(x, value, self.constant(c))
        return value

    # -- bits and choices -----------------------------------------------------------------------------

    def bits(self, a: str) -> str:
        """The doubles' bits as integers."""
        return self.let(f"bitcast {self.T} {a} to {self.vector('i64')}")

    def doubles(self, a: str) -> str:
        """Integers' bits as doubles."""
        return self.let(f"bitcast {self.vector('i64')} {a} to {self.T}")

    def int_op(self, op: str, a: str, b: str) -> str:
        """An operation on 64-bit integers."""
        return self.let(f"{op} {self.vector('i64')} {a}, {b}")

    def compare(self, predicate: str, a: str, b: str) -> str:
        """A truth value per lane, e.g. with `olt`."""
        return self.let(f"fcmp {predicate} {self.T} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        """a where the condition holds, else b."""
        return self.let(f"select {self.vector('i1')} {condition}, {self.T} {a}, {self.T} {b}")

    def truth(self, condition: str) -> str:
        """1.0 where the condition holds, else 0.0."""
        return self.select(condition, self.constant(1.0), self.constant(0.0))

    def is_true(self, a: str) -> str:
        """Return the mask of numbers that are not zero (NaN counts as true, as in C)."""
        return self.compare("une", a, self.constant(0.0))

    def any_lane(self, condition: str) -> str:
        """One truth value: whether the condition holds in any lane."""
        if self.host.width == 1:
            return condition
        packed = self.let(f"bitcast {self.vector('i1')} {condition} to i{self.host.width}")
        return self.let(f"icmp ne i{self.host.width} {packed}, 0")

    # -- lanes ----------------------------------------------------------------------------------------

    def lane(self, a: str, k: int) -> str:
        """The double in lane k."""
        return a if self.host.width == 1 else self.let(f"extractelement {self.T} {a}, i64 {k}")

    def from_lanes(self, scalars: list[str]) -> str:
        """A vector from one double per lane."""
        if self.host.width == 1:
            return scalars[0]
        value = "poison"
        for k, s in enumerate(scalars):
            value = self.let(f"insertelement {self.T} {value}, double {s}, i64 {k}")
        return value

    def broadcast(self, scalar: str) -> str:
        """One double in every lane."""
        if self.host.width == 1:
            return scalar
        first = self.let(f"insertelement {self.T} poison, double {scalar}, i64 0")
        return self.let(f"shufflevector {self.T} {first}, {self.T} poison, <{self.host.width} x i32> zeroinitializer")

    def per_lane(self, function: str, *args: str) -> str:
        """A function of the C library, lane by lane."""
        self.declared.add(f"declare double @{function}({', '.join(['double'] * len(args))})")
        lanes = []
        for k in range(self.host.width):
            scalars = ", ".join(f"double {self.lane(a, k)}" for a in args)
            lanes.append(self.let(f"call double @{function}({scalars})"))
        return self.from_lanes(lanes)
