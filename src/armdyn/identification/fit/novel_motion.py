"""Motion of the same kind that the logs do not have, on which models that explain the logs alike may differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from armdyn.identification.motion.track import Track

SHIFT_SHARE, SPEED_FACTOR = 0.25, 1.1  # of a joint's range, and speed of a motion over that of the logs
REPEATS, REPEAT_SAMPLES = 4, 150  # of new motion
SPACING_SECONDS = 0.05  # between samples of the logs that it is made of


def novel_motion(tracks: Iterable[Track], moved: Iterable[int] | None = None) -> Track:
    """Motion of the same kind that the logs do not have.

    Joints (or those that are `moved`) move as they did, but shifted in time against one another, each by a quarter of
    its range to either side, and a tenth faster.
    """
    thin = [track.part(slice(None, None, max(1, round(SPACING_SECONDS / track.dt)))) for track in tracks]
    q, qd, qdd = (np.concatenate([getattr(track, name) for track in thin]) for name in ("q", "qd", "qdd"))
    count, n = q.shape
    span, joints = np.ptp(q, axis=0), np.arange(n)
    every, parts = max(1, count // REPEAT_SAMPLES), []
    other = np.ones(n) if moved is None else np.isin(joints, list(moved)).astype(float)
    faster = 1 + (SPEED_FACTOR - 1) * other
    for repeat in range(REPEATS):
        later = (other * count * ((0.618 * (repeat + 1) * joints + 0.13 * repeat) % 1)).astype(int)
        side = 1 - 2 * ((joints // (1 + repeat % 2) + repeat) % 2)
        rows = (np.arange(0, count, every)[:, None] - later) % count
        shift = SHIFT_SHARE * span * side * other
        parts.append((q[rows, joints] + shift, faster * qd[rows, joints], faster**2 * qdd[rows, joints]))
    q, qd, qdd = (np.concatenate(column) for column in zip(*parts, strict=True))
    t = SPACING_SECONDS * np.arange(len(q))
    return thin[0]._replace(t=t, dt=SPACING_SECONDS, q=q, qd=qd, qdd=qdd, tau=np.zeros_like(q), temperature=None)
