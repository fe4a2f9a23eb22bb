"""The first three joints of the PUMA 560, wrist locked, in the two frame choices of Kapadia (1995)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError, check_choice
from armdyn.model.arm import Arm
from armdyn.model.library.puma560 import armstrong_drives, friction, puma560
from armdyn.model.library.tables import library_arm
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import rotation_z
from armdyn.spatial.transform import inverse, transform

# Armstrong's joint angles where those of the thesis are zero.
ARMSTRONG_ZERO = (-np.pi, np.pi, -np.pi, 0.0, 0.0, 0.0)


def puma3(convention: str = "modified") -> Arm:
    """PUMA 560 without its wrist's motion: the wrist, locked at zero, belongs to link 3.

    Parameters
    ----------
    convention : "modified" or "standard"
        "modified": the frames of the thesis's appendix A, all offsets d zero (the shoulder's offset is in
        the links' centres). "standard": the frames of its Table 6.1, which are standard DH, d2 = 0.149 m.
        The joint angles mean the same in both.

    References
    ----------
    B. N. Kapadia, Dynamic estimation for serial manipulators, McGill University, 1995: Tables 5.1, 6.1,
    7.1 and appendix A. Inertial parameters: Armstrong et al. (1986), expressed in these frames.
    """
    check_choice("puma3", "convention", convention, ("modified", "standard"), ModelError)
    name = "puma3" if convention == "modified" else "puma3_standard"
    arm = library_arm(name, friction=friction()[:3], drive=armstrong_drives()[:3])
    return arm.with_theta(_armstrong_theta(_frames(arm, np.zeros(3))))


def _armstrong_theta(frames: list[NDArray]) -> NDArray:
    """Armstrong's links in the three given frames, which are placed with all joints of the thesis at zero."""
    source = puma560()
    poses = _frames(source, np.array(ARMSTRONG_ZERO))
    bodies = [Inertia.zero()] * 3
    for i, (link, pose) in enumerate(zip(source.links, poses, strict=True)):
        carrier = min(i, 2)
        bodies[carrier] = bodies[carrier] + link.inertia.moved(inverse(frames[carrier]) @ pose)
    theta = np.concatenate([body.theta for body in bodies])
    theta[np.abs(theta) < 1e-15] = 0.0  # turning by pi leaves round-off where there is nothing
    return theta


def _frames(arm: Arm, q: NDArray) -> list[NDArray]:
    """Poses of the link frames of an arm with revolute joints about z."""
    frames, T = [], arm.base_pose
    for joint, angle in zip(arm.joints, q, strict=True):
        T = T @ joint.before @ transform(rotation_z(angle)) @ joint.after
        frames.append(T)
    return frames
