"""What a motion must keep to besides the joints' own ranges: torques, the room of the tip, clearance.

A constraint is a set of slacks, positive where it holds, at every sample of a motion; a violation is
turned into a gradient by the chain rule in reverse mode.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.base.regressor_derivatives import StateGradient, weighted_gradient
from armdyn.dynamics.full import joint_torque
from armdyn.errors import LimitError, expect
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, FrictionData, Gravity, Q, Qd, Qdd, Theta, Vec
from armdyn.trace.traced import traced
from armdyn.trajectory.excitation.between_samples import least_between
from armdyn.trajectory.excitation.regressor import ROUNDED_SPEED
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import JointMotion, Trajectory

States = tuple[NDArray, NDArray, NDArray]


class Pull(NamedTuple):
    """Derivatives (N, n) of a sum of slacks by positions, velocities and accelerations."""

    dq: NDArray | float
    dqd: NDArray | float = 0.0
    dqdd: NDArray | float = 0.0


class MotionConstraint(Protocol):
    """Slacks (N, s) of states (N, n), the penalty of those below a margin, and the least one at all times."""

    @property
    def name(self) -> str: ...  # noqa: D102
    def slack(self, states: States) -> NDArray: ...  # noqa: D102
    def penalty(self, states: States, margin: float) -> tuple[float, Pull]: ...  # noqa: D102
    def least(self, motion: Trajectory, limits: MotionLimits) -> float: ...  # noqa: D102
    def describe(self, states: States) -> str: ...  # noqa: D102


@traced()
def joint_torque_gradient(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, weights: Vec, *,
    theta: Theta = None, gravity: Gravity = None, friction: FrictionData = None, drive: DriveData = None,
) -> StateGradient:  # fmt: skip
    """Gradient of `weights . joint_torque` with respect to the state, friction rounded off at low velocity."""
    options = {"width": ROUNDED_SPEED, "theta": theta, "gravity": gravity, "friction": friction, "drive": drive}
    return weighted_gradient(lambda *state: joint_torque(arm, *state, **options), (q, qd, qdd), weights)


class Slacks(ABC):
    """A constraint by slacks and their derivatives."""

    @abstractmethod
    def slack(self, states: States, smooth: bool = False) -> NDArray:
        """Slacks (N, s) of states (N, n); `smooth`: where they jump, such that they have derivatives."""

    @abstractmethod
    def pull(self, states: States, weights: NDArray) -> Pull:
        """Derivatives of the sum of weights (N, s) times slacks."""

    def penalty(self, states: States, margin: float) -> tuple[float, Pull]:
        """Mean over the samples of the squares by which slacks fall short of a margin, and its derivatives."""
        short = np.maximum(0.0, margin - self.slack(states, smooth=True))
        samples = len(short)
        value = float((short**2).sum()) / samples
        return value, self.pull(states, -2 * short / samples) if value else Pull(0.0)

    def least(self, motion: Trajectory, limits: MotionLimits) -> float:
        """A lower bound of all slacks at all times of a motion; see `least_between`."""
        return least_between(lambda t: self.slack(motion(t)), motion.duration)


@dataclass(frozen=True, eq=False)
class TorqueLimits(Slacks):
    """|tau| <= limit (n,) [N m or N] by the present model, friction and drives included."""

    arm: Arm
    limit: NDArray
    name: str = "torque"

    @classmethod
    def of(cls, arm: Arm, torque: ArrayLike | bool) -> TorqueLimits:
        """The arm's own limits (True), or those given."""
        limit = MotionLimits.of(arm, effort=None if torque is True else torque).effort
        absent = np.flatnonzero(~(np.isfinite(limit) & (limit > 0)))
        if len(absent):
            names = ", ".join(f"joint {i + 1} '{arm.coordinate_names[i]}'" for i in absent)
            raise LimitError(f"torque limits: none, or zero, for {names}", remedy="give max_torque as numbers > 0")
        arm.trace_data("theta")  # says what is unknown
        return cls(arm, limit)

    def slack(self, states: States, smooth: bool = False) -> NDArray:
        """1 - tau / limit and 1 + tau / limit (N, 2 n)."""
        share = joint_torque(self.arm, *states, width=ROUNDED_SPEED if smooth else 0.0) / self.limit
        return np.hstack([1 - share, 1 + share])

    def pull(self, states: States, weights: NDArray) -> Pull:
        """Through the torques."""
        up, down = np.split(weights, 2, axis=1)
        return Pull(*joint_torque_gradient(self.arm, *states, (down - up) / self.limit))

    def describe(self, states: States) -> str:
        """Return the joint that exceeds its limit most, and by how much."""
        need = np.abs(joint_torque(self.arm, *states)).max(0)
        i = int((need / self.limit).argmax())
        unit = "N m" if self.arm.coordinate_joints[i].kind == "revolute" else "N"
        joint = f"joint {i + 1} '{self.arm.coordinate_names[i]}'"
        return f"needs {need[i]:.3g} {unit} at {joint}, whose limit is {self.limit[i]:.3g} {unit}"


