"""KUKA's seven-joint arms with spherical shoulder and wrist: LWR4 and LBR iiwa 14."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Joint
from armdyn.model.library.tables import library_arm, limits_in_degrees
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform


def lwr4() -> Arm:
    """The KUKA LWR4: geometry of the maker, bodies assumed. Standard DH from shoulder to wrist centre.

    References
    ----------
    DH table: De Luca's robotics course on the KUKA LWR4, as in Corke's Robotics Toolbox (model LWR4);
    limits: CentroEPiaggio's `kuka-lwr` description of the LWR4+.
    """
    return library_arm("lwr4")


# Offset from the joint before, roll-pitch-yaw / (pi/2), mass, centre, Ixx, Iyy, Izz: frames and numbers of
# the description shipped with pybullet (zlib licence).
IIWA14 = (
    ((0, 0, 0.1575), (0, 0, 0), 4.0, (0, -0.03, 0.12), (0.1, 0.09, 0.02)),
    ((0, 0, 0.2025), (1, 0, 2), 4.0, (0.0003, 0.059, 0.042), (0.05, 0.018, 0.044)),
    ((0, 0.2045, 0), (1, 0, 2), 3.0, (0, 0.03, 0.13), (0.08, 0.075, 0.01)),
    ((0, 0, 0.2155), (1, 0, 0), 2.7, (0, 0.067, 0.034), (0.03, 0.01, 0.029)),
    ((0, 0.1845, 0), (-1, 2, 0), 1.7, (0.0001, 0.021, 0.076), (0.02, 0.018, 0.005)),
    ((0, 0, 0.2155), (1, 0, 0), 1.8, (0, 0.0006, 0.0004), (0.005, 0.0036, 0.0047)),
    ((0, 0.081, 0), (-1, 2, 0), 0.3, (0, 0, 0.02), (0.001, 0.001, 0.001)),
)


def iiwa14() -> Arm:
    """The KUKA LBR iiwa 14 R820; the tip is the flange. Frames as in the common URDF.

    References
    ----------
    Description shipped with pybullet (zlib); limits: ROS-Industrial's `kuka_lbr_iiwa_support` (efforts: see notes).
    """
    limits = limits_in_degrees(
        (-170, -120, -170, -120, -170, -120, -175),
        (170, 120, 170, 120, 170, 120, 175),
        (85, 85, 100, 75, 130, 135, 135),
        (320, 320, 176, 176, 110, 40, 40),
    )
    joints, links = [], []
    for i, (offset, quarters, mass, centre, principal) in enumerate(IIWA14):
        before = transform(from_rpy(np.array(quarters) * np.pi / 2), offset)
        joints.append(Joint(f"lbr_iiwa_joint_{i + 1}", before=before, limits=limits[i]))
        links.append(Link(f"lbr_iiwa_link_{i + 1}", Inertia.from_com(mass, centre, np.diag(principal))))
    return Arm(
        tuple(joints),
        tuple(links),
        name="iiwa14",
        base_name="lbr_iiwa_link_0",
        tool_pose=transform(translation=(0.0, 0.0, 0.045)),
        notes=(
            "Source: description shipped with pybullet; limits of position and velocity: ROS-Industrial's "
            "kuka_lbr_iiwa_support.",
            "Assumed: effort limits 320, 320, 176, 176, 110, 40, 40 N m, quoted as the maker's; the first is that of "
            "iiwa_ros too.",
            "The masses and tensors are round numbers; do not take them for measured ones.",
            "Assumed: the flange is 45 mm beyond the frame of link 7 (126 mm beyond the wrist centre); no drive data.",
        ),
    ).with_floor(0.0)
