"""Formulas of small arms as SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from armdyn.errors import ArmdynError, MissingExtraError
from armdyn.trace.graphs.sums import Cube, Sum
from armdyn.trace.printers.explicit import Explicit, explicit
from armdyn.trace.program import Port
from armdyn.trace.traced import Subject

# Names that differ from ours.
FUNCTIONS = {"fabs": "Abs", "fmin": "Min", "fmax": "Max", "floor": "floor", "ceil": "ceiling", "pow": "Pow"}


def sympy_expression(
    function: Callable[..., Any],
    arm: Subject,
    *,
    symbols: Iterable[str] = (),
    inputs: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
) -> Any:
    """A traced function of a small arm as a SymPy expression, matrix or list of matrices.

    The symbols are `q1, qd1, ...`, and `m1, Ixx1, ...` for data that stay symbols. Needs the extra `sympy`.

    Parameters
    ----------
    function, arm, symbols, inputs, options
        As for `latex`.

    Returns
    -------
    sympy.Expr or sympy.Matrix
        A tuple of them if the function has several outputs; three axes give a list of matrices.
    """
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("sympy_expression needs SymPy", "sympy") from None
    formula = explicit("sympy_expression", function, arm, symbols, inputs, options)
    builder = _Builder(sympy, formula)
    pairs = zip(formula.outputs, formula.entries, strict=True)
    results = [builder.array([builder.sum(entry) for entry in entries], port) for port, entries in pairs]
    return tuple(results) if len(results) > 1 else results[0]


class _Builder:
    """Turns sums of products into SymPy expressions."""

    def __init__(self, sympy: Any, formula: Explicit) -> None:
        self.sympy, self.formula = sympy, formula

    def sum(self, total: Sum) -> Any:
        return self.sympy.Add(*(self._term(cube, c) for cube, c in total.items()))

    def array(self, entries: list[Any], port: Port) -> Any:
        if not port.shape:
            return entries[0]
        if len(port.shape) > 2:
            part = Port(port.name, port.shape[1:])
            return [self.array(entries[k : k + part.size], part) for k in range(0, port.size, part.size)]
        return self.sympy.Matrix(*(*port.shape, 1)[:2], entries)

    def _term(self, cube: Cube, coefficient: float) -> Any:
        whole = coefficient == int(coefficient)
        number = self.sympy.Integer(int(coefficient)) if whole else self.sympy.Float(coefficient)
        return self.sympy.Mul(number, *(self._literal(k) for k in cube))

    def _literal(self, k: int) -> Any:
        what = self.formula.network.literals[k]
        if what[0] == "input":
            name, number = self.formula.names[what[1]]
            return self.sympy.Symbol(f"{name}{'' if number is None else number}", real=True)
        if what[0] == "constant":
            return self.sympy.Float(what[1])
        op, sums = self.formula.network.calls[k]
        args = [self.sum(arg) for arg in sums]
        if op == "div":
            return args[0] / args[1]
        if op == "if_else_zero":
            return self.sympy.Piecewise((args[1], self.sympy.Ne(args[0], 0)), (0, True))
        function = getattr(self.sympy, FUNCTIONS.get(op, op), None)
        if function is None:
            cause = f"{self.formula.network.source.name} uses '{op}', which SymPy lacks"
            raise ArmdynError(cause, where="sympy_expression", names=(op,))
        return function(*args)
