"""Checks shared by what takes the matrices of linear systems: shapes, and samples that are not finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError
from armdyn.model.arm import Arm


def check_floats(value: ArrayLike, where: str, name: str, core: int) -> NDArray:
    """A float array whose last `core` axes are one sample; the first sample that is not finite is named."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise ShapeError(where=where, expected=f"numbers for {name}", got=f"{value!r:.60}") from None
    bad = ~np.isfinite(array)
    if bad.any():
        sample = np.argwhere(bad)[0][: array.ndim - core]
        place = f"sample {', '.join(map(str, sample))}" if len(sample) else "an entry"
        raise ShapeError(where=where, expected=f"finite numbers for {name}, but {place} is NaN or infinite")
    return array


def check_matrices(
    value: ArrayLike, where: str, name: str, rows: int | None = None, columns: int | None = None
) -> NDArray:
    """Finite matrices (..., rows, columns), a size being free where it is None."""
    array = check_floats(value, where, name, 2)
    if array.ndim < 2 or rows not in (None, array.shape[-2]) or columns not in (None, array.shape[-1]):
        wanted = ", ".join("k" if size is None else str(size) for size in (rows, columns))
        raise ShapeError(where=where, expected=f"{name} of shape (..., {wanted})", got=array.shape)
    return array


def check_square(A: ArrayLike, where: str) -> NDArray:
    """Finite square matrices (..., m, m)."""
    array = check_matrices(A, where, "A")
    if array.shape[-1] != array.shape[-2]:
        raise ShapeError(where=where, expected="A of shape (..., m, m)", got=array.shape)
    return array


def check_steps(value: ArrayLike, where: str, name: str) -> NDArray:
    """Finite positive times."""
    array = check_floats(value, where, name, 0)
    if not (array > 0).all():
        raise ShapeError(where=where, expected=f"{name} > 0", got=f"{array.min():g}")
    return array


def check_state(arm: Arm, where: str, lead: tuple[int, ...], **state: ArrayLike) -> list[NDArray]:
    """Finite joint vectors of the shape (*lead, n), one a keyword."""
    arrays = []
    for name, value in state.items():
        array = check_floats(value, where, name, 1)
        if array.shape != (wanted := (*lead, arm.n)):
            raise ShapeError(where=where, expected=f"{name} of shape {wanted} for arm '{arm.name}'", got=array.shape)
        arrays.append(array)
    return arrays
