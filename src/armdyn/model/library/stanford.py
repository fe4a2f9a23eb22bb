"""The Stanford arm (Scheinman, 1969): two revolute joints, a long prismatic one and a spherical wrist."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Limits
from armdyn.model.library.tables import bodies, rows

INCH = 0.0254


def stanford() -> Arm:
    """The Stanford arm, RRPRRR, standard DH.

    References
    ----------
    R. P. Paul, Modelling, trajectory calculation and servoing of a computer controlled arm, Stanford AIM-177,
    1972 (kinematics); R. P. Paul, Robot manipulators: mathematics, programming and control, MIT Press, 1981
    (masses, inertias, actuator inertias), as tabulated in Corke's Robotics Toolbox (model Stanford).
    """
    turn, bend = Limits(-np.deg2rad(170), np.deg2rad(170)), Limits(-np.pi / 2, np.pi / 2)
    table = rows(
        kind="RRPRRR",
        alpha=np.array([-1, 1, 0, -1, 1, 0]) * np.pi / 2,
        d=(0.412, 0.154, 0.0, 0.0, 0.0, 0.263),
        theta=(0.0, 0.0, -np.pi / 2, 0.0, 0.0, 0.0),
        **bodies(
            (9.29, (0, 0.0175, -0.1105), (0.276, 0.255, 0.071)),
            (5.01, (0, -0.1054, 0), (0.108, 0.018, 0.100)),
            (4.25, (0, 0, -0.6447), (2.51, 2.51, 0.006)),
            (1.08, (0, 0.0092, -0.0054), (0.002, 0.001, 0.001)),
            (0.63, (0, 0, 0.0566), (0.003, 0.003, 0.0004)),
            (0.51, (0, 0, 0.1554), (0.013, 0.013, 0.0003)),
        ),
        limits=[turn, turn, Limits(12 * INCH, 50 * INCH), turn, bend, turn],
        drive=[Drive(rotor_inertia=J) for J in (0.953, 2.193, 0.782, 0.106, 0.097, 0.020)],
    )
    return Arm.from_dh(
        table,
        name="stanford",
        notes=(
            "Source: Paul (1972, 1981), as in Corke's Robotics Toolbox (model Stanford).",
            "Assumed: the centres of links 2 to 6 are one tenth of the toolbox's numbers (6.447 m on a "
            "boom of 1.3 m is a slip of the decimal point), and tensors are about the centres of mass.",
            "Drives: actuator inertias are known at the joints only (gear ratio 1); velocity and effort "
            "limits are not given.",
        ),
    ).with_floor(0.0)
