"""What every joint trajectory is: `q, qd, qdd = trajectory(t)` for arrays of t, with a duration."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError


class JointMotion(NamedTuple):
    """Joint positions, velocities and accelerations, each (..., n) for times (...)."""

    q: NDArray
    qd: NDArray
    qdd: NDArray


@runtime_checkable
class Trajectory(Protocol):
    """A motion of n joints from t = 0 to `duration`, at rest where it ends before and after.

    The velocities and accelerations are the exact derivatives of the positions. Where the acceleration
    jumps, its value is that just after the jump, at the end that just before it.
    """

    @property
    def duration(self) -> float: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102
    def __call__(self, t: ArrayLike) -> JointMotion: ...  # noqa: D102


def times(t: ArrayLike, what: str) -> NDArray:
    """`t` as an array of finite times."""
    try:
        array = np.asarray(t, float)
    except (TypeError, ValueError):
        raise ShapeError(f"{what}: expected times in seconds, got {t!r:.60}") from None
    if not np.isfinite(array).all():
        raise ShapeError(f"{what}: expected finite times, got NaN or infinity")
    return array


def is_outside(t: NDArray, duration: float) -> NDArray:
    """Where a motion from 0 to `duration` has not begun or is over."""
    return (t < 0) | (t > duration)
