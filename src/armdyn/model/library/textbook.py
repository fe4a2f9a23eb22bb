"""Textbook positioning structures with invented but plausible bodies: a SCARA and a cylindrical arm."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Limits
from armdyn.model.library.tables import library_arm

TURN = Limits(-np.deg2rad(130), np.deg2rad(130), np.deg2rad(400), 150.0)


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
