"""What may be wrong with the columns of a log: joints at rest, limits, sensors, clocks, velocities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.correlation import correlations
from armdyn.identification.hypotheses.fault_test import FaultTest, column_test
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.wording import joint_name
from armdyn.identification.limits import NOTABLE_RATIO
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.identification.logs.guess_columns import RATE_LIKENESS
from armdyn.identification.logs.log import (
    DYNAMICS_SECONDS,
    GAP_SECONDS,
    SMALL_SHARE,
    STILL_TRAVEL,
    Log,
    turns_too_far,
)
from armdyn.identification.motion.track import BAND_HZ
from armdyn.model.arm import Arm

POOR_CONDITION = 100.0  # of a joint's own columns (acceleration, speed, sign, one), from which on they look alike


class JointFigures(NamedTuple):
    """Travel, speed, acceleration and torque of each joint in a log, all (n,)."""

    low: NDArray  # least position [rad or m]
    high: NDArray
    speed: NDArray  # exceeded for a hundredth of the time [rad/s or m/s]
    acceleration: NDArray  # likewise [rad/s² or m/s²]
    reversals: NDArray  # how often it turned back
    condition: NDArray  # of its own columns acceleration, speed, sign of speed, one: 1 is best
    torque: NDArray  # rms [N m or N]
    peak: NDArray  # largest torque [N m or N]


def motion_findings(arm: Arm, figures: JointFigures, knows_unit: bool = False) -> list[Finding]:
    """Joints that rest, hardly move, never turn back, leave their limits, or turn as far as degrees."""
    spans = figures.high - figures.low
    still = spans < STILL_TRAVEL
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    if still.all():
        text = "no joint moves; dynamics cannot be identified from an arm at rest"
        return [Finding("reject", text, FindingKind.MOTION)]
    extremes = np.stack([figures.low, figures.high])
    if not knows_unit and turns_too_far(arm, extremes):
        text = f"joints turn to {np.abs(extremes[:, turns]).max():.0f} rad: degrees instead of radians?"
        return [Finding("reject", text, FindingKind.UNIT, correction=LogCorrection(degrees=True))]
    findings = []
    for j in range(arm.n):
        busiest = spans[turns == turns[j]].max()
        if still[j]:
            text = f"{joint_name(arm, j)} does not move: its friction and much of its inertia stay undetermined"
        elif spans[j] < SMALL_SHARE * busiest:
            text = f"{joint_name(arm, j)} hardly moves ({spans[j]:.2g} of the {busiest:.2g} of the busiest joint)"
        elif figures.reversals[j] == 0:
            text = (
                f"{joint_name(arm, j)} moves in one direction only: the log cannot separate Coulomb friction and offset"
            )
        elif figures.condition[j] > POOR_CONDITION:
            text = (
                f"{joint_name(arm, j)} moves at few speeds (condition {figures.condition[j]:.0f} of its regressor "
                "columns): the log cannot separate friction and inertia"
            )
        else:
            continue
        findings.append(Finding("note", text, FindingKind.MOTION, (j,)))
    return findings + _limits(arm, figures)


def clock_findings(arm: Arm, log: Log, figures: JointFigures) -> list[Finding]:
    """Times in another unit than seconds."""
    j = int(np.argmax(figures.speed))
    if log.dt > DYNAMICS_SECONDS:
        text = f"samples are {log.dt:.3g} s apart, which shows no dynamics: times in another unit?"
    elif log.duration < DYNAMICS_SECONDS:
        text = f"the log lasts {log.duration:.3g} s, too short for dynamics: times in another unit?"
    elif figures.speed[j] > 2 * np.pi / GAP_SECONDS:  # of a swing by 1 rad or m
        text = (
            f"{joint_name(arm, j)} moves at {figures.speed[j]:.3g} rad/s or m/s, faster than any robot joint: other "
            "units of time or position, or positions of the motor?"
        )
    else:
        return []
    return [Finding("reject", text, FindingKind.UNIT)]


def _limits(arm: Arm, figures: JointFigures) -> list[Finding]:
    findings = []
    lower, upper = arm.position_limits
    for j, (low, high) in enumerate(zip(figures.low, figures.high, strict=True)):
        slack = 0.05 * (upper[j] - lower[j]) if np.isfinite(upper[j] - lower[j]) else np.inf
        if low < lower[j] - slack or high > upper[j] + slack:
            # Limits in descriptions are often narrower than the robot's.
            text = (
                f"{joint_name(arm, j)} is at {low:.3g} to {high:.3g}, outside its limits {lower[j]:.3g} to "
                f"{upper[j]:.3g}: other units, another zero or another arm?"
            )
            findings.append(Finding("note", text, FindingKind.LIMITS, (j,)))
    return findings


def column_tests(arm: Arm, log: Log, findings: Iterable[Finding]) -> Iterator[FaultTest]:
    """Record the tests of positions, times and measured velocities."""
    several, everyone = list(findings), np.ones(arm.n, bool)
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    yield column_test(
        "units of positions and times", FindingKind.UNIT, several, np.logical_or(turns, log.format.knows_unit)
    )
    limited = np.isfinite(arm.position_limits).all(axis=0)
    yield column_test("positions beyond limits", FindingKind.LIMITS, several, limited)
    compared = _compare_velocities(log)
    shows = ~everyone if compared is None else np.isfinite(compared[1])
    yield column_test("velocities unlike positions", FindingKind.EXCHANGE, several, shows)
    if velocities_agree(log):
        yield column_test("time scale", FindingKind.TIME_SCALE, several, everyone)


def velocity_findings(arm: Arm, log: Log) -> list[Finding]:
    """Logged velocities against differences of positions."""
    compared = _compare_velocities(log)
    if compared is None:
        return []
    likeness, slopes = compared
    texts, mixed = [], np.log(np.degrees(1))
    for j in np.flatnonzero(np.isfinite(slopes)).tolist():
        best = int(np.argmax(np.abs(likeness[j])))
        name = joint_name(arm, j)
        if likeness[j, j] < -RATE_LIKENESS:
            texts.append(f"the velocity of {name} has the opposite sign of its position's rate")
        elif best != j and abs(likeness[j, best]) > RATE_LIKENESS > abs(likeness[j, j]):
            texts.append(f"the position of {name} matches velocity {best + 1}: columns in the wrong order?")
        elif likeness[j, j] > RATE_LIKENESS and np.abs(np.abs(np.log(slopes[j])) - mixed) < np.log(NOTABLE_RATIO):
            texts.append(f"positions and velocities of {name} differ by 57.3: degrees and radians mixed")
    if texts:
        return [Finding("reject", text, FindingKind.EXCHANGE) for text in texts]
    pace = _pace(likeness, slopes)
    if not max(pace, 1 / pace) > NOTABLE_RATIO:
        return []
    text = (
        f"measured velocities are {pace:.3g} times the derivatives of the positions in all joints: does the log have "
        "another time unit or rate?"
    )
    correction = LogCorrection(time_scale=1 / pace)
    return [Finding("warn", text, FindingKind.TIME_SCALE, correction=correction, value=1 / pace)]


def velocities_agree(log: Log) -> bool:
    """Whether measured velocities are the rates of the positions, so that the times are those of the motion."""
    compared = _compare_velocities(log)
    return compared is not None and 1 / NOTABLE_RATIO < _pace(*compared) < NOTABLE_RATIO


def _pace(likeness: NDArray, slopes: NDArray) -> float:
    """Measured velocities over the positions' rates, one for all joints; nan where they have none in common."""
    alike = np.log(slopes[(np.diag(likeness) > RATE_LIKENESS) & (slopes > 0)])
    return float(np.exp(np.median(alike))) if len(alike) and np.ptp(alike) < np.log(NOTABLE_RATIO) else np.nan


def comparison_lag(log: Log) -> int:
    """Samples over which a joint moves on: those beside one another differ by noise, and by jitter of their stamps."""
    return min(max(1, round(1 / (BAND_HZ * log.dt))), len(log) - 1)


def _compare_velocities(log: Log) -> tuple[NDArray, NDArray] | None:
    """Correlation (n, n) of positions' changes with those by velocities, and their ratio (n,), nan at rest."""
    if log.qd is None:
        return None
    lag = comparison_lag(log)
    way = np.diff(log.t)[:, None] * (log.qd[1:] + log.qd[:-1]) / 2
    way = np.concatenate([np.zeros((1, log.n)), np.cumsum(way, axis=0)])
    dq, change = log.q[lag:] - log.q[:-lag], way[lag:] - way[:-lag]
    moved = (np.ptp(log.q, axis=0) > 10 * STILL_TRAVEL) & change.any(axis=0)
    slopes = np.sum(dq * change, axis=0) / np.maximum(np.sum(dq**2, axis=0), 1e-300)
    return correlations(dq, change), np.where(moved, slopes, np.nan)
