"""Rigid transforms as 4x4 matrices `T_AB`: the pose of frame B in A, `p_A = T_AB p_B`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ModelError, quote
from armdyn.precision import SIX_DIGITS


def transform(rotation: ArrayLike | None = None, translation: ArrayLike | None = None) -> NDArray:
    """The 4x4 matrix of a rotation (3, 3) and a translation (3,); either may be left out."""
    T = np.eye(4)
    if rotation is not None:
        T[:3, :3] = rotation
    if translation is not None:
        T[:3, 3] = translation
    return T


def inverse(T: NDArray) -> NDArray:
    """The inverse of a rigid transform: `T_BA` from `T_AB`; leading axes are batches."""
    R_T = np.swapaxes(T[..., :3, :3], -1, -2)
    out = np.zeros_like(T)
    out[..., :3, :3] = R_T
    out[..., :3, 3] = -(R_T @ T[..., :3, 3, None])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def check_transform(T: ArrayLike, what: str) -> NDArray:
    """Return `T` as a read-only float array after checking that it is a rigid transform."""
    try:
        T = np.array(T, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(where=what, expected="a 4x4 matrix of numbers", got=quote(T)) from None
    if T.shape != (4, 4):
        raise ModelError(where=what, expected="a 4x4 rigid transform", got=f"shape {T.shape}")
    if not np.isfinite(T).all():
        raise ModelError(where=what, expected="finite numbers", got="NaN or infinity")
    if not np.allclose(T[3], (0, 0, 0, 1), rtol=0, atol=SIX_DIGITS):
        raise ModelError(where=what, expected="last row 0 0 0 1", got=T[3])
    check_rotation(T[:3, :3], what)
    T[3] = (0.0, 0.0, 0.0, 1.0)
    T.flags.writeable = False
    return T


def check_rotation(R: NDArray, what: str) -> None:
    """Raise unless `R` is orthogonal with determinant +1."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(R.T @ R - np.eye(3)).max()
    if not error <= SIX_DIGITS:
        cause = f"rotation is not orthogonal (R'R is off 1 by {error:.1e})"
        raise ModelError(cause, where=what, remedy="sheared or scaled?")
    if np.linalg.det(R) < 0:
        raise ModelError("rotation has determinant -1 (a mirror image)", where=what, remedy="swapped axes?")


def exact(array: NDArray, within: float) -> NDArray:
    """`array` with entries `within` reach of 0, 1 or -1 made exactly so, and no negative zeros."""
    out = np.array(array)
    for value in (0.0, 1.0, -1.0):
        out[np.abs(out - value) < within] = value
    return out + 0.0
