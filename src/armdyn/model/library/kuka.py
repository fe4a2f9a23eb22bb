"""KUKA's seven-joint arms with spherical shoulder and wrist: LWR4 and LBR iiwa 14."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Joint
from armdyn.model.library.tables import library_arm, library_table, limits_in_degrees
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


def iiwa14() -> Arm:
    """The KUKA LBR iiwa 14 R820; the tip is the flange. Frames as in the common URDF.

    References
    ----------
    Description shipped with pybullet (zlib); limits: ROS-Industrial's `kuka_lbr_iiwa_support` (efforts: see notes).
    """
    table = library_table("iiwa14")
    limits = limits_in_degrees(**table.pop("limits_in_degrees"))
    joints, links = [], []
    for i, (offset, quarters, mass, centre, principal) in enumerate(table.pop("links")):
        before = transform(from_rpy(np.array(quarters) * np.pi / 2), offset)
        joints.append(Joint(f"lbr_iiwa_joint_{i + 1}", before=before, limits=limits[i]))
        links.append(Link(f"lbr_iiwa_link_{i + 1}", Inertia.from_com(mass, centre, np.diag(principal))))
    tip = transform(translation=table.pop("tip"))
    return Arm(tuple(joints), tuple(links), name="iiwa14", tool_pose=tip, **table).with_floor(0.0)
