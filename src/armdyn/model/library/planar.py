"""The planar two-link arm of Mazure (1987)."""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.model.library.tables import library_arm


def planar2() -> Arm:
    """Two slender rods in a vertical plane, y up: 0.5 m and 0.25 m long, 10 kg and 5 kg.

    Standard DH; link frames at the far ends, gravity along -y.

    References
    ----------
    P. F. M. Mazure, An adaptive linearization and control strategy for mechanical manipulators,
    TU Eindhoven report WPA 0461, 1987: the worked example of the programs. Its listing gives gravity the
    wrong sign for y up; the value 9.80621 m/s² is its own.
    """
    return library_arm("planar2")
