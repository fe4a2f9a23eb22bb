"""A slow way from a home pose to where a motion starts, clear of everything."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import LimitError
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.point_to_point import point_to_point
from armdyn.trajectory.protocol import JointMotion, Trajectory
from armdyn.trajectory.sequence import Sequence

SPEED_RATIO = 0.15  # part of the velocity limits
APPROACH_ACCELERATION = 0.5  # of which the limits are reached in [rad/s², m/s²]
MAX_SPEED = 0.3  # [rad/s, m/s]
VIA_POSES_TRIED = 200  # poses that are tried between, where the straight way is not free


def check_home(arm: Arm, clearance: Clearance, home: ArrayLike) -> NDArray:
    """The home pose (n,), if it is one and keeps clear."""
    try:
        pose = np.asarray(home, float).reshape(arm.n)
    except (TypeError, ValueError):
        raise LimitError(where="home", expected=f"{arm.n} joint positions", got=f"{home!r:.80}") from None
    lower, upper = arm.position_limits
    for i in np.flatnonzero(~((pose >= lower) & (pose <= upper))):
        cause = (
            f"joint {i + 1} '{arm.coordinate_names[i]}' at {pose[i]:.3g} is outside [{lower[i]:.3g}, "
            f"{upper[i]:.3g}]; positions are in rad or m"
        )
        raise LimitError(cause, where="home", names=(arm.coordinate_names[i],))
    slack, names = clearance.worst(pose[None])
    if slack < 0:
        numbers = ", ".join(f"{x:.3g}" for x in pose)
        cause = f"the pose q = {numbers} misses the clearance between {names} by {-slack:.3g} m"
        raise LimitError(cause, where="home", remedy="give another one")
    return pose


def approach(arm: Arm, clearance: Clearance, home: ArrayLike, start: NDArray) -> Trajectory:
    """Plan the motion from home to the start of a motion, from rest to rest: straight, or over poses between.

    Parameters
    ----------
    arm : Arm
    clearance : Clearance
        What is kept clear at all times.
    home, start : array_like, shape (n,)
        [rad or m].

    Raises
    ------
    LimitError
        If home is no pose for this arm, or no way was found.
    """
    home = check_home(arm, clearance, home)
    velocity = np.minimum(SPEED_RATIO * MotionLimits.of(arm).velocity, MAX_SPEED)
    limits = MotionLimits.of(arm, velocity=velocity, acceleration=APPROACH_ACCELERATION)
    for via in _ways(arm, home, start):
        poses = [home, *via, start]
        parts = tuple(
            point_to_point(one, two, velocity=velocity, acceleration=APPROACH_ACCELERATION)
            for one, two in itertools.pairwise(poses)
            if not np.array_equal(one, two)
        ) or (point_to_point(home, start, duration=1.0),)
        if all(clearance.worst(part(np.linspace(0, part.duration, 50)).q)[0] > 0 for part in parts):
            way = Sequence(parts)
            if clearance.least(way, limits) > 0:
                return way
    cause = (
        "no way from the home pose to the start of the motion was found that keeps links apart and "
        f"off the floor and obstacles (straight, and over {VIA_POSES_TRIED} poses between)"
    )
    raise LimitError(cause, where="home", remedy="give another home pose")


def _ways(arm: Arm, home: NDArray, start: NDArray) -> list[tuple[NDArray, ...]]:
    """Poses between: none first, then those of small detours before large ones."""
    rng = np.random.default_rng(0)
    lower, upper = (np.clip(x, -np.pi, np.pi) for x in arm.position_limits)
    size = np.linspace(0.1, 1.0, VIA_POSES_TRIED)[:, None]
    middle = np.clip(
        (home + start) / 2 + size * rng.uniform(-1, 1, (VIA_POSES_TRIED, arm.n)) * (upper - lower) / 2, lower, upper
    )
    return [(), *((pose,) for pose in middle)]


@dataclass(frozen=True, eq=False)
class Reversed:
    """A motion from rest to rest, backwards."""

    motion: Trajectory

    duration = PartOf[float]("motion.duration", "[s].")
    n = PartOf[int]("motion.n", "Number of joints.")

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times t [s]."""
        q, qd, qdd = self.motion(self.duration - np.asarray(t, float))
        return JointMotion(q, -qd, qdd)
