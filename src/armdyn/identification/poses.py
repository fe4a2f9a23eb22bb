"""Poses held still in a log: found by speed, averaged, and free of all torque but gravity (and static friction)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.logs.log import FEWEST_POSES, Log, Stretch
from armdyn.identification.motion.differentiate import differentiate

CUTOFF_HZ = 2.0  # Hz: arms that stand still need no more
STILL_SPEED_SHARE = 0.02  # of its top speed, below which a joint stands still
STILL_SPEED = 1e-3  # rad/s or m/s below which it does, too
HOLD_SECONDS = 0.5  # s: shorter rests are turning points
SETTLING_SECONDS = 0.2  # s at either end of a rest, in which the arm may still swing
REST_SHARE = 0.25  # of the time at rest, from which on a log is one of poses


class HeldPoses(NamedTuple):
    """Averages over rests."""

    t: NDArray  # (P,) middle of each rest, from the start of the first log on [s]
    q: NDArray  # (P, n)
    tau: NDArray  # (P, n)
    share: float  # of the logs' time at rest


def held_poses(logs: Iterable[Log]) -> HeldPoses | None:
    """The poses of logs in which the arm mostly rests; None where it mostly moves."""
    found: list[tuple[float, NDArray, NDArray]] = []
    elapsed, resting, total = 0.0, 0.0, 0.0
    for log in logs:
        if log.still:
            found += zip(log.t - log.t[0] + elapsed, log.q, log.tau, strict=True)
            elapsed, resting, total = elapsed + log.duration, resting + log.duration, total + log.duration
            continue
        for s in log.stretches:
            for rest in _rests(s):
                found.append((s.t[rest].mean() - log.t[0] + elapsed, s.q[rest].mean(axis=0), s.tau[rest].mean(axis=0)))
                resting += s.t[rest][-1] - s.t[rest][0] + 2 * SETTLING_SECONDS
            total += s.t[-1] - s.t[0]
        elapsed += log.duration
    if len(found) < FEWEST_POSES or resting < REST_SHARE * total:
        return None
    t, q, tau = (np.array(column) for column in zip(*found, strict=True))
    return HeldPoses(t, q, tau, resting / total)


def _rests(s: Stretch) -> list[slice]:
    """Samples of each rest, its ends cut off."""
    speed = np.abs(differentiate(s.q, s.dt, cutoff=min(CUTOFF_HZ, 0.2 / s.dt)).qd)
    still = (speed < np.maximum(STILL_SPEED_SHARE * np.percentile(speed, 99, axis=0), STILL_SPEED)).all(axis=1)
    edges = np.flatnonzero(np.diff(np.r_[False, still, False].astype(int)))
    cut = int(SETTLING_SECONDS / s.dt)
    return [slice(a + cut, b - cut) for a, b in pairwise(edges) if still[a] and (b - a) * s.dt >= HOLD_SECONDS]
