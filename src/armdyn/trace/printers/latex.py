r"""Formulas of small arms as LaTeX: `armdyn.latex(armdyn.mass_matrix, armdyn.arms.planar2())`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.trace.graphs.sums import Cube, Sum
from armdyn.trace.printers.explicit import Explicit, explicit
from armdyn.trace.program import Port
from armdyn.trace.traced import Subject

GREEK = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega"
MAX_CHARACTERS = 20_000  # characters of one function and its arguments
RATES = ("qd", "qdd")
NAMES = {name: rf"\{name}" for name in GREEK.split()} | {"qd": r"\dot{q}", "qdd": r"\ddot{q}", "lam": r"\lambda"}
FUNCTIONS = {
    **{name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
    "log": r"\ln",
}


def latex(
    function: Callable[..., Any],
    arm: Subject,
    *,
    symbols: Iterable[str] = (),
    inputs: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    digits: int = 4,
    output: str | None = None,
) -> str:
    r"""A traced function of a small arm, written out as LaTeX.

    Sines and cosines of parallel axes are merged; `c_{12}` means `\cos(q_1 + q_2)`.

    Parameters
    ----------
    function : traced function
        Such as `armdyn.mass_matrix`.
    arm : Arm
    symbols : sequence of str
        Data of the arm that stay symbols where they are not zero, such as `"theta"` or `"gravity"`.
    inputs : sequence of str
        Optional inputs to include, such as `"wrench"`.
    options : dict, optional
        Values of the function's options.
    digits : int
        Significant digits of numbers.
    output : str, optional
        The only output to print, of a function that has several, such as `"K"` of `armdyn.linearize`.

    Returns
    -------
    str
        One equation per output, each on a line of its own.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> "c_{12}" in armdyn.latex(armdyn.gravity_torque, arm)  # cos(q1 + q2)
    True
    """
    return LatexPrinter(explicit("latex", function, arm, symbols, inputs, options), digits).text(output)


class LatexPrinter:
    """Prints the sums of an explicit formula."""

    def __init__(self, formula: Explicit, digits: int) -> None:
        self.formula, self.network, self.digits = formula, formula.network, digits
        angles = {port for turn in self.network.turns.values() for port in self._ports(dict(turn.angle))}
        self.short = len(angles) <= 1  # c_{12} says which angles only if all are of one input
        self._known: dict[int, str] = {}

    def text(self, output: str | None = None) -> str:
        """All outputs, or one."""
        names = [port.name for port in self.formula.outputs]
        if output is not None and output not in names:
            expected = f"one of {', '.join(names)}"
            raise ArmdynError(f"no output '{output}'", where="latex", expected=expected, names=(output,))
        pairs = zip(self.formula.outputs, self.formula.entries, strict=True)
        return "\n".join(self._equation(port, entries) for port, entries in pairs if output in (None, port.name))

    def _equation(self, port: Port, entries: list[Sum]) -> str:
        texts = [self.sum(entry) for entry in entries]
        return f"{symbol(port.name)} = {_array(texts, port.shape)}"

    # -- sums and products ----------------------------------------------------------------------------

    def sum(self, total: Sum) -> str:
        """Terms with their signs, those with few factors first."""
        if not total:
            return "0"
        terms = [self._term(cube, total[cube]) for cube in sorted(total, key=self._rank)]
        text = "".join(f" {'-' if negative else '+'} {term}" for negative, term in terms)
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def _rank(self, cube: Cube) -> tuple[Any, ...]:
        return len(cube), sorted(self._order(k) for k in cube)

    def _term(self, cube: Cube, coefficient: float) -> tuple[bool, str]:
        factors = [self._power(k, cube.count(k)) for k in sorted(set(cube), key=self._order)]
        number = self.number(abs(coefficient))
        if number != "1" or not factors:
            factors.insert(0, number)
        return coefficient < 0, r" \, ".join(factors)

    def _order(self, k: int) -> tuple[int, list[int], str]:
        """Parameters and positions, then sines and cosines by their angles, then rates, then other functions."""
        what = self.network.literals[k]
        if what[0] == "input":
            name, number = self.formula.names[what[1]]
            return (2 if name in RATES else 0), [number or 0], name
        if k in self.network.turns:
            indices = self._indices(dict(self.network.turns[k].angle))
            return 1, [int(number) for number in re.findall(r"\d+", indices)], self._literal(k)
        return 3, [], self._literal(k)

    def _power(self, k: int, n: int) -> str:
        base = self._literal(k)
        if n == 1:
            return base
        simple = re.fullmatch(r"\\?\w+(\{\w+\})?(_\{[^}]*\})?", base)
        return f"{base}^{n}" if simple else rf"\left({base}\right)^{n}"

    def number(self, value: float) -> str:
        """A number with few digits: `0.25`, `1.2 \\cdot 10^{-5}`."""
        text = f"{value:.{self.digits}g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
        return text

    # -- literals -------------------------------------------------------------------------------------

    def _literal(self, k: int) -> str:
        """A literal's text; each is made once, for others may hold it many times over."""
        if k not in self._known:
            text = self._write_literal(k)
            if len(text) > MAX_CHARACTERS:
                cause = "the formula nests functions too deeply to be read"
                raise ArmdynError(cause, where="latex", remedy="take c_code for code")
            self._known[k] = text
        return self._known[k]

    def _write_literal(self, k: int) -> str:
        what = self.network.literals[k]
        if what[0] == "input":
            return symbol(*self.formula.names[what[1]])
        if what[0] == "constant":
            return rf"\mathrm{{{what[1]}}}"
        op, args = self.network.calls[k]
        if op in ("sin", "cos") and (indices := self._indices(args[0])):
            return f"{op[0]}_{{{indices}}}"
        texts = [self.sum(arg) for arg in args]
        if op == "div":
            return rf"\frac{{{texts[0]}}}{{{texts[1]}}}"
        if op == "sqrt":
            return rf"\sqrt{{{texts[0]}}}"
        if op == "fabs":
            return rf"\left|{texts[0]}\right|"
        name = FUNCTIONS.get(op, rf"\operatorname{{{op.replace('_', ' ')}}}")
        return rf"{name}\left({', '.join(texts)}\right)"

    def _ports(self, angle: Sum) -> set[int]:
        literals = [self.network.literals[k] for cube in angle for k in cube]
        return {what[1][0] for what in literals if what[0] == "input"}

    def _indices(self, angle: Sum) -> str:
        """`12` for the sum of the first two angles, `1-2` for their difference; empty for other angles."""
        if not self.short or any(abs(c) != 1 or len(cube) != 1 for cube, c in angle.items()):
            return ""
        entries = []
        for (k,), c in angle.items():
            what = self.network.literals[k]
            number = self.formula.names[what[1]][1] if what[0] == "input" else None
            if number is None:
                return ""
            entries.append((number, c))
        gap = "," if any(number > 9 for number, _ in entries) else ""
        first, *others = sorted(entries, key=lambda entry: (entry[1] < 0, entry[0]))
        return f"{'' if first[1] > 0 else '-'}{first[0]}" + "".join(
            f"{gap if c > 0 else '-'}{number}" for number, c in others
        )


