"""What the joints may do during a motion, and whether they keep to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import blocks, row_of
from armdyn.errors import LimitError
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.protocol import JointMotion, Trajectory

# Grid of checks between samples [Hz].
CHECK_RATE_HZ = 10_000.0
# Configurations that stand for all within limits, the same every time.
RANDOM_POSES = 2000
# Half of a range that is open on one side [rad or m].
OPEN_HALF = np.pi


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Limits of n joints, each (n,): positions [rad or m], largest speeds, accelerations and torques."""

    lower: NDArray
    upper: NDArray
    velocity: NDArray
    acceleration: NDArray
    effort: NDArray
    joint_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        arm: Arm,
        *,
        acceleration: ArrayLike = np.inf,
        velocity: ArrayLike | None = None,
        position: tuple[ArrayLike, ArrayLike] | None = None,
        effort: ArrayLike | None = None,
    ) -> MotionLimits:
        """The arm's own limits, tightened by those given (a number for all joints, or one per joint)."""
        limits = [joint.limits for joint in arm.coordinate_joints]
        lower, upper = _pair(position)
        return cls(
            np.maximum(arm.position_limits[0], row_of(lower, arm.n, "position", LimitError)),
            np.minimum(arm.position_limits[1], row_of(upper, arm.n, "position", LimitError)),
            _tighten([x.velocity for x in limits], velocity, "max_velocity"),
            _tighten([np.inf] * arm.n, acceleration, "max_acceleration"),
            _tighten([x.effort for x in limits], effort, "max_torque"),
            arm.coordinate_names,
        )

    def __post_init__(self) -> None:
        for i in np.flatnonzero(self.upper < self.lower):
            cause = f"{self._joint(int(i))} has no room between {self.lower[i]:g} and {self.upper[i]:g}"
            raise LimitError(cause, where="limits", remedy="reversed?")

    def check_room(self, where: str, kinds: Sequence[str]) -> None:
        """Reject joints that cannot move, or that nothing holds back; `kinds` as of `Joint`."""
        endless = np.flatnonzero(np.isinf(self.upper - self.lower) & (np.array(kinds) == "prismatic"))
        if len(endless):
            cause = f"no position limits of {self._joints(endless)}, which cannot slide for ever"
            raise LimitError(cause, where=where, remedy="give position, or limits in the arm's description")
        fixed = np.flatnonzero(self.upper - self.lower < NEGLIGIBLE)
        if len(fixed):
            cause = f"{self._joints(fixed)} cannot move (lower = upper limit)"
            raise LimitError(cause, where=where, remedy="widen the limits, or load the arm with that joint fixed")
        for values, what, hint, rate in (
            (self.velocity, "velocity limit", "max_velocity", "/s"),
            (self.acceleration, "acceleration limit", "max_acceleration", "/s²"),
        ):
            absent, zero = np.flatnonzero(np.isinf(values)), np.flatnonzero(values == 0)
            if len(absent):
                remedy = f"give {hint}, such as 1 {'rad' if kinds[absent[0]] == 'revolute' else 'm'}{rate}"
                raise LimitError(f"no {what} of {self._joints(absent)}", where=where, remedy=remedy)
            if len(zero):
                cause = f"the {what} of {self._joints(zero)} is zero"
                raise LimitError(cause, where=where, remedy=f"give a larger {hint}")

    @property
    def center(self) -> NDArray:
        """Middle of the range (n,): zero where it is open, OPEN_HALF inside the end where it is open on one side."""
        lower = np.where(np.isfinite(self.lower), self.lower, np.minimum(self.upper - 2 * OPEN_HALF, -OPEN_HALF))
        upper = np.where(np.isfinite(self.upper), self.upper, np.maximum(self.lower + 2 * OPEN_HALF, OPEN_HALF))
        return (lower + upper) / 2

    @property
    def half_range(self) -> NDArray:
        """Largest distance from `center` (n,); infinite where the joint turns freely."""
        return np.minimum(self.upper - self.center, self.center - self.lower)

    def random_poses(self, part: float = 1.0) -> NDArray:
        """Configurations (RANDOM_POSES, n) within a part of the range, and half a turn about its middle."""
        reach = part * np.minimum(self.half_range, OPEN_HALF)
        return self.center + reach * np.random.default_rng(0).uniform(-1, 1, (RANDOM_POSES, len(reach)))

    def _joint(self, i: int) -> str:
        return f"joint {i + 1} '{self.joint_names[i]}'"

    def _joints(self, indices: NDArray) -> str:
        first = indices[: len(indices) if len(indices) <= 3 else 2]
        more = f" and {len(indices) - len(first)} more" * (len(first) < len(indices))
        return ", ".join(self._joint(int(i)) for i in first) + more


def violations(trajectory: Trajectory, limits: MotionLimits, rate: float = CHECK_RATE_HZ) -> dict[str, int]:
    """Count the values on a grid that lie outside the limits, by kind; an empty dict if none does."""
    counts: dict[str, int] = {}
    for q, qd, qdd in _blocks(trajectory, rate):
        slack = NEGLIGIBLE * (1 + np.abs(q))
        outside = {
            "position": (q < limits.lower - slack) | (q > limits.upper + slack),
            "velocity": np.abs(qd) > limits.velocity * (1 + NEGLIGIBLE),
            "acceleration": np.abs(qdd) > limits.acceleration * (1 + NEGLIGIBLE),
        }
        for what, where in outside.items():
            if where.any():
                counts[what] = counts.get(what, 0) + int(where.sum())
    return counts


def limit_uses(trajectory: Trajectory, limits: MotionLimits, rate: float = CHECK_RATE_HZ) -> JointMotion:
    """The largest parts (n,) of the limits that positions, velocities and accelerations on a grid take.

    Of positions the part of the half range from its middle; zero where there is no limit.
    """
    rooms = (limits.half_range, limits.velocity, limits.acceleration)
    uses = [
        [np.abs(x).max(0) / room for x, room in zip((q - limits.center, qd, qdd), rooms, strict=True)]
        for q, qd, qdd in _blocks(trajectory, rate)
    ]
    return JointMotion(*np.max(uses, axis=0))


def _blocks(trajectory: Trajectory, rate: float) -> Iterator[JointMotion]:
    """The motion on a grid of so many samples a second, some of them at once."""
    steps = max(1, int(np.ceil(trajectory.duration * rate)))
    t = np.linspace(0.0, trajectory.duration, steps + 1)
    for k in blocks(len(t), 3 * trajectory.n):
        yield trajectory(t[k])


def _pair(position: tuple[ArrayLike, ArrayLike] | None) -> tuple[ArrayLike, ArrayLike]:
    """Lower and upper positions."""
    try:
        lower, upper = (-np.inf, np.inf) if position is None else position
    except (TypeError, ValueError):
        expected = "a pair of lower and upper positions"
        raise LimitError(where="position", expected=expected, got=f"{position!r:.60}") from None
    return lower, upper


def _tighten(limits: list[float], bound: ArrayLike | None, what: str) -> NDArray:
    """The smaller of the arm's own limits and those given."""
    return np.minimum(limits, row_of(np.inf if bound is None else bound, len(limits), what, LimitError, sign=">="))
