"""How inertias of rotors enter the equations: as terms of their joints, one with links, or through coupled drives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial


class Geared(NamedTuple):
    """The rotors of the joints `own` are terms of these joints, the others are in the base parameters."""

    own: tuple[int, ...]
    shares: NDArray  # (count, n): of each rotor's inertia in the base parameters

    @property
    def lumped(self) -> list[int]:
        """Drives whose rotors are in the base parameters."""
        return [j for j in range(self.shares.shape[1]) if self.shares[:, j].any()]


def has_rotors(arm: Arm) -> bool:
    """Whether the description has any."""
    return any(joint.drive.rotor_inertia > 0 for joint in arm.joints)


def base_with_drives(arm: Arm, terms: str, rotors: bool | None) -> BaseParameters:
    """Base parameters of the links and, if they are to be identified, of the rotors of coupled drives.

    Those turn with several joints at once and are no terms of a single one.
    """
    asked = has_rotors(arm) if rotors is None else rotors
    coupled = arm.coupling is not None and asked and terms == "full"
    return base_parameters(arm, terms=terms, joint_terms=("rotor",) if coupled else ())


def geared(base: BaseParameters, rotors: bool | None) -> Geared:
    """The rotors to identify: if asked, or if the description has any."""
    arm = base.source
    links, n = inertial.SIZE * arm.n, arm.n
    if base.joint_terms:
        return Geared((), base.P[:, links:])
    asked = has_rotors(arm) if rotors is None else rotors
    if not asked or base.terms == "gravity":
        return Geared((), np.zeros((base.count, n)))
    both = base_parameters(arm, joint_terms=("rotor",))
    own = tuple(k - links for k in both.kept if k >= links)
    shares = np.zeros((base.count, n))
    at = {k: row for row, k in enumerate(base.kept)}
    for row, k in zip(both.P, both.kept, strict=True):
        if k in at:
            shares[at[k]] = row[links:]
    return Geared(own, shares)
