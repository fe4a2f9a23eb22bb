"""How inertias of rotors enter the equations: as terms of their joints, one with links, or through coupled drives."""

from __future__ import annotations

from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial


def has_rotors(arm: Arm) -> bool:
    """Whether the description has any."""
    return any(joint.drive.rotor_inertia > 0 for joint in arm.coordinate_joints)


def base_with_drives(links: BaseParameters, terms: str, rotors: bool | None) -> BaseParameters:
    """Base parameters of the links and, if they are to be identified, of the rotors of coupled drives.

    Those turn with several joints at once and are no terms of a single one. `links` are all base parameters without.
    """
    arm = links.source
    asked = has_rotors(arm) if rotors is None else rotors
    if terms == "full" and not (arm.coupling is not None and asked):
        return links
    return base_parameters(arm, terms=terms, joint_terms=("rotor",) if terms == "full" else ())


def own_rotors(base: BaseParameters, rotors: bool | None) -> tuple[int, ...]:
    """Joints whose rotors are terms of their own, if asked for or if the description has any; others are with links."""
    arm = base.source
    asked = has_rotors(arm) if rotors is None else rotors
    if base.joint_terms or not asked or base.terms == "gravity":
        return ()
    links = inertial.SIZE * arm.n_joints
    separate = {k - links for k in base_parameters(arm, joint_terms=("rotor",)).columns if k >= links}
    return tuple(k for k, joint in enumerate(arm.coordinate_indices) if joint in separate)
