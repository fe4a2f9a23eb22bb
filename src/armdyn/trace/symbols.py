"""A thin lazy door to CasADi, so that a warm numeric run never imports it, and what formulas do with its symbols."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any


class _LazyCasadi:
    """Looks like the `casadi` module and imports it at the first use of a name; a name is looked up once."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module("casadi"), name)
        setattr(self, name, value)
        return value


ca = _LazyCasadi()
Symbol = Any  # a CasADi SX


def is_symbol(value: object) -> bool:
    """Whether `value` is a CasADi SX or MX; never imports CasADi to find out."""
    casadi = sys.modules.get("casadi")
    # Another thread may be importing it just now: then nobody has symbols yet.
    return casadi is not None and isinstance(value, (getattr(casadi, "SX", ()), getattr(casadi, "MX", ())))


def on_symbols(formula: Callable[..., Sequence[Any]], *values: Any) -> list[Any]:
    """`formula(*values)`, computed on fresh symbols so that it may differentiate by its arguments."""
    symbols = [ca.SX.sym(f"x{k}", *value.shape) for k, value in enumerate(values)]
    return list(ca.substitute(list(formula(*symbols)), symbols, list(values)))


def diagonal(A: Any, sweeps: int) -> tuple[list[Any], Any]:
    """Eigenvalues and orthogonal V with A = V diag(values) V', by Jacobi's rotations.

    Each sweep squares the share of A's entries off the diagonal that is left: there are no branches.

    References
    ----------
    Golub and Van Loan (2013), section 8.5.
    """
    n = A.shape[0]
    a = {(i, j): A[i, j] for j in range(n) for i in range(j + 1)}  # the upper half
    V = [ca.SX.eye(n)[:, i] for i in range(n)]
    for _ in range(sweeps):
        for i, j in combinations(range(n), 2):
            d, off = a[j, j] - a[i, i], a[i, j]
            # tan of the smaller angle; the tiny number stands for it where there is nothing to turn.
            t = 2 * off * ca.if_else(d < 0, -1, 1) / (ca.fabs(d) + ca.sqrt(d * d + 4 * off * off) + 1e-300)
            c = 1 / ca.sqrt(1 + t * t)
            s = t * c
            a[i, i], a[j, j], a[i, j] = a[i, i] - t * off, a[j, j] + t * off, ca.SX(0)
            for k in set(range(n)) - {i, j}:
                left, right = (min(i, k), max(i, k)), (min(j, k), max(j, k))
                a[left], a[right] = c * a[left] - s * a[right], s * a[left] + c * a[right]
            V[i], V[j] = c * V[i] - s * V[j], s * V[i] + c * V[j]
    return [a[i, i] for i in range(n)], ca.horzcat(*V)