@dataclass(frozen=True, eq=False)
class FollowerLimits(Slacks):
    """Positions and speeds of joints that follow others within their limits: linear in those of the coordinates."""

    arm: Arm
    margin: float = 0.0  # part of the speeds that is left free
    name: str = "followers"

    @cached_property
    def rows(self) -> NDArray:
        """Numbers of the joints that follow others and have some limit."""
        limits = [(joint.limits.lower, joint.limits.upper, joint.limits.velocity) for joint in self.arm.joints]
        follows = np.array([bool(joint.follows) for joint in self.arm.joints])
        return np.flatnonzero(follows & np.isfinite(limits).any(axis=1))

    @cached_property
    def _limits(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Rows of G and b, half ranges with centres in b, and speeds; a range without end is one of a million turns."""
        joints = [self.arm.joints[i].limits for i in self.rows]
        lower, upper = (np.clip([getattr(x, side) for x in joints], -1e6, 1e6) for side in ("lower", "upper"))
        speed = (1 - self.margin) * np.array([x.velocity for x in joints])
        assert self.arm.G is not None
        assert self.arm.b is not None
        half = np.maximum((upper - lower) / 2, 1e-9)
        return self.arm.G[self.rows], self.arm.b[self.rows] - (upper + lower) / 2, half, speed

    def slack(self, states: States, smooth: bool = False) -> NDArray:
        """1 -+ position / half range, and 1 -+ speed / limit (N, 4 k)."""
        G, centre, half, speed = self._limits
        place, rate = (states[0] @ G.T + centre) / half, states[1] @ G.T / speed
        return np.hstack([1 - place, 1 + place, 1 - rate, 1 + rate])

    def pull(self, states: States, weights: NDArray) -> Pull:
        """Through G."""
        G, _, half, speed = self._limits
        high, low, forth, back = np.split(weights, 4, axis=1)
        return Pull((low - high) / half @ G, (back - forth) / speed @ G)

    def describe(self, states: States) -> str:
        """Return the joint that leaves its range most, and by how much."""
        short = self.slack(states).min(axis=0).reshape(4, -1).min(axis=0)
        k = int(short.argmin())
        name = self.arm.joints[self.rows[k]].name
        return f"leaves the limits of joint '{name}', which follows others, by {-short[k]:.1%}"


@dataclass(frozen=True, eq=False)
class TipBox(Slacks):
    """The tip stays between two corners, in base axes [m]; infinite where open (a table: z >= height)."""

    arm: Arm
    lower: NDArray
    upper: NDArray
    name: str = "tip box"

    @classmethod
    def of(cls, arm: Arm, corners: tuple[ArrayLike, ArrayLike]) -> TipBox:
        """Build it from a pair of corners."""
        try:
            lower, upper = corners
        except (TypeError, ValueError):
            cause = f"tip box: expected a lower and an upper corner, got {corners!r:.60}"
            raise LimitError(cause, names=(corners,)) from None
        return cls(arm, lower, upper)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for side in ("lower", "upper"):
            corner = np.asarray(getattr(self, side), float)
            fits = corner.shape == (3,) and not np.isnan(corner).any()
            expect(fits, "tip box", f"{side} as three numbers", getattr(self, side), LimitError)
            object.__setattr__(self, side, corner)
        got = f"{self.lower} and {self.upper}"
        expect((self.lower < self.upper).all(), "tip box", "lower < upper", error=LimitError, got=got)

    def slack(self, states: States, smooth: bool = False) -> NDArray:
        """Distances from the walls (N, 6) [m]."""
        p = forward_kinematics(self.arm, states[0])[:, :3, 3]
        return np.nan_to_num(np.hstack([p - self.lower, self.upper - p]), posinf=1e9)

    def pull(self, states: States, weights: NDArray) -> Pull:
        """Through the tip's Jacobian."""
        low, high = np.split(weights, 2, axis=1)
        return Pull(np.einsum("kij,ki->kj", jacobian(self.arm, states[0])[:, :3], low - high))

    def describe(self, states: States) -> str:
        """Return how far the tip leaves its room."""
        return f"takes the tip {-float(self.slack(states).min()):.3g} m out of its box"


def motion_barrier(arm: Arm, limits: MotionLimits, motion: JointMotion) -> tuple[float, Pull]:
    """-mean log(1 - r²) over samples (K, n), r being parts of the limits; with its derivatives. Infinite outside.

    Torques by the present model count if every joint has a limit.
    """
    parts = [
        _inside((motion.q - limits.center) / limits.half_range),
        _inside(motion.qd / limits.velocity),
        _inside(motion.qdd / limits.acceleration),
    ]
    value = sum(part[0] for part in parts)
    rooms = (limits.half_range, limits.velocity, limits.acceleration)
    dq, dqd, dqdd = (slope / room for (_, slope), room in zip(parts, rooms, strict=True))
    if np.isfinite(value) and np.isfinite(limits.effort).all():
        torque = TorqueLimits(arm, limits.effort)
        slack = torque.slack(motion, smooth=True)
        if slack.min() <= 0:
            return np.inf, Pull(dq, dqd, dqdd)
        scale = 1 / motion.q.size
        value -= float(np.log(slack).sum()) * scale
        pull = torque.pull(motion, -scale / slack)
        dq, dqd, dqdd = dq + pull.dq, dqd + pull.dqd, dqdd + pull.dqdd
    return float(value), Pull(dq, dqd, dqdd)


def _inside(r: NDArray) -> tuple[float, NDArray]:
    """-mean log(1 - r²) and its derivative."""
    room = 1 - r**2
    if room.min() <= 0:
        return np.inf, r
    return -float(np.log(room).mean()), 2 * r / room / r.size
