"""Declared shapes such as `"n"`, `"10*n"`, `"6, n"` or `""` (a scalar), evaluated for given sizes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from math import prod

Shape = tuple[int, ...]


def evaluate(declared: str, sizes: Mapping[str, int]) -> Shape:
    """The shape that `declared` means when the names in it have the values in `sizes`."""
    return tuple(_value(item, sizes, declared) for item in _axes(declared))


@cache
def _axes(declared: str) -> tuple[ast.expr, ...]:
    """The expressions of a declared shape, one an axis."""
    if not declared.strip():
        return ()
    tree = ast.parse(declared.strip(), mode="eval").body
    return tuple(tree.elts) if isinstance(tree, ast.Tuple) else (tree,)


def _value(node: ast.expr, sizes: Mapping[str, int], declared: str) -> int:
    """Integers, names, sums, differences and products only."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, sizes, declared), _value(node.right, sizes, declared)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
    raise ValueError(f"shape {declared!r}: only integers, names, +, - and * are understood")


def count(shape: Shape) -> int:
    """Number of entries of one sample."""
    return prod(shape)


def text(shape: Shape) -> str:
    """A core shape with leading batch axes as users read it: `(..., 6, 7)`."""
    return f"({', '.join(['...', *map(str, shape)])})"
