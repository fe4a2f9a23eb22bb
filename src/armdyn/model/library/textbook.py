"""Textbook positioning structures with invented but plausible bodies: a SCARA and a cylindrical arm."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Limits
from armdyn.model.library.tables import bodies, cylinder, rows

TURN = Limits(-np.deg2rad(130), np.deg2rad(130), np.deg2rad(400), 150.0)


def scara() -> Arm:
    """A SCARA, RRPR: arms of 0.325 m and 0.275 m, and a quill that moves down by up to 0.3 m and turns.

    Modified DH, all axes vertical.
    """
    outer = Limits(-np.deg2rad(150), np.deg2rad(150), np.deg2rad(600), 60.0)
    table = rows(
        kind="RRPR",
        a=(0.0, 0.325, 0.275, 0.0),
        alpha=(0.0, 0.0, np.pi, 0.0),
        d=(0.4, 0.0, 0.0, 0.0),
        **bodies(
            cylinder(9.0, (0.1625, 0, 0), 0.06, 0.325, axis=0),
            cylinder(6.0, (0.1375, 0, 0.03), 0.05, 0.275, axis=0),
            cylinder(1.5, (0, 0, -0.10), 0.01, 0.40),
            cylinder(0.5, (0, 0, 0.02), 0.03, 0.04),
        ),
        limits=[TURN, outer, Limits(0.0, 0.3, 2.0, 300.0), Limits(-2 * np.pi, 2 * np.pi, 35.0, 10.0)],
    )
    return Arm.from_dh(
        table,
        convention="modified",
        name="scara",
        notes=(
            "Source: no particular machine, a SCARA of 0.6 m reach.",
            "Assumed: all masses (solid cylinders), centres and limits.",
        ),
    ).with_floor(0.0)


def cylindrical() -> Arm:
    """A cylindrical arm, RPP: turn, lift, reach. Standard DH, first two axes vertical."""
    table = rows(
        kind="RPP",
        alpha=(0.0, -np.pi / 2, 0.0),
        d=(0.3, 0.0, 0.0),
        **bodies(
            cylinder(12.0, (0, 0, 0.2), 0.08, 0.9),
            cylinder(8.0, (0, 0, 0), 0.10, 0.20),
            cylinder(4.0, (0, 0, -0.25), 0.03, 0.80),
        ),
        limits=[TURN, Limits(0.0, 0.6, 1.0, 500.0), Limits(0.3, 1.0, 1.5, 200.0)],
    )
    return Arm.from_dh(
        table,
        name="cylindrical",
        notes=(
            "Source: no particular machine, the cylindrical structure of textbooks.",
            "Assumed: all masses (solid cylinders), centres and limits.",
        ),
    ).with_floor(0.0)
