"""Universal Robots UR5 and UR10 (CB series), and UR5e (e-series)."""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.model.library.tables import library_arm


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
