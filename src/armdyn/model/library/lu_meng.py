"""The two examples of Lu and Meng (1993): a planar arm with a load, and a four-joint PUMA of point masses."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.library.tables import library_arm
from armdyn.spatial.transform import transform


def lu_meng2(
    l1: float = 0.8,
    l2: float = 0.6,
    m1: float = 2.0,
    m2: float = 2.0,
    m3: float = 1.5,
    px: float = 0.12,
    Izz: float = 0.02,
) -> Arm:
    """Planar two-joint arm of point masses that grasps a bar.

    Modified DH: the masses `m1`, `m2` [kg] sit at the origins of the link frames (on the joint axes), so `m1`
    plays no role; the tip, at distance `l2` [m] from joint 2, is the load's frame.

    Parameters
    ----------
    l1, l2 : float
        Link lengths [m].
    m1, m2, m3 : float
        Masses of the links and the load [kg]; `m3 = 0` means no load.
    px : float
        Centre of the load along the tip's x [m].
    Izz : float
        Moment of inertia of the load about its centre [kg m²].

    References
    ----------
    W.-S. Lu and Q.-H. Meng, Regressor formulation of robot dynamics: computation and applications, IEEE
    Trans. Robotics and Automation 9(3), 1993, sections III-C and IV-C.
    """
    arm = library_arm("lu_meng2", a=(0.0, l1), mass=(m1, m2), com=np.zeros((2, 3)), inertia=np.zeros((2, 3, 3)))
    arm = arm.with_tool(transform(translation=(l2, 0.0, 0.0)))
    return arm.with_payload(m3, (px, 0.0, 0.0), np.diag([0.0, Izz, Izz])) if m3 else arm


def lu_meng4() -> Arm:
    """The first four joints of a PUMA with point-mass links of 2, 2, 2 and 0.5 kg.

    Modified DH. The case study adds a load of 0.5 kg at the far end of link 4, which is the tip:
    `lu_meng4().with_payload(0.5)`.

    References
    ----------
    W.-S. Lu and Q.-H. Meng (1993), section V-B.
    """
    return library_arm("lu_meng4")
