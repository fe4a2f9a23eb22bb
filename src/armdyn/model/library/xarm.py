"""The UFACTORY xArm7."""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.model.library.tables import library_arm


def xarm7() -> Arm:
    """The UFACTORY xArm7 without hand; the tip is its flange. Modified DH; link frames are the maker's.

    References
    ----------
    MuJoCo Menagerie, ufactory_xarm7 (xarm7_nohand.xml; UFACTORY Inc., BSD-3-Clause): geometry, masses, inertias,
    ranges, torque limits and friction; speeds as in the maker's URDF (xarm7base.urdf of lbr-stack, MIT).
    """
    return library_arm("xarm7")
