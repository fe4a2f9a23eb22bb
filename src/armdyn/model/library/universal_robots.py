"""Universal Robots UR5 and UR10 (CB series), and UR5e (e-series)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Limits
from armdyn.model.library.tables import bodies, cylinder, limits_in_degrees, rows

NAMES = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
LINKS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")
FRAMES = (
    "Frames: the maker's standard DH; the ROS description's base_link is turned by 180 degrees about z "
    "against its base, and its tool0 is the tip."
)
LIMITS = (
    "Limits: the maker's user manuals and its article 'Max. joint torques', as in ur_description since 2020 (older "
    "descriptions have 2.16 and 3.2 rad/s, and 54 N m in the UR10's wrist); the elbow, which may turn twice, hits the "
    "upper arm beyond half a turn."
)


def ur10() -> Arm:
    """The UR10 with the maker's masses, centres and tensors; the tip is the flange (`tool0`). Standard DH.

    References
    ----------
    Universal Robots, DH parameters for calculations of kinematics and dynamics, as tabulated in Corke's
    Robotics Toolbox (model UR10); limits: UR10 user manual 3.13 and the maker's article on joint torques, see LIMITS.
    """
    return _arm(
        "ur10",
        a=(0.0, -0.612, -0.5723, 0.0, 0.0, 0.0),
        d=(0.1273, 0.0, 0.0, 0.163941, 0.1157, 0.0922),
        **bodies(
            (7.1, (0.021, 0, 0.027), (0.0341, 0.0353, 0.0216, 0.0, -0.0043, 0.0001)),
            (12.7, (0.38, 0, 0.158), (0.0281, 0.7707, 0.7694, 0.0001, -0.0156, 0.0)),
            (4.27, (0.24, 0, 0.068), (0.0101, 0.3093, 0.3065, 0.0001, 0.0092, 0.0)),
            (2.0, (0, 0.007, 0.018), (0.0030, 0.0022, 0.0026, 0.0, 0.0, -0.0002)),
            (2.0, (0, 0.007, 0.018), (0.0030, 0.0022, 0.0026, 0.0, 0.0, -0.0002)),
            (0.365, (0, 0, -0.026), (0.0004, 0.0004, 0.0003)),
        ),
        limits=_limits(velocity=(120, 120, 180, 180, 180, 180), effort=(330, 330, 150, 56, 56, 56)),
        notes=(
            "Source: the maker's data, as in Corke's Robotics Toolbox (model UR10).",
            FRAMES,
            "Assumed: Ixx of wrist_3 equals its Iyy (the table's 0, rounded to four decimals, breaks the "
            "triangle inequality).",
            "No rotor inertia, gear ratio or friction is published.",
            LIMITS,
        ),
    )


def ur5() -> Arm:
    """The UR5 with the maker's masses and centres and assumed tensors; the tip is the flange. Standard DH.

    References
    ----------
    Universal Robots, as tabulated in Corke's Robotics Toolbox (model UR5); limits: UR5 user manual 3.13 and the maker's
    article on joint torques, see LIMITS.
    """
    return _arm(
        "ur5",
        a=(0.0, -0.425, -0.39225, 0.0, 0.0, 0.0),
        d=(0.089459, 0.0, 0.0, 0.10915, 0.09465, 0.0823),
        **bodies(
            cylinder(3.7, (0, -0.02561, 0.00193), 0.06, 0.15, axis=1),
            cylinder(8.393, (0.2125, 0, 0.11336), 0.055, 0.45, axis=0),
            cylinder(2.33, (0.15, 0, 0.0265), 0.045, 0.40, axis=0),
            cylinder(1.219, (0, -0.0018, 0.01634), 0.045, 0.11, axis=1),
            cylinder(1.219, (0, -0.0018, 0.01634), 0.045, 0.11, axis=1),
            cylinder(0.1897, (0, 0, -0.001159), 0.0375, 0.035),
        ),
        limits=_limits(velocity=(180, 180, 180, 180, 180, 180), effort=(150, 150, 150, 28, 28, 28)),
        notes=(
            "Source: the maker's data, as in Corke's Robotics Toolbox (model UR5).",
            FRAMES,
            "Assumed: tensors of solid cylinders (those of the ROS description, 0.22 kg m² in a wrist of "
            "1.2 kg, cannot be right).",
            "No rotor inertia, gear ratio or friction is published.",
            LIMITS,
        ),
    )


def ur5e() -> Arm:
    """The UR5e with the maker's masses and centres and tensors of cylinders; the tip is the flange. Standard DH.

    References
    ----------
    Universal Robots ROS 2 description (`ur_description` 2.4.5, BSD-3-Clause): default_kinematics.yaml,
    physical_parameters.yaml and joint_limits.yaml of the UR5e, which follow the maker's DH parameters for calculations
    of kinematics and dynamics, its user manual 5.8 and its article on joint torques.
    """
    return _arm(
        "ur5e",
        a=(0.0, -0.425, -0.3922, 0.0, 0.0, 0.0),
        d=(0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996),
        **bodies(
            (3.761, (0, -0.02561, 0.00193), (0.0102675, 0.00666, 0.0102675)),
            (8.058, (0.2125, 0, 0.11336), (0.0151074, 0.13388583541666665, 0.13388583541666665)),
            (2.846, (0.15, 0, 0.0265), (0.004095, 0.03120936758333333, 0.03120936758333333)),
            (1.37, (0, -0.0018, 0.01634), (0.0025599, 0.0021942, 0.0025599)),
            (1.3, (0, 0.0018, 0.01634), (0.0025599, 0.0021942, 0.0025599)),
            (0.365, (0, 0, -0.001159), (9.890414008333333e-05, 9.890414008333333e-05, 0.0001321171875)),
        ),
        limits=_limits(velocity=(180, 180, 180, 180, 180, 180), effort=(150, 150, 150, 28, 28, 28)),
        notes=(
            "Source: Universal Robots' ROS 2 description (ur_description 2.4.5, BSD-3-Clause).",
            FRAMES,
            "Assumed: tensors of solid cylinders, as in that description.",
            "No rotor inertia, gear ratio or friction is published.",
            "Limits: the same description, which cites the UR5e user manual 5.8 and the maker's article 'Max. joint "
            "torques'; the elbow, which may turn twice, hits the upper arm beyond half a turn.",
        ),
    )


def _arm(name: str, notes: tuple[str, ...], **columns: Iterable[Any]) -> Arm:
    table = rows(
        name=[f"{joint}_joint" for joint in NAMES],
        link=[f"{link}_link" for link in LINKS],
        kind="RRRRRR",
        alpha=np.array([1, 0, 0, 1, -1, 0]) * np.pi / 2,
        **columns,
    )
    return Arm.from_dh(table, name=name, notes=notes).with_floor(0.0)


def _limits(velocity: Sequence[float], effort: Sequence[float]) -> list[Limits]:
    """A turn either way for every joint but the elbow, which has half a one; velocities in degrees per second."""
    ends = (360, 360, 180, 360, 360, 360)
    return limits_in_degrees([-end for end in ends], ends, velocity, effort)
