"""What speaks against a log of servos, before anything is fitted to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import DataError
from armdyn.identification.limits import NOT_USABLE_ERROR
from armdyn.identification.logs.columns import MOVING_RANGE
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.model.arm import Arm
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import MAX_DELAY_S
from armdyn.servo.replay import SETTLING_TIME_S

LIMIT_SLACK_RAD = np.radians(2.0)  # rad: encoders and limits of descriptions differ by some


def check_logs(arm: Arm, logs: Sequence[ServoLog]) -> NDArray:
    """Return which joints (n,) are moved; reject logs that tell nothing."""
    for log in logs:
        if log.n != arm.n:
            raise DataError(where=log.name, expected=f"{arm.n} joints for arm '{arm.name}'", got=log.n)
        _reject_saturated(arm, log)
    commanded = np.array([np.ptp(log.command, axis=0) for log in logs]).max(0)
    measured = np.array([np.ptp(log.q, axis=0) for log in logs]).max(0)
    if not (commanded > MOVING_RANGE).any():
        cause = f"nothing is commanded: no joint's command moves by more than {1e3 * commanded.max():.2g} mrad"
        remedy = "record while the arm follows a motion, and look whether command= names the commanded positions"
        raise DataError(cause, where=logs[0].name, remedy=remedy)
    still = (commanded > MOVING_RANGE) & (measured < MOVING_RANGE / 4)
    if still.any():
        cause = f"joint '{arm.joint_names[int(np.argmax(still))]}' is commanded but does not move"
        remedy = "is its torque on, and does measured= name the measured positions?"
        raise DataError(cause, where=logs[0].name, remedy=remedy, names=(arm.joint_names[int(np.argmax(still))],))
    for log in logs:
        _reject_swapped(arm, log, commanded > MOVING_RANGE)
    return commanded > MOVING_RANGE


def _reject_saturated(arm: Arm, log: ServoLog) -> None:
    """Commands beyond a joint's limits are cut off by the servo, at a place nobody knows."""
    lower, upper = arm.position_limits
    beyond = (log.command > upper + LIMIT_SLACK_RAD) | (log.command < lower - LIMIT_SLACK_RAD)
    share = beyond.mean(0)
    j = int(np.argmax(share))
    if share[j] > SMALL_SHARE:
        worst = log.command[beyond[:, j], j]
        far = worst[np.argmax(np.abs(worst))]
        cause = (
            f"joint '{arm.joint_names[j]}' is commanded to {far:.3g}, beyond its limits {lower[j]:.3g} to "
            f"{upper[j]:.3g}, in {share[j]:.0%} of the samples, where servos saturate"
        )
        remedy = "command within the limits, or say in which units positions are with units="
        raise DataError(cause, where=log.name, remedy=remedy, names=(arm.joint_names[j],))


def _reject_swapped(arm: Arm, log: ServoLog, moved: NDArray) -> None:
    """Measured positions follow commands, never the other way round; and nothing like the commands is another joint."""
    t = np.arange(max(log.t[0], log.stamps[0]), min(log.t[-1], log.stamps[-1]), log.dt)
    most = int((MAX_DELAY_S + SETTLING_TIME_S) / log.dt)  # no servo answers later
    if len(t) < 4 * most:
        return
    for j in np.flatnonzero(moved & (np.ptp(log.command, axis=0) > MOVING_RANGE)):
        sent = np.interp(t, log.stamps, log.command[:, j])
        measured = np.interp(t, log.t, log.q[:, j])
        middle = sent[most:-most] - sent.mean()
        lags = np.arange(-most, most + 1)
        missed = [np.std(measured[most + k : len(t) - most + k] - sent.mean() - middle) for k in lags]
        best = int(np.argmin(missed))
        name = arm.joint_names[j]
        if missed[best] > NOT_USABLE_ERROR * np.std(middle) + MOVING_RANGE:
            cause = (
                f"joint '{name}' does not follow its commands (it misses {missed[best]:.2g} of "
                f"{np.std(middle):.2g} rad)"
            )
            remedy = "are the joints in the arm's order, and command= and measured= the right columns?"
            raise DataError(cause, where=log.name, remedy=remedy, names=(name,))
        if lags[best] < 0 and missed[best] < 0.5 * missed[most]:
            cause = f"joint '{name}' moves {-1e3 * lags[best] * log.dt:.0f} ms before it is commanded"
            raise DataError(cause, where=log.name, remedy="swap command= and measured=", names=(name,))
