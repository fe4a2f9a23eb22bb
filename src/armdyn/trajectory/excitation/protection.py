"""What spares the robot and its surroundings during a motion: which conditions are kept, and which nobody checks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import row_of
from armdyn.errors import ArmdynError, LimitError, MissingInertiaError
from armdyn.model.arm import Arm
from armdyn.model.diagnosis import diagnose
from armdyn.model.joint import Friction
from armdyn.numerals import pluralize
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import Box, HalfSpace, Obstacle, Sphere, mounting_plane, read_obstacles
from armdyn.spatial.transform import transform
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.motion_constraints import Constraint, TipBox, TorqueLimits
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import Trajectory

PLANE_WORDS = {"floor": ("lowest", "above"), "ceiling": ("closest", "below")}  # else: closest, from


@dataclass(frozen=True, eq=False)
class Protection:
    """Constraints of a motion, and in words what is kept and what is not checked."""

    constraints: tuple[Constraint, ...]
    clearance: Clearance  # also where nothing is kept clear: for drawings and the lowest point
    plane: HalfSpace | None
    kept: tuple[str, ...]
    unchecked: tuple[str, ...]

    def lowest(self, motion: Trajectory) -> str:
        """How low links 2 to n come, or how near to a wall or a ceiling, in words."""
        plane = self.plane
        if plane is not None:
            height = self.clearance.lowest(motion, plane.normal) - plane.offset
            point, side = PLANE_WORDS.get(plane.name, ("closest", "from"))
            return f"{point} point {1000 * height:.0f} mm {side} the {plane.name}"
        g = np.linalg.norm(self.clearance.arm.gravity)
        up = -self.clearance.arm.gravity / g if g else np.array([0.0, 0.0, 1.0])
        return f"lowest point {self.clearance.lowest(motion, up):.2f} m above the origin of the base axes"


@dataclass
class Words:
    """Sentences under way."""

    kept: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def protect(
    arm: Arm,
    *,
    margin: float,
    max_torque: ArrayLike | bool | None = None,
    floor: float | bool | None = None,
    self_collision: bool = True,
    obstacles: tuple[Obstacle, ...] = (),
    tip_box: tuple[ArrayLike, ArrayLike] | None = None,
    radius: ArrayLike | None = None,
) -> Protection:
    """The conditions that `excite` keeps besides the joints' own limits; see there."""
    words = Words()
    torque = _torque(arm, max_torque, margin, words)
    radii = None if radius is None else row_of(radius, arm.n + 1, "radius", LimitError, sign=">=", finite=True)
    bodies = bodies_of(arm, radii)
    plane = None if floor is False else mounting_plane(arm, None if floor is True else floor)
    clearance = Clearance(bodies, (*((plane,) if plane else ()), *obstacles), self_collision)
    _say_clearance(clearance, plane, floor, self_collision, obstacles, words)
    constraints: list[Constraint] = [*torque, *([TipBox.of(arm, tip_box)] if tip_box is not None else [])]
    if len(clearance.columns.one) + len(clearance.columns.body):
        constraints.append(clearance)
    return Protection(tuple(constraints), clearance, plane, tuple(words.kept), tuple(words.unchecked))


def protected_velocity(arm: Arm, given: ArrayLike | None, margin: float) -> NDArray:
    """Speeds (n,): a margin below the arm's own limits, and no more than those given."""
    own = np.array([joint.limits.velocity for joint in arm.joints]) * (1 - margin)
    return np.asarray(np.minimum(own, MotionLimits.of(arm, velocity=given).velocity))


def _torque(arm: Arm, max_torque: ArrayLike | bool | None, margin: float, words: Words) -> list[Constraint]:
    """Torque limits: those given, or the arm's own with a margin where they and its inertia are known."""
    if max_torque is False:
        words.unchecked.append("torques (switched off)")
        return []
    own = MotionLimits.of(arm).effort
    if max_torque is None or max_torque is True:
        if max_torque:
            TorqueLimits.of(arm, True)  # says what is missing
        limit, source = np.where(own > 0, own * (1 - margin), np.inf), f"{margin:.0%} below the arm's limits"
    else:
        limit, source = TorqueLimits.of(arm, max_torque).limit, "as given"
    absent = [arm.joint_names[i] for i in np.flatnonzero(~np.isfinite(limit))]
    if len(absent) == arm.n:
        words.unchecked.append("torques (the arm has no torque limits)")
        return []
    try:
        arm.trace_data("theta")
    except MissingInertiaError:
        words.unchecked.append("torques (the arm's inertia is unknown)")
        return []
    if absent:
        words.unchecked.append(f"torques of {', '.join(absent)} (no limits)")
    words.kept.append(f"torques by the present model {source}")
    if doubts := [str(finding) for finding in diagnose(arm) if finding.topic == "invented"]:
        words.unchecked.append(f"whether the model behind the torques is right ({'; '.join(doubts)})")
    if all(joint.friction == Friction() for joint in arm.joints):
        words.unchecked.append("torques of friction (the model has none)")
    return [TorqueLimits(arm, limit)]


def _say_clearance(
    clearance: Clearance,
    plane: HalfSpace | None,
    floor: float | bool | None,
    self_collision: bool,
    around: tuple[Obstacle, ...],
    words: Words,
) -> None:
    if plane is not None:
        words.kept.append(f"links above the {plane.name}" if plane.name == "floor" else f"links off the {plane.name}")
    elif floor is False:
        words.unchecked.append("the floor (switched off)")
    else:
        words.unchecked.append("the floor (nothing says where this arm is mounted; give its height)")
    if not self_collision:
        words.unchecked.append("collisions of links with each other (switched off)")
    elif clearance.pair_count:
        pairs = pluralize(clearance.pair_count, "pair")
        words.kept.append(f"{pairs} of links apart (capsules from {clearance.bodies.origin})")
    else:
        words.unchecked.append("collisions of links with each other (all links are neighbours, or overlap)")
    if clearance.bodies.notes:
        notes = clearance.bodies.notes
        words.unchecked.append(f"{len(notes)} collision shapes that could not be read (the first: {notes[0]})")
    if clearance.left_out:
        pairs = ", ".join(clearance.left_out)
        words.unchecked.append(f"collisions of {pairs} (their shapes touch in nearly all poses)")
    if around:
        words.kept.append(f"clear of {', '.join(obstacle.name for obstacle in around)}")
    else:
        words.unchecked.append("objects around the arm (no obstacles given)")


def obstacles_of(given: Any) -> tuple[Obstacle, ...]:
    """From a file, from corners of boxes (B, 2, 3), or as they are."""
    if isinstance(given, str | os.PathLike):
        return read_obstacles(given)
    if not isinstance(given, Iterable):
        raise ArmdynError(f"obstacles: expected a file, or boxes, half-spaces and spheres, got {given!r:.60}")
    return tuple(one if isinstance(one, Box | HalfSpace | Sphere) else _box(one) for one in given)


def _box(corners: Any) -> Box:
    try:
        low, high = np.asarray(corners, float).reshape(2, 3)
    except (TypeError, ValueError):
        raise LimitError(f"boxes: expected two corners of three numbers, got {corners!r:.60}") from None
    if not (np.isfinite([low, high]).all() and (low < high).all()):
        raise LimitError(f"boxes: expected finite corners with lower < upper, got {low} and {high}")
    return Box(transform(None, (low + high) / 2), high - low)
