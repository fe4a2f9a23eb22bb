"""An arm with the servos that a vector of parameters stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.servo.parameters import NAMES, STRIBECK, Space


def with_servos(space: Space, x: NDArray) -> Arm:
    """The described arm with servos, friction, rotors and, where they were scaled, masses of x (size,)."""
    table = space.table(x)
    joints = [
        _joint(joint, dict(zip(NAMES, table[:, j].tolist(), strict=True))) for j, joint in enumerate(space.arm.joints)
    ]
    arm = space.arm.with_joints(joints)
    return arm if x[-1] == 1 else arm.with_theta(x[-1] * space.theta)


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
        stribeck=STRIBECK,
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
