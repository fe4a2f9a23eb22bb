"""Declared shapes such as `"n"`, `"10*n"`, `"6, n"` or `""` (a scalar), evaluated for given sizes.

A shape is declared once, as the annotation of a parameter or of a result's field:

    Q = Annotated[Any, DataShape("n", "Joint positions [rad or m].")]
    def some_torque(arm: Arm, q: Q, weights: Annotated[Any, "n, 10*n"]) -> Array: ...
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
OPERATORS: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}

Array = NDArray[np.float64]
"""What traced functions return for numbers; a NumPy scalar where one sample has no axes."""


class DataShape(NamedTuple):
    """A declared shape and, for the documentation, what is in it."""

    shape: str
    text: str = ""


Data = DataShape  # its earlier name

# Fields of results.
Scalar = Annotated[Array, ""]
Vector = Annotated[Array, "n"]
Matrix = Annotated[Array, "n, n"]


def annotation_of(function: Callable[..., Any], name: str) -> Any:
    """The annotation of a parameter (or of "return") as an object; None where there is none to be had."""
    value = function.__annotations__.get(name)
    if not isinstance(value, str):
        return value
    try:
        return eval(value, function.__globals__)
    except NameError:
        return None  # known to type checkers only


def data_of(annotation: Any) -> DataShape | None:
    """Return the declaration of an annotation: a text, or a `DataShape`, inside `Annotated`, also with `| None`."""
    for note in getattr(annotation, "__metadata__", ()):
        if isinstance(note, DataShape):
            return note
        if isinstance(note, str):
            return DataShape(note)
    if getattr(annotation, "__metadata__", None) is None and type(None) in get_args(annotation):
        return next((data for data in map(data_of, get_args(annotation)) if data is not None), None)
    return None


def fields_of(result: type) -> dict[str, str]:
    """The shapes that the fields of a NamedTuple declare, by name."""
    hints = get_type_hints(result, include_extras=True)
    return {name: data.shape for name, note in hints.items() if (data := data_of(note)) is not None}


def evaluate(declared: str, sizes: Mapping[str, int]) -> Shape:
    """The shape that `declared` means when the names in it have the values in `sizes`."""
    return tuple(_value(item, sizes, declared) for item in _axes(declared))


@cache
def _axes(declared: str) -> tuple[ast.expr, ...]:
    """The expressions of a declared shape, one per axis."""
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
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _value(node.left, sizes, declared), _value(node.right, sizes, declared)
        return OPERATORS[type(node.op)](left, right)
    raise ValueError(f"shape {declared!r}: only integers, names, +, - and * are understood")


def text(shape: Shape) -> str:
    """A core shape with leading batch axes as users read it: `(..., 6, 7)`."""
    return f"({', '.join(['...', *map(str, shape)])})"


def shape_text(declared: str) -> str:
    """A declared shape with leading batch axes as the documentation writes it: `(..., n, 10 n)`."""
    return f"(..., {declared.replace('*', ' ')})" if declared.strip() else "(...)"
