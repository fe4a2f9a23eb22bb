"""The unknowns of servos as one vector, and the plant that a vector stands for.

Positions alone tell ratios to the stiffness: with e the error of position, commanded less actual,

    kp e = tau(q, qd, qdd) + Ia qdd + (kd + fv) qd + friction

so that 1/kp, Ia/kp, (kd + fv)/kp and fc/kp enter linearly. The scale comes from the masses of the description, or,
with a weighed payload or a known stiffness, from that, and the masses are scaled by one number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.model.joint import DRIVE_NAMES, FRICTION_NAMES, Joint
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.plant.servo import PositionServo

STRIBECK_VELOCITY = 0.1  # rad/s or m/s: static friction falls to Coulomb's within it; positions hardly tell it


class Parameter(NamedTuple):
    """One of the unknowns of every joint."""

    name: str
    symbol: str
    unit: str
    least: float  # bounds
    most: float
    floor: float  # changes below this do not matter
    fine: float  # half of a range that is always good


MAX_DELAY_S = 0.2  # s
PARAMETERS = (
    Parameter("compliance", "1/kp", "rad/(N m)", 1e-7, 1e3, 0.0, 0.0),
    Parameter("inertia", "Ia/kp", "s²", 0.0, 1.0, 1e-5, 1e-4),
    Parameter("damping", "(kd + fv)/kp", "s", 0.0, 10.0, 5e-4, 2e-3),
    Parameter("coulomb", "fc/kp", "rad", 0.0, 1.0, 2e-4, 5e-4),
    Parameter("delay", "delay", "s", 0.0, MAX_DELAY_S, 1e-3, 4e-3),
    Parameter("dead_band", "dead band", "rad", 0.0, 0.1, 3e-4, 5e-4),
    Parameter("static", "(fs - fc)/kp", "rad", 0.0, 1.0, 3e-4, 1e-3),
    Parameter("load", "load friction", "", 0.0, 0.8, 5e-3, 0.02),
)
NAMES = tuple(p.name for p in PARAMETERS)
ROWS = len(NAMES)
PLAIN_NAMES = NAMES[:5]  # every servo has these
STRUCTURES: dict[str, tuple[str, ...]] = {
    "plain": PLAIN_NAMES,
    "dead band": (*PLAIN_NAMES, "dead_band"),
    "friction": (*PLAIN_NAMES, "static", "load"),
    "whole": NAMES,
}
MIN_VALUES, MAX_VALUES, FLOORS = (
    np.array([getattr(p, name) for p in PARAMETERS]) for name in ("least", "most", "floor")
)
MIN_TERM = np.finfo(float).eps  # keeps terms in the formula whose numbers are zero, so that one kernel serves all


@dataclass(frozen=True)
class ParameterLayout:
    """Layout of vectors x (..., 8 n + 1): eight numbers of each joint, then the scale of the masses."""

    arm: Arm
    theta: NDArray  # (10 n,)

    @property
    def size(self) -> int:
        """Length of a vector."""
        return ROWS * self.arm.n + 1

    def table(self, x: NDArray) -> NDArray:
        """The numbers of all joints, (..., 8, n)."""
        return x[..., :-1].reshape(*x.shape[:-1], ROWS, self.arm.n)

    def vector(self, table: NDArray, scale: float = 1.0) -> NDArray:
        """The vector of a table (8, n)."""
        return np.append(table.ravel(), scale)

    def index(self, name: str, joint: int) -> int:
        """Return the place of a number of a joint."""
        return NAMES.index(name) * self.arm.n + joint

    @property
    def bounds(self) -> tuple[NDArray, NDArray]:
        """Least and largest vector."""
        n = self.arm.n
        return np.append(np.repeat(MIN_VALUES, n), 0.05), np.append(np.repeat(MAX_VALUES, n), 20.0)

    @property
    def floor(self) -> NDArray:
        """Changes that do not matter."""
        return np.append(np.repeat(FLOORS, self.arm.n), 0.0)

    def arm_of(self, x: NDArray) -> Arm:
        """The arm with servos, friction, rotors and, where they were scaled, masses of x (size,)."""
        rows = [dict(zip(NAMES, column, strict=True)) for column in self.table(x).T.tolist()]
        arm = self.arm.with_joints([_joint(joint, row) for joint, row in zip(self.arm.joints, rows, strict=True)])
        return arm if x[-1] == 1 else arm.with_theta(x[-1] * self.theta)

    def plant(self, x: NDArray, payload: NDArray | None = None) -> Plant:
        """The plants of vectors (lanes, size)."""
        arm, t = self.arm, dict(zip(NAMES, np.moveaxis(self.table(x), -2, 0), strict=True))
        kp = 1 / t["compliance"]
        friction = np.zeros((*kp.shape, len(FRICTION_NAMES)))
        friction[..., FRICTION_NAMES.index("coulomb")] = t["coulomb"] * kp
        friction[..., FRICTION_NAMES.index("static")] = (t["coulomb"] + t["static"] + MIN_TERM) * kp
        friction[..., FRICTION_NAMES.index("stribeck")] = STRIBECK_VELOCITY
        friction[..., FRICTION_NAMES.index("load")] = t["load"]
        friction = np.concatenate([friction, np.zeros((*kp.shape, 3 * arm.trace_sizes["h"]))], axis=-1)
        drive = np.broadcast_to(arm.trace_data("drive"), (*kp.shape, 4)).copy()
        drive[..., DRIVE_NAMES.index("inertia")] = t["inertia"] * kp
        drive[..., DRIVE_NAMES.index("damping")] = 0.0
        theta = x[..., -1:] * self.theta + (0.0 if payload is None else payload)
        efforts = arm.effort_limits
        return Plant(
            arm,
            theta=theta,
            friction_data=friction,
            drive_data=drive,
            servo=PositionServo(kp, t["damping"] * kp, t["dead_band"] + MIN_TERM),
            saturation=np.where(efforts > 0, efforts, np.inf) if np.isfinite(efforts).any() else None,
        )


def _joint(joint: Joint, ratio: dict[str, float]) -> Joint:
    """Positions do not tell a servo's damping from viscous friction: what the description has of that is kept."""
    kp = 1 / ratio["compliance"]
    damping = ratio["damping"] * kp
    viscous = min(joint.friction.viscous + joint.drive.reflected_damping, damping)
    coulomb = ratio["coulomb"] * kp
    friction = replace(
        joint.friction,
        viscous=viscous,
        coulomb=coulomb,
        static=coulomb + ratio["static"] * kp if ratio["static"] else None,
        stribeck=STRIBECK_VELOCITY,
        load=ratio["load"],
    )
    drive = replace(
        joint.drive,
        rotor_inertia=ratio["inertia"] * kp / joint.drive.gear_ratio**2,
        damping=0.0,
        servo_stiffness=kp,
        servo_damping=float(np.maximum(damping - viscous, 0.0)),
        servo_delay=ratio["delay"],
        servo_dead_band=ratio["dead_band"],
    )
    return replace(joint, friction=friction, drive=drive)
