"""Derivatives inside formulas, whose arguments may be expressions and not plain symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armdyn.trace.symbols import ca


def on_symbols(formula: Callable[..., Sequence[Any]], *values: Any) -> list[Any]:
    """`formula(*values)`, computed on fresh symbols so that it may differentiate by its arguments."""
    symbols = [ca.SX.sym(f"x{k}", *value.shape) for k, value in enumerate(values)]
    return list(ca.substitute(list(formula(*symbols)), symbols, list(values)))
