"""Units of positions as servos count them, made radians; what cannot be their unit is rejected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.columns import MOVING_RANGE
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.model.arm import Arm

UNITS = ("rad", "deg", "ticks", "normalised")
TICKS_PER_TURN, TICKS_AT_ZERO = 4096, 2048  # of a turn, and at zero: Feetech STS, Dynamixel X
NORMALISED_HALF_RANGE = 100.0  # normalised positions go from -100 to 100 over a joint's range
# A converted position may leave a joint's range by so much: zeros of encoders and descriptions differ.
RANGE_SLACK_RAD = np.radians(20.0)


def to_radians(arm: Arm, x: NDArray, units: str, where: str) -> NDArray:
    """Positions (N, n) in SI units; sliding joints are in metres unless they are normalised."""
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    if units == "rad":
        return x
    if units == "normalised":
        lower, upper = arm.position_limits
        if not (np.isfinite(lower) & np.isfinite(upper)).all():
            name = arm.joint_names[int(np.argmin(np.isfinite(lower) & np.isfinite(upper)))]
            cause = f"normalised positions need the limits of joint '{name}', which has none"
            raise ReadError(cause, where=where, names=(name,))
        return lower + (x + NORMALISED_HALF_RANGE) / (2 * NORMALISED_HALF_RANGE) * (upper - lower)
    scaled = np.radians(x) if units == "deg" else (x - TICKS_AT_ZERO) * (2 * np.pi / TICKS_PER_TURN)
    return np.where(turns, scaled, x)


def require_units(arm: Arm, x: NDArray, units: str | None, where: str, ask: bool) -> str:
    """The unit of positions x (N, n) as they stand in a file; an error where it cannot be, or is not said."""
    span = f"positions go from {x.min():.3g} to {x.max():.3g}"
    if units is None and (ask or not _plausible(arm, x)):
        raise ReadError(
            f"{span}, and their unit is not said: give units='deg', 'normalised' (-100 to 100 over each "
            "joint's limits), 'ticks' (0 to 4095) or 'rad'",
            where=where,
        )
    chosen = units or "rad"
    if chosen == "normalised" and np.abs(x).max() > NORMALISED_HALF_RANGE * 1.05:
        raise ReadError(f"{span}, but normalised ones stay within -100 to 100", where=where, remedy="units='deg'?")
    q = to_radians(arm, x, chosen, where)
    other = _likelier(arm, x, q, chosen, where)
    if other:
        raise ReadError(f"{span}, which cannot be {chosen}{other}", where=where)
    return chosen


def _likelier(arm: Arm, x: NDArray, q: NDArray, units: str, where: str) -> str:
    """Why positions cannot be in a unit, and in which they could be; empty if they can."""
    could = [u for u in UNITS if u not in (units, "normalised") and _plausible(arm, to_radians(arm, x, u, where))]
    hint = f"; units='{could[0]}'?" if could else "; are the joints in the arm's order?"
    if not _plausible(arm, q):
        j, far = _worst(arm, q)
        lower, upper = (bound[j] for bound in arm.position_limits)
        return f": joint '{arm.joint_names[j]}' would be at {far:.3g} with limits {lower:.3g} to {upper:.3g}{hint}"
    still = np.ptp(q, axis=0).max() < MOVING_RANGE
    return (
        f": the arm would move {np.degrees(np.ptp(q, axis=0).max()):.2g} degrees only{hint}" if still and could else ""
    )


def _plausible(arm: Arm, q: NDArray) -> bool:
    """Whether positions stay about within the joints' limits, or within two turns where there are none."""
    return bool((_outside(arm, q) <= SMALL_SHARE).all())


def _outside(arm: Arm, q: NDArray) -> NDArray:
    """The share of samples (n,) outside each joint's range."""
    lower, upper = arm.position_limits
    lower, upper = np.maximum(lower, -4 * np.pi) - RANGE_SLACK_RAD, np.minimum(upper, 4 * np.pi) + RANGE_SLACK_RAD
    return ((q < lower) | (q > upper)).mean(0)


def _worst(arm: Arm, q: NDArray) -> tuple[int, float]:
    j = int(np.argmax(_outside(arm, q)))
    return j, float(q[np.argmax(np.abs(q[:, j])), j])
