"""The planar two-link arm of Mazure (1987)."""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.model.library.tables import bodies, cylinder, rows


def planar2() -> Arm:
    """Two slender rods in a vertical plane, y up: 0.5 m and 0.25 m long, 10 kg and 5 kg.

    Standard DH; link frames at the far ends, gravity along -y.

    References
    ----------
    P. F. M. Mazure, An adaptive linearization and control strategy for mechanical manipulators,
    TU Eindhoven report WPA 0461, 1987: the worked example of the programs. Its listing gives gravity the
    wrong sign for y up; the value 9.80621 m/s² is its own.
    """
    rods = (cylinder(10.0, (-0.25, 0, 0), 0.0, 0.5, axis=0), cylinder(5.0, (-0.125, 0, 0), 0.0, 0.25, axis=0))
    return Arm.from_dh(
        rows(kind="RR", a=(0.5, 0.25), **bodies(*rods)),
        name="planar2",
        gravity=(0.0, -9.80621, 0.0),
        notes=(
            "Source: Mazure (1987), TU Eindhoven report WPA 0461, two-link example.",
            "Gravity acts along -y (the report's listing has the opposite sign).",
        ),
    )
