"""Why a joint uses little of its range: what would be broken beyond the part that a motion uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.guarantees import phrases
from armdyn.trajectory.excitation.motion_constraints import MotionConstraint, TipBox, TorqueLimits
from armdyn.trajectory.excitation.protection import Protection
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import Trajectory

# A motion that leaves so much of a joint's range unused is asked why; what is in the way in as much of it is the cause.
MOST = 0.5
POSES, PLACES = 40, 15  # of the motion, and of the joint in the rest of its range, that are tried


class Confinement(NamedTuple):
    """A joint that cannot use most of its range, and what is in the way there."""

    joint: str
    share: float  # of its range that the motion uses
    cause: str
    kind: str  # of the guarantee that would be broken: "torque", "tip", "floor", "self" or "obstacle"
    guessed: bool = False  # whether the shapes in the way are

    def __str__(self) -> str:
        return f"{self.joint} can use only {self.share:.0%} of its range: beyond, {self.cause}"

    def remedy(self, terms: Mapping[str, str] | None = None) -> str:
        """Say what may help, with the names of parameters of `excite`, or of options that stand for them."""
        remedies, names = phrases()["remedies"], terms or phrases()["parameters"]
        shapes = remedies["guessed" if self.guessed else "described"].format(**names)
        return str(remedies[self.kind].format(shapes=shapes, **names))


def advice_on(confined: Iterable[Confinement], terms: Mapping[str, str] | None = None) -> str:
    """Say which joints are confined and what may help, each remedy once."""
    several = tuple(confined)
    remedies = dict.fromkeys(one.remedy(terms) for one in several)
    return f"{'; '.join(map(str, several))}. {'; '.join(remedies)}"


def confinements(motion: Trajectory, limits: MotionLimits, protection: Protection) -> tuple[Confinement, ...]:
    """The joints that a motion keeps to a small part of their range because a constraint takes the rest."""
    q = motion(np.linspace(0.0, motion.duration, 1000)).q
    low, high = q.min(0), q.max(0)
    share = (high - low) / (limits.upper - limits.lower)
    confined = []
    for i in np.flatnonzero((share < MOST) & np.isfinite(limits.half_range)):
        beyond = _beyond(q, int(i), (limits.lower[i], low[i], high[i], limits.upper[i]))
        blocked = [one for each in protection.constraints for one in _obstructions(each, beyond, protection)]
        if blocked and (worst := max(blocked, key=lambda one: one[0]))[0] >= MOST:
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


def _obstructions(
    constraint: MotionConstraint, q: NDArray, protection: Protection
) -> Iterator[tuple[float, str, str, bool]]:
    """Part of the poses in which something is in the way, what it is, its kind, and whether its shape is guessed."""
    rest = np.zeros_like(q)
    broken = constraint.slack((q, rest, rest)) < 0
    if isinstance(constraint, TorqueLimits):
        n = broken.shape[1] // 2
        for k, name in enumerate(constraint.arm.coordinate_names):
            cause = f"gravity alone needs more than the torque limit of {name} ({constraint.limit[k]:.3g})"
            yield float((broken[:, k] | broken[:, n + k]).mean()), cause, "torque", False
    elif isinstance(constraint, TipBox):
        yield float(broken.any(1).mean()), "the tip would leave its room", "tip", False
    elif isinstance(constraint, Clearance):
        for columns in constraint.named_columns.values():
            first, guessed = columns[0], constraint.guessed(columns[0])
            shapes = f" (capsules from {constraint.bodies.origin})" if guessed else ""
            kind = "obstacle"
            if first < len(constraint.columns.one):
                kind = "self"
            elif constraint.obstacle(first) is protection.plane:
                kind = "floor"
            cause = f"{constraint.label(first)} would collide{shapes}"
            yield float(broken[:, columns].any(1).mean()), cause, kind, guessed


def too_weak(limits: MotionLimits, constraints: Iterable[MotionConstraint]) -> str:
    """The joint that can least hold the arm up against gravity by its torque limit, in words; empty if all can."""
    q = limits.random_poses()
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
