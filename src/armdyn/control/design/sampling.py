"""Gains that a rate bears: damping of joints against the least inertia that an arm shows along a motion.

Torques -kd qd held for a period dt change velocities by -M^-1 kd dt qd: errors grow once an eigenvalue of M^-1 kd dt
exceeds 2, and change their sign at every sample beyond 1. What counts is the arm's least inertia, all joints being free
to move, which near singular poses of arms without rotors is a small part of the inertia of one joint alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.precision import MAX_ITERATIONS

# Part of an inertia above which a reduction is not worth a word.
REDUCED_RATIO = 0.95


class SampledInertia(NamedTuple):
    """Inertias that gains of single joints may count on at a rate."""

    inertia: NDArray  # (n,)
    remaining: NDArray  # (n,) over the mean inertia of the motion
    sufficient_rate: float  # at which nothing need be reduced [Hz]

    @property
    def is_reduced(self) -> bool:
        """Whether some joint's gains are visibly lower than asked for."""
        return bool((self.remaining < REDUCED_RATIO).any())


def sampled_inertia(M: NDArray, rate: float, damping: float) -> SampledInertia:
    """The mean inertia of each joint, reduced where kd = damping * inertia would be too much for a rate.

    Joints are reduced by their share in the fastest mode of M^-1 kd, until no pose of the motion has too fast a one.

    Parameters
    ----------
    M : array, shape (T, n, n)
        Mass matrices along a motion, rotors included.
    rate : float
        Rate of the controller [Hz].
    damping : float
        Damping gain over inertia [1/s].
    """
    mean = np.diagonal(M.mean(0))
    inverse, inertia = np.linalg.inv(M), mean.copy()
    allowed = rate / damping  # eigenvalues of M^-1 kd dt up to 1 are stable with torques that come a period late
    largest = 0.0
    for _ in range(MAX_ITERATIONS):
        # M^-1 D has the eigenvalues of the symmetric D^1/2 M^-1 D^1/2.
        values, vectors = np.linalg.eigh(np.sqrt(inertia)[:, None] * inverse * np.sqrt(inertia))
        pose = int(np.argmax(values[:, -1]))
        value = float(values[pose, -1])
        largest = max(largest, value)
        if value <= allowed:
            break
        share = vectors[pose, :, -1] ** 2
        inertia = inertia * (allowed / value) ** (share / share.max())
    else:
        inertia = inertia * min(allowed / value, 1.0)
    return SampledInertia(inertia, inertia / mean, rate * largest / allowed)


def reduction(arm: Arm, rate: float, designs: Mapping[str, SampledInertia]) -> str | None:
    """One sentence on designs that are softer than their bandwidth asks for, with cause and remedies."""
    softer = {name: design for name, design in designs.items() if design.is_reduced}
    if not softer:
        return None
    remaining = np.min([design.remaining for design in softer.values()], axis=0)
    joints = [j for j in range(arm.n) if remaining[j] < REDUCED_RATIO]
    parts = ", ".join(f"'{arm.coordinate_names[j]}' to {remaining[j]:.0%}" for j in joints)
    has_rotors = all(arm.coordinate_joints[j].drive.reflected_inertia > 0 for j in joints)
    needed = max(design.sufficient_rate for design in softer.values())
    return (
        f"{rate:g} Hz are too slow for gains of this bandwidth, as the least inertia of the arm along the motion is "
        f"too small for them; those of {', '.join(softer)} are lowered (joints {parts}). "
        f"{'' if has_rotors else 'The model lacks rotors there: add their inertia, or '}"
        f"{'R' if has_rotors else 'r'}aise the rate to {needed:.0f} Hz or lower the bandwidth"
    )
