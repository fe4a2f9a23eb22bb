"""A logarithmic barrier that keeps a sampled motion inside its limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.trajectory.excitation.motion_constraints import Pull, TorqueLimits
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import JointMotion


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
