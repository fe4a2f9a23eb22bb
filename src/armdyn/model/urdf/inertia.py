"""What rides on the links of a URDF's chain: bodies on fixed joints, and branches frozen at zero."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError, check_choice
from armdyn.model.arm import Arm
from armdyn.model.urdf.tree import KINDS, Tree, TreeJoint, mimic_of
from armdyn.model.urdf.xml import axis, note_doubles, number, origin
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform

BRANCHES = ("lump", "refuse", "keep")


NOWHERE: Mapping[str, float] = MappingProxyType({})  # no joint is held elsewhere than at zero


def held_positions(arm: Arm) -> Mapping[str, float]:
    """Positions at which joints off the chain of an arm were held when its file was read, where others than initial."""
    return NOWHERE if arm.source is None else dict(arm.source.hold)


class LumpedBody(NamedTuple):
    """A body that moves with a link of the chain, and its pose in that link's frame."""

    link: str
    T: NDArray
    frozen: bool  # reached over a moving joint that is held


def riders(tree: Tree, link: str, chain: Collection[str], hold: Mapping[str, float] = NOWHERE) -> list[LumpedBody]:
    """`link` and every body below it that is not carried by a further joint of the chain, given by names."""
    lumped = [LumpedBody(link, np.eye(4), False)]
    for body in lumped:  # grows while it is walked
        for joint in tree.children[body.link]:
            if joint.name not in chain:
                where = f"{tree.where}: joint '{joint.name}'"
                T = body.T @ origin(joint.element, where)
                if joint.moves:
                    T = T @ held_motion(tree, joint, hold, where)
                lumped.append(LumpedBody(joint.child, T, body.frozen or joint.moves))
    return lumped


def note_branches(bodies: list[LumpedBody], where: str, branches: str, at: str, notes: list[str]) -> None:
    """Tell of moving branches that ride on a link, the first of the bodies, with their joints frozen; or raise."""
    check_choice("load", "branches", branches, BRANCHES, ModelError)
    frozen = ", ".join(body.link for body in bodies if body.frozen)
    if frozen and branches == "refuse":
        cause = f"moving branches off the chain ride on link '{bodies[0].link}' ({frozen:.200})"
        remedy = f"choose another tip=, or branches='lump' to freeze their joints at {at}"
        raise ModelError(cause, where=where, remedy=remedy, names=(bodies[0].link,))
    if frozen:
        notes.append(f"link '{bodies[0].link}' carries {frozen} with their joints frozen at {at}")


def held_position(tree: Tree, joint: TreeJoint, hold: Mapping[str, float], depth: int = 0) -> float:
    """Return where a joint off the chain is held: as asked, or where its leader puts it, or at zero."""
    if joint.name in hold:
        return float(hold[joint.name])
    mimic = mimic_of(joint, tree.where)
    if mimic is None:
        return 0.0
    leader = next((other for other in tree.parent.values() if other.name == mimic.leader), None)
    if depth > len(tree.parent):
        cause = f"joint '{joint.name}' mimics itself over others"
        raise ModelError(cause, where=tree.where, expected="no cycle", names=(joint.name,))
    at = 0.0 if leader is None else held_position(tree, leader, hold, depth + 1)
    return mimic.multiplier * at + mimic.offset


def held_motion(tree: Tree, joint: TreeJoint, hold: Mapping[str, float], where: str) -> NDArray:
    """Motion of a joint off the chain at the position where it is held."""
    if joint.type not in KINDS:
        cause = f"a branch on a '{joint.type}' joint rides on the chain and cannot be lumped"
        raise ModelError(cause, where=where, remedy="choose another tip=", names=(joint.type,))
    at = held_position(tree, joint, hold)
    if at == 0:
        return np.eye(4)
    direction = axis(joint.element, where)
    if KINDS[joint.type] == "revolute":
        return transform(from_axis_angle(direction, at))
    return transform(None, at * direction / np.linalg.norm(direction))


def link_inertia(
    tree: Tree, link: str, chain: Collection[str], branches: str, notes: list[str], hold: Mapping[str, float]
) -> Inertia:
    """Inertia of all that moves with `link`, in its frame; unknown if no body of it is known.

    `branches` is "lump", "refuse" or "keep"; what the user should know is added to `notes`.
    """
    bodies = riders(tree, link, chain, hold)
    note_branches(bodies, tree.where, branches, "zero" if not hold else "the positions of hold, others at zero", notes)
    known: dict[str, Inertia] = {}
    for body in bodies:
        element = tree.links[body.link]
        note_doubles(element, f"link '{body.link}'", notes)
        if (inertia := body_inertia(element, f"{tree.where}: link '{body.link}'")) is not None:
            known[body.link] = inertia.moved(body.T)
    if not known:
        return Inertia.unknown()
    if link not in known:
        notes.append(f"link '{link}' has no inertia of its own, only that of {', '.join(known)}")
    total, *others = known.values()
    return sum(others, total)


def body_inertia(link: Element, where: str) -> Inertia | None:
    """The `<inertial>` of one link in its frame; None if it has none."""
    inertial = link.find("inertial")
    if inertial is None:
        return None
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass is None or tensor is None:
        raise ModelError(f"<inertial> lacks its <{'mass' if mass is None else 'inertia'}>", where=where)
    xx, xy, xz, yy, yz, zz = (number(tensor, f"i{ij}", where) for ij in ("xx", "xy", "xz", "yy", "yz", "zz"))
    m = number(mass, "value", where)
    if m < 0:
        raise ModelError(f"mass is negative ({m:g} kg)", where=where, expected="0 or more")
    T = origin(inertial, where)
    turned = T[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ T[:3, :3].T
    return Inertia.from_com(m, T[:3, 3], (turned + turned.T) / 2)
