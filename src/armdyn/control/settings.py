"""Settings of laws and designs read from what a user gives, or one sentence about what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError, quote


def as_numbers(value: Any, where: str, expected: str = "numbers") -> NDArray:
    """Numbers as a new array of floats."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(where=where, expected=expected, got=quote(value)) from None


def one_number(value: Any, where: str, expected: str, *, zero: bool = False) -> float:
    """A finite number > 0, or >= 0 if `zero` is allowed."""
    array = as_numbers(value, where, expected)
    if array.ndim or not np.isfinite(array) or array < 0 or (array == 0 and not zero):
        raise ShapeError(where=where, expected=expected, got=quote(value))
    return float(array)


def joint_numbers(value: ArrayLike, n: int, where: str, expected: str) -> NDArray:
    """Finite numbers > 0, one per joint; one serves all."""
    array = as_numbers(value, where, expected)
    if array.shape not in ((), (n,)) or not (np.isfinite(array).all() and (array > 0).all()):
        raise ShapeError(where=where, expected=f"{expected}, one number or {n}", got=quote(value))
    return np.array(np.broadcast_to(array, n))
