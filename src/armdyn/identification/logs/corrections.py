"""Corrections of logs whose faults are known: late torques, zeros of joints, clocks at another pace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import Log, interpolate
from armdyn.model.arm import Arm

LATEST_SECONDS = 1.0  # by which torques may be late


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
    words = tuple(word for name, value in zero.items() for word in ("--zero", f"{name}={value:.10g}"))
    return [replace(log, q=log.q - off, options=(*log.options, *words)) for log in logs]


def with_time_scale(logs: list[Log], scale: float | None) -> list[Log]:
    """The logs with times that are longer by a factor, and velocities that follow if they were those of the times."""
    if scale is None:
        return logs
    if not 0 < scale < np.inf:
        raise ArmdynError(f"time scale: expected a factor > 0, got {scale}")
    words = ("--time-scale", f"{scale:.10g}")
    return [replace(log, t=log.t * scale, qd=_velocities(log, scale), options=(*log.options, *words)) for log in logs]


def _velocities(log: Log, scale: float) -> np.ndarray | None:
    """Velocities of the log: those that were computed from its times change with these, others do not."""
    if log.qd is None or log.still:
        return log.qd
    rates = np.gradient(log.q, log.t, axis=0)
    slope = np.sum(log.qd * rates) / max(np.sum(rates**2), 1e-300)
    of_times = abs(np.log(max(slope, 1e-12))) < abs(np.log(max(slope * scale, 1e-12)))
    return np.asarray(log.qd / scale if of_times else log.qd)


def without_delay(logs: list[Log], delay: float | None) -> list[Log]:
    """The logs with torques as if they had not been measured later than positions [s]."""
    if not delay:
        return logs
    if not abs(delay) < LATEST_SECONDS:
        raise ArmdynError(f"delay: expected less than {LATEST_SECONDS:g} s, got {delay}")
    words = ("--delay", f"{delay:.10g}")
    return [
        log
        if log.still
        else replace(log, tau=interpolate(log.t + delay, log.t, log.tau), options=(*log.options, *words))
        for log in logs
    ]
