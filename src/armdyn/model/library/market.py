"""Arms on the market: KUKA's LWR4 and LBR iiwa 14, the Panda, UR5, UR5e and UR10, and the xArm7."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Friction, Joint
from armdyn.model.library.tables import library_arm, library_table, limits_in_degrees, rows
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


def panda() -> Arm:
    """The Franka Emika Panda without hand; the tip is the flange (`panda_link8` of the maker's URDF).

    Modified DH; link frames, zero positions and limits are the maker's.

    References
    ----------
    C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano and A. De Luca, Dynamic identification of the Franka
    Emika Panda robot with retrieval of feasible parameters using penalty-based optimization, IEEE RA-L, 2019
    (inertias, friction); Franka Control Interface documentation (DH parameters, limits).
    """
    friction = [_friction(**joint) for joint in rows(**library_table("panda")["source"])]
    return library_arm("panda", friction=friction)


def _friction(amplitude: float, slope: float, shift: float) -> Friction:
    """Coulomb friction with the limits of `amplitude / (1 + exp(-slope (v + shift)))` minus its value at "
    "v = 0."""
    at_rest = amplitude / (1 + np.exp(-slope * shift))
    return Friction(coulomb=amplitude / 2, asymmetry=amplitude / 2 - at_rest)


def ur10() -> Arm:
    """The UR10 with the maker's masses, centres and tensors; the tip is the flange (`tool0`). Standard DH.

    References
    ----------
    Universal Robots, DH parameters for calculations of kinematics and dynamics, as tabulated in Corke's
    Robotics Toolbox (model UR10); limits: UR10 user manual 3.13 and the maker's article on joint torques.
    """
    return library_arm("ur10")


def ur5() -> Arm:
    """The UR5 with the maker's masses and centres and assumed tensors; the tip is the flange. Standard DH.

    References
    ----------
    Universal Robots, as tabulated in Corke's Robotics Toolbox (model UR5); limits: UR5 user manual 3.13 and the maker's
    article on joint torques.
    """
    return library_arm("ur5")


def ur5e() -> Arm:
    """The UR5e with the maker's masses and centres and tensors of cylinders; the tip is the flange. Standard DH.

    References
    ----------
    Universal Robots ROS 2 description (`ur_description` 2.4.5, BSD-3-Clause): default_kinematics.yaml,
    physical_parameters.yaml and joint_limits.yaml of the UR5e, which follow the maker's DH parameters for calculations
    of kinematics and dynamics, its user manual 5.8 and its article on joint torques.
    """
    return library_arm("ur5e")


def xarm7() -> Arm:
    """The UFACTORY xArm7 without hand; the tip is its flange. Modified DH; link frames are the maker's.

    References
    ----------
    MuJoCo Menagerie, ufactory_xarm7 (xarm7_nohand.xml; UFACTORY Inc., BSD-3-Clause): geometry, masses, inertias,
    ranges, torque limits and friction; speeds as in the maker's URDF (xarm7base.urdf of lbr-stack, MIT).
    """
    return library_arm("xarm7")
