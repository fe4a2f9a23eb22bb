"""Joints that friction holds against a soft controller.

A joint at rest stays there while kp abs(q_ref - q) is below its dry friction: errors up to friction / kp are not
undone. Where that exceeds the amplitude of a motion, the joint need not follow it at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm


def dry_friction(arm: Arm) -> NDArray:
    """Largest torque (n,) with which friction holds each joint at rest; drives that several joints share add up."""
    frictions = [joint.friction for joint in arm.coordinate_joints]
    levels = np.array([max(abs(f.coulomb), f.static or 0.0) + abs(f.asymmetry) for f in frictions])
    return levels if arm.coupling is None else np.abs(arm.coupling).T @ levels


def stiction(arm: Arm, q: NDArray, stiffness: Mapping[str, NDArray]) -> str | None:
    """One sentence on joints that need not follow a motion, with the error that friction may leave; None if all do.

    Parameters
    ----------
    arm : Arm
    q : array, shape (T, n)
        The motion.
    stiffness : mapping of str to array, shape (n,)
        Torque per error of position, of laws that neither integrate errors nor know the friction.
    """
    amplitude, friction = np.ptp(q, axis=0) / 2, dry_friction(arm)
    held = {name: friction / kp for name, kp in stiffness.items() if (friction > kp * amplitude).any()}
    if not held:
        return None
    bound = np.max(list(held.values()), axis=0)
    units = ["rad" if joint.kind == "revolute" else "m" for joint in arm.coordinate_joints]
    joints = [
        f"'{name}' {bound[j]:.2g} {units[j]}" for j, name in enumerate(arm.coordinate_names) if bound[j] > amplitude[j]
    ]
    return (
        f"friction can hold joints of {', '.join(held)} away from the reference ({', '.join(joints)}), farther than "
        "the motion takes them, as these designs are soft: stiffness is bandwidth squared times inertia. Raise the "
        "bandwidth, add rotor inertia if the model lacks it, or take a law that knows the friction"
    )
