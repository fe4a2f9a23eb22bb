"""Springs: in joints, and between points of two links, as balancers of heavy robots and palletisers have."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ModelError
from armdyn.kinematics.dependents import joint_positions
from armdyn.kinematics.forward import Frame, link_frames
from armdyn.model.arm import Arm
from armdyn.model.joint import DRIVE_NAMES
from armdyn.model.mechanism import Spring
from armdyn.model.quantities import DriveData, Q
from armdyn.precision import NEGLIGIBLE
from armdyn.trace.formula import Array, Symbol, ca, traced
from armdyn.trace.symbols import on_symbols


def _point(arm: Arm, frames: list[Frame], spring: Spring, end: int) -> Symbol:
    """An end of a spring in base axes."""
    link, place = spring.links[end], np.array(spring.points[end])
    if link not in arm.link_names:  # the base
        return ca.SX(arm.base_pose[:3, :3] @ place + arm.base_pose[:3, 3])
    R, p = frames[arm.link_names.index(link)]
    return p + ca.mtimes(R, place)


def _lengths(arm: Arm, q: Any) -> list[Symbol]:
    """Length of each spring between links [m]."""
    frames = link_frames(arm, q)
    spans = [_point(arm, frames, spring, 1) - _point(arm, frames, spring, 0) for spring in arm.springs]
    # The direction of a spring's force is not defined below some length.
    return [ca.sqrt(ca.fmax(ca.dot(d, d), NEGLIGIBLE**2)) for d in spans]


@traced(returns={"U": ""})
def spring_energy(arm: Arm, q: Q, *, drive: DriveData = None) -> Array:
    """Energy in the springs of the joints and between links, and in balancers [J].

    Returns
    -------
    U
        k (q - rest)²/2 of each joint, the integral of its balancer's torque, and k (length - rest length)²/2 of each
        spring in `arm.springs`.
    """
    at = joint_positions(arm, q)
    stretch = at - drive[:, DRIVE_NAMES.index("rest")]
    energy = ca.dot(drive[:, DRIVE_NAMES.index("stiffness")], stretch * stretch) / 2
    for i, joint in enumerate(arm.joints):
        for k, a, b in joint.drive.balance:
            energy += (a * ca.sin(k * at[i]) - b * ca.cos(k * at[i])) / k
    for spring, length in zip(arm.springs, _lengths(arm, q), strict=True):
        energy += spring.stiffness * (length - spring.rest_length) ** 2 / 2
    return energy


@traced(returns={"Y": "n, 2*springs"})
def spring_columns(arm: Arm, q: Q) -> Array:
    """Columns of the springs between links: `tau = Y @ [k_1, k_1 l_1, k_2, ...]`, l being rest lengths.

    Returns
    -------
    Y : ndarray, shape (..., n, 2 s)
        Gradients of L²/2 and of -L for the length L of each spring, since k (L - l)²/2 is k L²/2 - k l L + constant.
    """
    if not arm.springs:
        cause = f"arm '{arm.name}' has no springs between links"
        raise ModelError(cause, where="spring_columns", remedy="give it some with springs=")

    def gradients(x: Symbol) -> list[Symbol]:
        pairs = [(L * L / 2, -L) for L in _lengths(arm, x)]
        return [ca.jacobian(ca.vertcat(*(entry for pair in pairs for entry in pair)), x).T]

    return on_symbols(gradients, q)[0]


def link_spring_torque(arm: Arm, q: Any) -> Any:
    """Torques (n,) that the drives need against springs between links."""
    numbers = [x for spring in arm.springs for x in (spring.stiffness, spring.stiffness * spring.rest_length)]
    return ca.mtimes(spring_columns(arm, q), ca.SX(numbers))
