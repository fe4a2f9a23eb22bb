"""Sentences about findings, made from their fields: cause first, then the question that it raises."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.model.arm import Arm
from armdyn.model.coupling import describe_coupling

HINTS = {
    FindingKind.STEP: "or use the log after the step",
    FindingKind.LED_BY_HAND: "log a motion that the drives make, with the torques that they exert",
}
ONE_GAIN = "for currents give the gain of each drive; a single factor only corrects the average"
UNITS = {1e3: "mN m instead of N m", 1e-3: "kN m instead of N m", 100.0: "N cm instead of N m"}


def joint_name(arm: Arm, joint: int) -> str:
    """A joint by number and name."""
    return f"joint {joint + 1} '{arm.coordinate_names[joint]}'"


def no_torque_text(arm: Arm, joint: int) -> str:
    """A joint whose torque was not measured."""
    return f"no torque of {joint_name(arm, joint)} was measured: its friction and rotor are not identified"


def joint_numbers(joints: Iterable[int]) -> str:
    """Joints by number, with commas between."""
    return ", ".join(str(j + 1) for j in joints)


def describe(arm: Arm, finding: Finding) -> str:
    """The finding of a hypothesis in a sentence, with how sure it is and what it costs."""
    falls = (
        f"if corrected, the error falls by {finding.error_reduction:.0%}; " if finding.error_reduction >= 0.01 else ""
    )
    figures = f"{falls}log evidence {finding.log_evidence:.0f}"
    if finding.kind == FindingKind.COUPLING and finding.correction is not None:
        return f"{describe_coupling(finding.correction.arm(arm))[0]} ({figures.removeprefix('if corrected, ')})"
    cause, _, question = _cause(arm, finding).partition(": ")
    return f"{cause} ({figures}){': ' if question else ''}{question}"


def hint_of(finding: Finding) -> str:
    """Advice beside the correction."""
    return ONE_GAIN if finding.kind == FindingKind.GAIN and not finding.joints else HINTS.get(finding.kind, "")


def _cause(arm: Arm, finding: Finding) -> str:
    joints, value, correction = finding.joints, finding.value, finding.correction or LogCorrection()
    if len(joints) == arm.n > 1:
        who = "all joints"
    else:
        who = joint_name(arm, joints[0]) if len(joints) == 1 else f"joints {joint_numbers(joints)}"
    match finding.kind:
        case FindingKind.SIGN:
            return _sign(who, correction)
        case FindingKind.EXCHANGE:
            return _exchange(who, joints, correction)
        case FindingKind.MECHANISM:
            what = "positions and torques" if correction.maps.torques else "positions"
            return f"{what} in the columns of {who} are those of joints that follow others: were joints measured?"
        case FindingKind.GAIN:
            return _gain(arm, who, joints, value, correction)
        case FindingKind.DELAY:
            return delay_text(value)
        case FindingKind.TIME_SCALE:
            pace = f"{value:.3g} times too fast" if value > 1 else f"{1 / value:.3g} times too slow"
            return f"the log runs {pace} for its torques: time stamps at another rate?"
        case FindingKind.ZERO:
            off = f"{value:+.2g} rad" if abs(value) < 1 else f"{np.degrees(value):+.0f} degrees"
            return f"the zero of {who} is {off} off: does the description have another zero?"
        case FindingKind.GRAVITY:
            return _gravity(np.array(correction.gravity))
        case FindingKind.LED_BY_HAND:
            return (
                "positions alone explain the torques, though joints accelerate: was the arm led by hand under gravity "
                "compensation, or are these computed gravity torques?"
            )
        case FindingKind.STEP:
            return (
                f"the torque of {who} changes by {value:.3g} about {correction.until:.3g} s after the start: did the "
                "arm take a load, or did the sensor's zero move?"
            )
        case FindingKind.STUCK if correction.without_torque:
            return f"the torque of {who} does not depend on the motion: sensor dead?"
        case FindingKind.STUCK:
            return (
                f"the position of {who} stays at {value:.4g} from {correction.until:.3g} s on while torques change: "
                "encoder frozen?"
            )
    return str(finding.kind)


def _sign(who: str, correction: LogCorrection) -> str:
    if not correction.gear_ratio:
        return f"the torque of {who} has the wrong sign: sign reversed?"
    if not correction.drive_gain:
        return f"the position and torque of {who} have the wrong sign: is the axis described the other way round?"
    return f"the position of {who} has the wrong sign: sign reversed?"


def _exchange(who: str, joints: tuple[int, ...], correction: LogCorrection) -> str:
    what = " and ".join(name for name, order in correction.order._asdict().items() if order)
    order = correction.order.torques or correction.order.positions
    return f"{what} of {who} are in the order {joint_numbers(order[j] for j in joints)}: columns in the wrong order?"


def _gain(arm: Arm, who: str, joints: tuple[int, ...], value: float, correction: LogCorrection) -> str:
    if not joints:
        units = [text for unit, text in UNITS.items() if abs(np.log(value / unit)) < 0.5]
        return (
            f"torques are {value:.3g} times as large as described: {units[0] if units else 'amperes, or another unit'}?"
        )
    gains = [1 / gain for gain in correction.drive_gain]
    if sum(gain != 1 for gain in gains) == 1:
        return (
            f"the torque of {who} is {value:.3g} times as large as the other torques imply: is its drive's gain right?"
        )
    several = ", ".join(f"{gain:.2g}" for gain in gains)
    return (
        f"torques differ in scale, most that of {who} (gains {several}): amperes, different drive gains, or joints "
        "that share a drive?"
    )


def _gravity(gravity: np.ndarray) -> str:
    if not gravity.any():
        return "the torques contain no gravity: was it subtracted?"
    k = int(np.argmax(np.abs(gravity)))
    axis = f"{'-' if gravity[k] < 0 else ''}{'xyz'[k]}"
    return f"gravity acts along {axis} of the base: is the arm mounted as described, or does it hang?"


def delay_text(delay: float) -> str:
    """Torques that come later than positions, or earlier."""
    return f"torques {'lag' if delay > 0 else 'lead'} positions by {abs(delay) * 1e3:.0f} ms"
