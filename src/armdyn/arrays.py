"""Arrays of what callers give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError, shown

SHORTEST_DIRECTION = 1e-9
UNIT_LENGTH_TOLERANCE = 1e-15


def as_floats(value: Any) -> NDArray:
    """A new array of floats; one NaN where the value holds no numbers, for the check of shape and sizes to reject."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def read_only(array: NDArray) -> NDArray:
    """The array itself, which nobody can write into from now on."""
    array.flags.writeable = False
    return array


def finite_vector(value: Any, size: int, what: str) -> NDArray:
    """`size` finite numbers as a read-only array; `what` begins the error."""
    vector = as_floats(value)
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise ModelError(f"{what}: expected {size} finite numbers, got {shown(value)}")
    return read_only(vector)


def unit_vector(value: Any, what: str) -> NDArray:
    """The direction of three numbers, read-only; a unit vector keeps its bits, so that round trips are exact."""
    vector = finite_vector(value, 3, what)
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vector)
    if not SHORTEST_DIRECTION < length < np.inf:
        raise ModelError(f"{what} has length {length:g}; expected a direction")
    return vector if abs(length - 1) < UNIT_LENGTH_TOLERANCE else read_only(vector / length)
