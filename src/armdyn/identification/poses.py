"""Poses held still in a log: found by speed, averaged, and free of all torque but gravity (and static friction)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.limits import CHARACTERISTIC_SHARE
from armdyn.identification.logs.log import DYNAMICS_SECONDS, MIN_POSES, SMALL_SHARE, STILL_TRAVEL, Log, Stretch
from armdyn.identification.motion.differentiate import differentiate
from armdyn.identification.motion.track import BAND_HZ

# Rests shorter than `DYNAMICS_SECONDS` are turning points; so long a joint comes into one.
ONE_SIDED_SHARE = 0.9  # of the poses, more of them from one side than from the other


class HeldPoses(NamedTuple):
    """Averages over rests."""

    t: NDArray  # (P,) middle of each rest, from the start of the first log on [s]
    q: NDArray  # (P, n)
    tau: NDArray  # (P, n)
    share: float  # of the logs' time at rest
    sides: NDArray  # (P, n) directions from which joints came into each pose, 0 where that is not known

    @property
    def one_sided(self) -> tuple[int, ...]:
        """Joints, from 0, that came into nearly all poses from one side: static friction then looks like weight."""
        count = np.maximum(np.count_nonzero(self.sides, axis=0), 1)
        alike = np.abs(self.sides.sum(axis=0)) > ONE_SIDED_SHARE * count
        return tuple(np.flatnonzero(alike & (count >= MIN_POSES)).tolist())


def held_poses(logs: Iterable[Log]) -> HeldPoses | None:
    """The poses of logs in which the arm mostly rests; None where it mostly moves."""
    rests: list[tuple[float, NDArray, NDArray, NDArray]] = []
    elapsed, resting, total = 0.0, 0.0, 0.0
    for log in logs:
        if log.still:
            sides = np.sign(np.diff(log.q, axis=0, prepend=log.q[:1]))  # as if poses were taken one after the other
            rests += zip(log.t - log.t[0] + elapsed, log.q, log.tau, sides, strict=True)
            elapsed, resting, total = elapsed + log.duration, resting + log.duration, total + log.duration
            continue
        for s in log.stretches:
            for rest in _rests(s):
                middle = s.t[rest].mean() - log.t[0] + elapsed
                rests.append((middle, s.q[rest].mean(axis=0), s.tau[rest].mean(axis=0), _side(s, rest)))
                resting += s.t[rest][-1] - s.t[rest][0] + 2 / BAND_HZ
            total += s.t[-1] - s.t[0]
        elapsed += log.duration
    if len(rests) < MIN_POSES or resting < CHARACTERISTIC_SHARE * total:
        return None
    t, q, tau, sides = (np.array(column) for column in zip(*rests, strict=True))
    return HeldPoses(t, q, tau, resting / total, sides)


def _side(s: Stretch, rest: slice) -> NDArray:
    """Directions (n,) in which joints moved last before a rest; 0 of those that did not, or at the start."""
    before = s.q[max(0, rest.start - int(DYNAMICS_SECONDS / s.dt)) : rest.start]
    gone = s.q[rest].mean(axis=0) - before[0] if len(before) else np.zeros(s.q.shape[1])
    return np.where(np.abs(gone) > STILL_TRAVEL, np.sign(gone), 0.0)


def _rests(s: Stretch) -> list[slice]:
    """Samples of each rest, its ends cut off."""
    speed = np.abs(differentiate(s.q, s.dt, cutoff=min(1 / DYNAMICS_SECONDS, 0.2 / s.dt)).qd)
    still = (speed < np.maximum(SMALL_SHARE * np.percentile(speed, 99, axis=0), STILL_TRAVEL * BAND_HZ)).all(axis=1)
    edges = np.flatnonzero(np.diff(np.r_[False, still, False].astype(int)))
    cut = int(1 / (BAND_HZ * s.dt))  # the arm may still swing at either end
    return [slice(a + cut, b - cut) for a, b in pairwise(edges) if still[a] and (b - a) * s.dt >= DYNAMICS_SECONDS]
