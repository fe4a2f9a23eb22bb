"""What spares the robot and its surroundings during a motion: which conditions are kept, and which nobody checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import row_of
from armdyn.errors import LimitError, MissingInertiaError
from armdyn.model.arm import Arm
from armdyn.model.diagnosis import diagnose
from armdyn.model.joint import Friction
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import HalfSpace, mounting_plane
from armdyn.trajectory.excitation.clearance import DISTANCE_RATE_HZ, Clearance
from armdyn.trajectory.excitation.guarantees import (
    EXCLUDED,
    JOINT_KINDS,
    OVERLAP,
    SWITCHED_OFF,
    UNKNOWN,
    Guarantee,
    LeftOut,
    LowestPoint,
)
from armdyn.trajectory.excitation.motion_constraints import FollowerLimits, MotionConstraint, TipBox, TorqueLimits
from armdyn.trajectory.excitation.options import ProtectionOptions, TorqueCheck
from armdyn.trajectory.motion_limits import CHECK_RATE_HZ, MotionLimits, limit_uses, violations
from armdyn.trajectory.protocol import GRID_RATE_HZ, Trajectory


@dataclass(frozen=True, eq=False)
class Protection:
    """Constraints that a motion shall keep, what of them cannot be checked, and checks of a motion."""

    constraints: tuple[MotionConstraint, ...]
    clearance: Clearance  # also where nothing is kept clear: for drawings and the lowest point
    plane: HalfSpace | None
    left_out: Mapping[str, tuple[LeftOut, ...]]  # by kind of guarantee
    torque_basis: str = ""

    def guarantees(self, motion: Trajectory, limits: MotionLimits) -> tuple[Guarantee, ...]:
        """Everything that was checked of a motion within limits, checked now; and what was left out."""
        guarantees = [*limit_guarantees(motion, limits), self._torque(motion, limits)]
        guarantees += [self._tip(each, motion, limits) for each in self.constraints if isinstance(each, TipBox)]
        # Distances between samples are bounded by the largest speeds and accelerations.
        bounded = all(one.holds for one in guarantees if one.kind in ("velocity", "acceleration"))
        return (*guarantees, *(self._clear(kind, motion, limits, bounded) for kind in ("floor", "self", "obstacle")))

    def _torque(self, motion: Trajectory, limits: MotionLimits) -> Guarantee:
        left_out = self.left_out.get("torque", ())
        for each in self.constraints:
            if isinstance(each, TorqueLimits):
                finite, free = np.isfinite(each.limit), each.least(motion, limits)
                joints = tuple(name for name, known in zip(each.arm.coordinate_names, finite, strict=True) if known)
                return Guarantee(
                    "torque", joints=joints, limit=_floats(each.limit[finite]), rate=GRID_RATE_HZ, min_distance=free,
                    holds=free >= 0, left_out=left_out, basis=self.torque_basis,
                )  # fmt: skip
        return Guarantee("torque", left_out=left_out)

    def _tip(self, room: TipBox, motion: Trajectory, limits: MotionLimits) -> Guarantee:
        free = room.least(motion, limits)
        corners = _floats((*room.lower, *room.upper))
        return Guarantee("tip", limit=corners, rate=GRID_RATE_HZ, min_distance=free, holds=free >= 0)

    def _clear(self, kind: str, motion: Trajectory, limits: MotionLimits, bounded: bool) -> Guarantee:
        part, left_out = self._part(kind), self.left_out.get(kind, ())
        lost = {OVERLAP: part.left_out, EXCLUDED: part.excluded}
        left_out = (*(LeftOut(cause, pairs) for cause, pairs in lost.items() if pairs), *left_out)
        if not part.pairs:
            return Guarantee(kind, left_out=left_out)
        free = part.least(motion, limits, tight=True)
        return Guarantee(
            kind, part.links, pairs=part.pairs, limit=(0.0,), rate=DISTANCE_RATE_HZ, min_distance=free,
            holds=bounded and free >= 0, left_out=left_out, basis=part.bodies.origin,
        )  # fmt: skip

    def _part(self, kind: str) -> Clearance:
        """The part of the clearance that a guarantee is about."""
        bodies, obstacles = self.clearance.bodies, self.clearance.obstacles
        if kind == "self":
            return Clearance(bodies, (), self.clearance.apart)
        return Clearance(bodies, tuple(one for one in obstacles if (one is self.plane) == (kind == "floor")), False)

    def lowest(self, motion: Trajectory) -> LowestPoint:
        """Compute how low links 2 to n come, or how near to a wall or a ceiling."""
        plane = self.plane
        if plane is not None:
            return LowestPoint(self.clearance.lowest(motion, plane.normal) - plane.offset, plane.name)
        g = np.linalg.norm(self.clearance.arm.gravity)
        up = -self.clearance.arm.gravity / g if g else np.array([0.0, 0.0, 1.0])
        return LowestPoint(self.clearance.lowest(motion, up))


def limit_guarantees(motion: Trajectory, limits: MotionLimits) -> Iterator[Guarantee]:
    """Whether positions, velocities and accelerations keep to their limits."""
    broken, uses = violations(motion, limits), limit_uses(motion, limits)
    bounds = ((limits.lower, limits.upper), (limits.velocity,), (limits.acceleration,))
    for kind, use, values in zip(JOINT_KINDS, uses, bounds, strict=True):
        known = np.isfinite(values).any(0)
        names = np.array(limits.joint_names)
        endless = tuple(names[~known].tolist())
        joints = tuple(names[known].tolist())
        holds = bool(joints) and kind not in broken
        free = float(1 - use.max(initial=0.0)) if joints else np.nan
        yield Guarantee(
            kind, joints=joints, limit=_floats(np.concatenate([row[known] for row in values])), rate=CHECK_RATE_HZ,
            min_distance=max(free, 0.0) if holds else free, holds=holds,
            left_out=(LeftOut("endless", names=endless),) if endless else (),
        )  # fmt: skip


def _floats(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def protect(arm: Arm, options: ProtectionOptions) -> Protection:
    """The conditions that `excite` keeps besides the joints' own limits; see there."""
    torque, basis, lost = _torque(arm, options)
    radii = options.radius
    if radii is not None:
        radii = row_of(radii, arm.n_joints + 1, "radius", LimitError, sign=">=", finite=True)
    plane = mounting_plane(arm, options.floor) if options.floor_check else None
    around = (*((plane,) if plane else ()), *options.obstacles)
    clearance = Clearance(bodies_of(arm, radii), around, options.self_collision)
    left_out = {"torque": lost, "self": _apart_left_out(clearance)}
    if plane is None:
        left_out["floor"] = (LeftOut(UNKNOWN if options.floor_check else SWITCHED_OFF),)
    if not options.obstacles:
        left_out["obstacle"] = (LeftOut("absent"),)
    constraints: list[MotionConstraint] = [*torque]
    if options.tip_box is not None:
        constraints.append(TipBox.of(arm, options.tip_box))
    if arm.G is not None and (followers := FollowerLimits(arm, options.margin)).rows.size:
        constraints.append(followers)
    if len(clearance.columns.one) + len(clearance.columns.body):
        constraints.append(clearance)
    return Protection(tuple(constraints), clearance, plane, left_out, basis)


