"""Arms of textbooks and lectures: planar, SCARA and cylindrical ones, and the Stanford arm."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Limits
from armdyn.model.library.tables import library_arm

TURN = Limits(-np.deg2rad(130), np.deg2rad(130), np.deg2rad(400), 150.0)


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


def scara() -> Arm:
    """A SCARA, RRPR: arms of 0.325 m and 0.275 m, and a quill that moves down by up to 0.3 m and turns.

    Modified DH, all axes vertical.
    """
    outer = Limits(-np.deg2rad(150), np.deg2rad(150), np.deg2rad(600), 60.0)
    slide, quill = Limits(0.0, 0.3, 2.0, 300.0), Limits(-2 * np.pi, 2 * np.pi, 35.0, 10.0)
    return library_arm("scara", limits=[TURN, outer, slide, quill])


def cylindrical() -> Arm:
    """A cylindrical arm, RPP: turn, lift, reach. Standard DH, first two axes vertical."""
    return library_arm("cylindrical", limits=[TURN, Limits(0.0, 0.6, 1.0, 500.0), Limits(0.3, 1.0, 1.5, 200.0)])


def stanford() -> Arm:
    """The Stanford arm, RRPRRR, standard DH.

    References
    ----------
    R. P. Paul, Modelling, trajectory calculation and servoing of a computer controlled arm, Stanford AIM-177,
    1972 (kinematics); R. P. Paul, Robot manipulators: mathematics, programming and control, MIT Press, 1981
    (masses, inertias, actuator inertias), as tabulated in Corke's Robotics Toolbox (model Stanford).
    """
    from scipy.constants import inch

    turn, bend = Limits(-np.deg2rad(170), np.deg2rad(170)), Limits(-np.pi / 2, np.pi / 2)
    limits = [turn, turn, Limits(12 * inch, 50 * inch), turn, bend, turn]
    return library_arm("stanford", limits=limits)