def symbol(name: str, number: int | None = None) -> str:
    r"""`I_{xx2}` for Ixx and 2, `\dot{q}_{1}` for qd and 1, `q_{\mathrm{ref}, 1}` for q_ref and 1, `\mathrm{pose}`."""
    below = "" if number is None else str(number)
    stem, _, more = name.partition("_")
    if more and (stem in NAMES or len(stem) == 1):
        name, below = stem, ", ".join(filter(None, (rf"\mathrm{{{more}}}".replace("_", r"\_"), below)))
    if re.fullmatch(r"[A-Za-z][xyz]{1,2}|k[pdi]", name):
        name, below = name[0], name[1:] + below
    if name not in NAMES and len(name) > 1:
        name = rf"\mathrm{{{name}}}".replace("_", r"\_")
    return NAMES.get(name, name) + (f"_{{{below}}}" if below else "")


def _array(texts: list[str], shape: tuple[int, ...]) -> str:
    """Entries in C order as a column, a matrix, or a list of matrices."""
    if not shape:
        return texts[0]
    if len(shape) > 2:
        step = len(texts) // shape[0] if shape[0] else 0
        parts = [_array(texts[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]
        return r" \quad ".join(parts)
    width = shape[1] if len(shape) == 2 else 1
    rows = [" & ".join(texts[k : k + width]) for k in range(0, len(texts), width or 1)]
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"
