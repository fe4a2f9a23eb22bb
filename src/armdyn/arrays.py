"""Arrays of what callers give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ModelError, ShapeError, quote
from armdyn.precision import NEGLIGIBLE, ROUND_OFF

CACHE_BYTES = 2**21  # of a processor's second-level cache


def blocks(count: int, numbers: int) -> Iterator[slice]:
    """Slices of `count` rows, so many at once that as many `numbers` of each stay in the processor's cache."""
    size = max(1, CACHE_BYTES // (8 * max(numbers, 1)))
    return (slice(first, min(first + size, count)) for first in range(0, count, size))


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


def finite_vector(value: Any, size: int, what: str, error: type[ArmdynError] = ModelError) -> NDArray:
    """`size` finite numbers as a read-only array; `what` begins the error."""
    vector = as_floats(value)
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise error(where=what, expected=f"{size} finite numbers", got=quote(value))
    return read_only(vector)


def unit_vector(value: Any, what: str) -> NDArray:
    """The direction of three numbers, read-only; a unit vector keeps its bits, so that round trips are exact."""
    vector = finite_vector(value, 3, what)
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vector)
    if not NEGLIGIBLE < length < np.inf:
        raise ModelError(f"{what} has length {length:g}", expected="a direction")
    return vector if abs(length - 1) < ROUND_OFF else read_only(vector / length)


def finite_array(value: Any, core: tuple[int, ...], what: str, error: type[ArmdynError] = ShapeError) -> NDArray:
    """Finite floats (..., *core), whose leading axes are a batch; `what` begins the error."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise error(where=what, expected="numbers", got=quote(value)) from None
    if array.shape[array.ndim - len(core) :] != core:
        raise error(where=what, expected=f"shape ({', '.join(('...', *map(str, core)))})", got=array.shape)
    if not np.isfinite(array).all():
        raise error(where=what, expected="finite numbers", got="NaN or infinity")
    return array


def row_of(
    value: Any, size: int, what: str, error: type[ArmdynError] = ArmdynError, *, sign: str = "", finite: bool = False
) -> NDArray:
    """`size` numbers from one for all or from so many; `sign` is ">" or ">=" where they are to be so against 0."""
    try:
        row = np.array(np.broadcast_to(np.asarray(value, float), (size,)))
    except (TypeError, ValueError):
        raise error(where=what, expected=f"one number, or {size}", got=quote(value)) from None
    fits = {"": ~np.isnan(row), ">": row > 0, ">=": row >= 0}[sign]
    if not fits.all() or (finite and not np.isfinite(row).all()):
        expected = f"{'finite ' * finite}numbers{f' {sign} 0' if sign else ''}"
        raise error(where=what, expected=expected, got=quote(value))
    return row


def common_batch(where: str, batches: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which the leading axes of several arrays broadcast, by the arrays' names."""
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in batches.items())
        raise ShapeError(f"leading axes do not broadcast: {listed}", where=where) from None
    except RuntimeError:  # NumPy's own limit, which is lower than that of an array's axes
        most = max(len(shape) for shape in batches.values())
        expected = "at most 32 leading axes"
        raise ShapeError(where=where, expected=expected, got=most, remedy="reshape the arrays") from None


def is_number(value: Any) -> bool:
    """Whether a caller's setting is a finite number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


def is_whole(value: Any, least: int = 0) -> bool:
    """Whether a caller's setting is a whole number, and not below the least."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def check_positive(where: str, error: type[ArmdynError] = ShapeError, **values: float) -> None:
    """Raise unless every value, given by its name, is a finite number > 0."""
    for name, value in values.items():
        if not (is_number(value) and value > 0):
            raise error(where=where, expected=f"{name} as a finite number > 0", got=quote(value))
