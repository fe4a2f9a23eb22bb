"""What every joint trajectory is: `q, qd, qdd = trajectory(t)` for arrays of t, with a duration."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array


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


class Inside(Protocol):
    """A motion from 0 to `duration` that says what it does in between."""

    @property
    def duration(self) -> float: ...  # noqa: D102
    def inside(self, t: NDArray) -> JointMotion: ...  # noqa: D102


class RestOutside:
    """A trajectory of motion that is known from 0 to `duration`: before and after it stands still."""

    def __call__(self: Inside, t: ArrayLike) -> JointMotion:
        """Joint motion at times t [s]."""
        t, duration = times(t, type(self).__name__), self.duration
        q, qd, qdd = self.inside(np.clip(t, 0.0, duration))
        rest = is_outside(t, duration)[..., None]
        return JointMotion(q, np.where(rest, 0.0, qd), np.where(rest, 0.0, qdd))


def times(t: ArrayLike, what: str) -> NDArray:
    """`t` as an array of finite times."""
    return finite_array(t, (), f"{what}: times in seconds")


def is_outside(t: NDArray, duration: float) -> NDArray:
    """Where a motion from 0 to `duration` has not begun or is over."""
    return (t < 0) | (t > duration)
