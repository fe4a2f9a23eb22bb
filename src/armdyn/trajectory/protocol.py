"""What every joint trajectory is: `q, qd, qdd = trajectory(t)` for arrays of t, with a duration."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array

SAMPLES_PER_PERIOD = 20  # that show a sinusoid nearly as it is: a sine rises by 1.2 % of its size between them at most
GRID_RATE_HZ = 1000.0  # samples per second at which motions are looked at first


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


State = TypeVar("State", bound=tuple[NDArray, NDArray, NDArray], covariant=True)


class MotionSegment(Protocol[State]):
    """A motion from 0 to `duration` that says what it does in between: positions, velocities, accelerations."""

    @property
    def duration(self) -> float: ...  # noqa: D102
    def inside(self, t: NDArray) -> State: ...  # noqa: D102


class HoldAtEnds:
    """A motion that is known from 0 to `duration`: before and after it stands still."""

    def __call__(self: MotionSegment[State], t: ArrayLike) -> State:
        """Positions, velocities and accelerations at times t [s]."""
        t, duration = times(t, type(self).__name__), self.duration
        state = self.inside(np.clip(t, 0.0, duration))
        rest = np.asarray((t < 0) | (t > duration))
        rest = rest.reshape(rest.shape + (1,) * (np.ndim(state[0]) - rest.ndim))
        kind: Any = type(state)
        return kind(state[0], *(np.where(rest, 0.0, rate) for rate in state[1:]))


def times(t: ArrayLike, what: str) -> NDArray:
    """`t` as an array of finite times."""
    return finite_array(t, (), f"{what}: times in seconds")
