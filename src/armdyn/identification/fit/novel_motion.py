"""Motion of the arm that the logs do not have, on which models that explain the logs alike may differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm

RANGE_SHARE = 0.5  # of a joint's limits' range that motion should go through
REPEATS, REPEAT_SAMPLES = 4, 150  # of new motion


def novel_motion(tracks: Iterable[Track], moved: Iterable[int] | None = None) -> Track:
    """Motion of the same kind that the logs do not have: joints move as they did, but not at the same times.

    Joints (or those that are `moved`) are shifted in time against one another.
    """
    several = list(tracks)
    step = max(1, sum(len(track.t) for track in several) // (REPEATS * REPEAT_SAMPLES))
    thin = [track.part(slice(None, None, step)) for track in several]
    q, qd, qdd = (np.concatenate([getattr(track, name) for track in thin]) for name in ("q", "qd", "qdd"))
    count, n = q.shape
    joints, parts = np.arange(n), []
    other = np.ones(n) if moved is None else np.isin(joints, list(moved))
    for repeat in range(REPEATS):
        later = (other * count * ((0.618 * (repeat + 1) * joints + 0.13 * repeat) % 1)).astype(int)
        rows = (np.arange(0, count, max(1, count // REPEAT_SAMPLES))[:, None] - later) % count
        parts.append((q[rows, joints], qd[rows, joints], qdd[rows, joints]))
    q, qd, qdd = (np.concatenate(column) for column in zip(*parts, strict=True))
    dt = step * several[0].dt
    return thin[0]._replace(
        t=dt * np.arange(len(q)), dt=dt, q=q, qd=qd, qdd=qdd, tau=np.zeros_like(q), temperature=None
    )


def moved_joints(tracks: Iterable[Track], arm: Arm) -> tuple[int, ...]:
    """Joints that did not stand still, beside the widest motion of their kind."""
    q = np.concatenate([track.q for track in tracks])
    span, turns = np.ptp(q, axis=0), np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    widest = np.array([span[turns == kind].max() for kind in turns])
    return tuple(np.flatnonzero(span >= SMALL_SHARE * widest).tolist())


def wide_motion(tracks: Iterable[Track], arm: Arm, joints: Iterable[int] | None = None) -> Track:
    """Motion like that of the logs in which joints go through half of their range or more, as fast as others do.

    Joints without limits have a turn, or as a slide the range of the logs.
    """
    wide = tuple(range(arm.n)) if joints is None else tuple(joints)
    along = novel_motion(tracks, wide)
    lower, upper = arm.position_limits
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    span, top = np.maximum(np.ptp(along.q, axis=0), 1e-9), np.maximum(np.abs(along.qd).max(axis=0), 1e-9)
    room = np.where(np.isfinite(upper - lower), upper - lower, np.where(turns, 2 * np.pi, span))
    further = np.where(np.isin(np.arange(arm.n), wide), np.maximum(RANGE_SHARE * room / span, 1.0), 1.0)
    fastest = np.array([top[turns == kind].max() for kind in turns])
    faster = np.minimum(further, fastest / top)
    middle = (along.q.max(axis=0) + along.q.min(axis=0)) / 2
    q = middle + further * (along.q - middle)
    return along._replace(q=q, qd=faster * along.qd, qdd=faster**2 / further * along.qdd)