def _apart_left_out(clearance: Clearance) -> tuple[LeftOut, ...]:
    """Return the collisions of links with each other that nobody checks, besides pairs that overlap."""
    omissions = []
    if not clearance.apart:
        omissions.append(LeftOut(SWITCHED_OFF))
    elif not Clearance(clearance.bodies).pairs:
        omissions.append(LeftOut("absent"))
    if clearance.bodies.notes:
        omissions.append(LeftOut("unread", names=clearance.bodies.notes))
    return tuple(omissions)


def protected_velocity(arm: Arm, velocity: ArrayLike | None, margin: float) -> NDArray:
    """Speeds (n,): a margin below the arm's own limits, and no more than those given."""
    reduced = np.array([joint.limits.velocity for joint in arm.coordinate_joints]) * (1 - margin)
    return np.asarray(np.minimum(reduced, MotionLimits.of(arm, velocity=velocity).velocity))


def _torque(arm: Arm, options: ProtectionOptions) -> tuple[list[MotionConstraint], str, tuple[LeftOut, ...]]:
    """Torque limits, those of the options or the arm's own with a margin; in words which; and what is not checked."""
    if options.torque_check is TorqueCheck.OFF:
        return [], "", (LeftOut(SWITCHED_OFF),)
    if options.max_torque is not None:
        limit, basis = TorqueLimits.of(arm, options.max_torque).limit, "as given"
    else:
        if options.torque_check is TorqueCheck.REQUIRED:
            TorqueLimits.of(arm, True)  # says what is missing
        effort, free = MotionLimits.of(arm).effort, options.margin
        limit, basis = np.where(effort > 0, effort * (1 - free), np.inf), f"{free:.0%} below the arm's limits"
    absent = tuple(arm.coordinate_names[i] for i in np.flatnonzero(~np.isfinite(limit)))
    if len(absent) == arm.n:
        return [], "", (LeftOut("absent"),)
    try:
        arm.trace_data("theta")
    except MissingInertiaError:
        return [], "", (LeftOut(UNKNOWN),)
    lost = [LeftOut("absent", names=absent)] if absent else []
    if doubts := tuple(str(finding) for finding in diagnose(arm) if finding.topic == "invented"):
        lost.append(LeftOut("doubt", names=doubts))
    if all(joint.friction == Friction() for joint in arm.joints):
        lost.append(LeftOut("frictionless"))
    return [TorqueLimits(arm, limit)], basis, tuple(lost)
