"""The Stanford arm (Scheinman, 1969): two revolute joints, a long prismatic one and a spherical wrist."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Limits
from armdyn.model.library.tables import library_arm

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
    limits = [turn, turn, Limits(12 * INCH, 50 * INCH), turn, bend, turn]
    return library_arm("stanford", limits=limits)
