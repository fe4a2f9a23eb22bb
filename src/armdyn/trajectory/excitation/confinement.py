"""Why a joint uses little of its range: what would be broken beyond the part that a motion uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.motion_constraints import MotionConstraint, TipBox, TorqueLimits
from armdyn.trajectory.excitation.protection import Protection
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import Trajectory

LITTLE_USED_RATIO = 0.5  # part of a joint's range below which a motion is asked why
BLOCKED_RATIO = 0.5  # part of the rest in which something must be in the way to be the cause
POSES, PLACES = 40, 15  # of the motion, and of the joint in the rest of its range, that are tried
POSES_HELD = 500  # random ones in which gravity is weighed


class Confinement(NamedTuple):
    """A joint that cannot use most of its range, and what is in the way there."""

    joint: str
    share: float  # of its range that the motion uses
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.joint} can use only {self.share:.0%} of its range: beyond, {self.cause}"


def confinements(motion: Trajectory, limits: MotionLimits, protection: Protection) -> tuple[Confinement, ...]:
    """The joints that a motion keeps to a small part of their range because a constraint takes the rest."""
    q = motion(np.linspace(0.0, motion.duration, 1000)).q
    low, high = q.min(0), q.max(0)
    share = (high - low) / (limits.upper - limits.lower)
    confined = []
    for i in np.flatnonzero((share < LITTLE_USED_RATIO) & np.isfinite(limits.half_range)):
        beyond = _beyond(q, int(i), (limits.lower[i], low[i], high[i], limits.upper[i]))
        blocked = [pair for each in protection.constraints for pair in _obstructions(each, beyond, protection)]
        if blocked and (worst := max(blocked, key=lambda pair: pair[0]))[0] >= BLOCKED_RATIO:
            confined.append(Confinement(limits.joint_names[i], float(share[i]), *worst[1:]))
    return tuple(confined)


def _beyond(q: NDArray, i: int, ends: tuple[float, ...]) -> NDArray:
    """Poses of a motion with joint i where it never is."""
    lower, low, high, upper = ends
    places = np.linspace(lower, upper, PLACES)
    places = places[(places < low) | (places > high)]
    poses = np.repeat(q[:: len(q) // POSES], len(places), axis=0)
    poses[:, i] = np.tile(places, len(poses) // max(len(places), 1))
    return poses


def _obstructions(constraint: MotionConstraint, q: NDArray, protection: Protection) -> Iterator[tuple[float, str, str]]:
    """Part of the poses in which something is in the way, what it is, and what may help."""
    rest = np.zeros_like(q)
    broken = constraint.slack((q, rest, rest)) < 0
    if isinstance(constraint, TorqueLimits):
        n = broken.shape[1] // 2
        for k, name in enumerate(constraint.arm.coordinate_names):
            yield (
                float((broken[:, k] | broken[:, n + k]).mean()),
                f"gravity alone needs more than the torque limit of {name} ({constraint.limit[k]:.3g})",
                "Allow more torque (--max-torque) where the drive can give it",
            )
    elif isinstance(constraint, TipBox):
        yield float(broken.any(1).mean()), "the tip would leave its room", "Allow it more room (--table)"
    elif isinstance(constraint, Clearance):
        for columns in constraint.named_columns.values():
            yield float(broken[:, columns].any(1).mean()), *_collision(constraint, columns[0], protection)


def _collision(clearance: Clearance, column: int, protection: Protection) -> tuple[str, str]:
    """Return the bodies that would touch, by which shapes, and what helps."""
    name, guessed = clearance.label(column), clearance.guessed(column)
    shapes = f" (capsules from {clearance.bodies.origin})" if guessed else ""
    thinner = "If these are too thick, give --radius" if guessed else "If that is wrong, correct its shapes"
    if column < len(clearance.columns.one):
        return f"{name} would collide{shapes}", f"{thinner}, or --no-self-collision"
    if clearance.obstacle(column) is protection.plane:
        return f"{name} would collide{shapes}", f"{thinner}; or see --floor and --no-floor"
    return f"{name} would collide{shapes}", f"{thinner}, or move what is in the way"


def too_weak(limits: MotionLimits, constraints: Iterable[MotionConstraint]) -> str:
    """The joint that can least hold the arm up against gravity by its torque limit, in words; empty if all can."""
    reach = np.minimum(limits.half_range, np.pi)
    q = limits.center + reach * np.random.default_rng(0).uniform(-1, 1, (POSES_HELD, len(reach)))
    rest = np.zeros_like(q)
    for each in constraints:
        if isinstance(each, TorqueLimits):
            need = np.abs(joint_torque(each.arm, q, rest, rest)).max(0)
            i = int(np.argmax(need / each.limit))
            if need[i] > each.limit[i]:
                unit = "N m" if each.arm.coordinate_joints[i].kind == "revolute" else "N"
                held = f"{each.limit[i]:.3g} {unit} at joint {i + 1} '{each.arm.coordinate_names[i]}'"
                return f"{held} cannot hold the arm up where gravity alone needs up to {need[i]:.3g} {unit}"
    return ""
