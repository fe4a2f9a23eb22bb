"""Logs whose faults are known and were asked to be mended: late torques, zeros of joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import Log
from armdyn.model.arm import Arm

LATEST = 1.0  # s


def with_zeros(arm: Arm, logs: list[Log], zero: Mapping[str, float] | None) -> list[Log]:
    """The logs with positions from which the zeros of joints, by name, are taken [rad or m]."""
    if not zero:
        return logs
    off = np.zeros(arm.n)
    for name, value in zero.items():
        if name not in arm.joint_names:
            raise ArmdynError(f"zero: arm '{arm.name}' has no joint {name!r}; it has {', '.join(arm.joint_names)}")
        if not np.isfinite(value):
            raise ArmdynError(f"zero: expected a number for joint '{name}', got {value}")
        off[arm.joint_names.index(name)] = value
    return [replace(log, q=log.q - off) for log in logs]


def without_delay(logs: list[Log], delay: float | None) -> list[Log]:
    """The logs with torques as if they had not been measured later than positions [s]."""
    if not delay:
        return logs
    if not abs(delay) < LATEST:
        raise ArmdynError(f"delay: expected less than {LATEST:g} s, got {delay}")
    return [log if log.still else replace(log, tau=_earlier(log, delay)) for log in logs]


def _earlier(log: Log, delay: float) -> np.ndarray:
    return np.stack([np.interp(log.t + delay, log.t, column) for column in log.tau.T], axis=1)
