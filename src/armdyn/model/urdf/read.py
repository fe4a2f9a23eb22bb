"""Arms from URDF files: one serial chain of the tree with everything that rides on it, or the whole tree.

What URDF cannot hold is kept in an `<armdyn>` element; see `urdf.extension` and `docs/formats-urdf.md`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynWarning, ModelError, check_choice
from armdyn.model.arm import STANDARD_GRAVITY, Arm, Link
from armdyn.model.joint import Friction, Joint, Limits
from armdyn.model.mechanism import Frame
from armdyn.model.urdf.extension import holds_tree, restore
from armdyn.model.urdf.inertia import BRANCHES, NOWHERE, held_motion, link_inertia
from armdyn.model.urdf.tree import KINDS, Chain, Mimic, Tree, TreeJoint, build_tree, choose_chain, mimic_of, reject_hold
from armdyn.model.urdf.xml import axis, note_doubles, number, origin, parse_robot, read_robot
from armdyn.precision import HUGE
from armdyn.spatial.transform import inverse


def read_urdf(
    path: str | os.PathLike[str],
    base: str | None = None,
    tip: str | None = None,
    branches: str = "lump",
    text: bytes | None = None,
    hold: Mapping[str, float] = NOWHERE,
) -> Arm:
    """The arm between two links of a URDF.

    Fixed joints are merged: a body that is rigidly joined to a moving link, anywhere below it and
    also beyond `tip`, is part of that link. Bodies without `<inertial>` add nothing; a link none of
    whose bodies has one is unknown. What hangs on `base` or above does not move and is left out.
    Meshes are never opened. A tensor of inertia that no body can have is used as it stands, with a
    warning that names the link.

    Parameters
    ----------
    path : str or path
    base : str
        Link whose frame is the arm's base; default the root. If it is turned against the root (all
        joints at zero), gravity is turned into its axes.
    tip : str
        Link whose frame is the arm's tip. Default: the end of the moving joints, then on along
        fixed joints while there is one way only. If the moving joints fork into branches shorter
        than the chain before them (a gripper), the tip is the link at the fork, with a warning.
    branches : "lump", "refuse" or "keep"
        What to do with moving branches off the chain that ride on its links (fingers): freeze their
        joints and count them in, which is told in `arm.notes`; raise; or keep the whole tree below `base`.
        Without `tip`, a fork that is no hand at the end of a chain gives the whole tree in the first case too.
        A joint that mimics one of the arm follows it (`Joint.follows`); one that mimics another is held.
    text : bytes
        The contents of the file, where another program has written them (see `armdyn.model.xacro`).
    hold : mapping of str to float
        Positions at which joints off the chain are frozen, by name [rad or m]; others at zero.

    Returns
    -------
    Arm

    Raises
    ------
    ReadError
        If the file is not a URDF.
    ModelError
        If the chain is ambiguous, impossible, or not a chain of revolute and prismatic joints.
    """
    where = Path(path).name
    robot = read_robot(path) if text is None else parse_robot(text, where)
    tree = build_tree(robot, where)
    check_choice("load", "branches", branches, BRANCHES, ModelError)
    if branches == "lump" and base is None and tip is None and holds_tree(robot, where):
        branches = "keep"
    chain = choose_chain(tree, base, tip, branches)
    reject_hold(tree, chain, hold)
    arm = restore(_arm(robot, tree, chain, branches, hold), robot, where)
    flaws = [note for note in map(impossible_note, arm.links) if note]
    others = f" (and {len(flaws) - 1} more, see arm.notes)" if len(flaws) > 1 else ""
    for message in [chain.guess, *(flaw + others for flaw in flaws[:1])]:
        if message:
            # The user's line: above `load` and what it calls.
            warnings.warn(f"{where}: {message}", ArmdynWarning, stacklevel=4)
    return replace(arm, notes=(*arm.notes, *(flaw for flaw in flaws if flaw not in arm.notes)))


def impossible_note(link: Link) -> str:
    """Return the note, kept in `arm.notes`, on a link whose inertia no body can have; empty if one can.

    Makers' files hold such tensors. They are used as they stand, and written again while the notes
    admit them; an arm that has become impossible later is not written.
    """
    why = link.inertia.problems() if link.inertia.is_known else []
    return f"link '{link.name}' is not physically consistent as described: {why[0]}" if why else ""


def _moving_joints(tree: Tree, chain: Chain) -> set[str]:
    """Names of the joints that move with the arm: free ones, and those that mimic one that moves."""
    moving = {joint.name for joint in chain.joints if joint.is_free}
    mimics = {joint.name: mimic for joint in chain.joints if (mimic := mimic_of(joint, tree.where)) and joint.moves}
    while more := {name for name, mimic in mimics.items() if mimic.leader in moving and mimic.multiplier} - moving:
        moving |= more
    return moving


def _arm(robot: Element, tree: Tree, chain: Chain, branches: str, hold: Mapping[str, float]) -> Arm:
    """The arm that the standard elements describe."""
    notes: list[str] = []
    joints: list[Joint] = []
    links: list[Link] = []
    frames: list[Frame] = []
    moving = _moving_joints(tree, chain)
    places: dict[str, tuple[str | None, NDArray]] = {chain.base: (None, np.eye(4))}  # carrying link, pose in it
    for joint in chain.joints:
        where = f"{tree.where}: joint '{joint.name}'"
        note_doubles(joint.element, f"joint '{joint.name}'", notes)
        carrier, T = places[joint.parent]
        T = T @ origin(joint.element, where)
        if joint.name in moving:
            before = links[-1].name if links else None
            parent = None if carrier == before else chain.base if carrier is None else carrier
            joints.append(replace(_joint(joint, T, where), parent=parent, **_follows(joint, tree.where)))
            links.append(Link(joint.child, link_inertia(tree, joint.child, moving, branches, notes, hold)))
            places[joint.child] = joint.child, np.eye(4)
            continue
        if joint.moves:
            T = T @ held_motion(tree, joint, hold, where)
            notes.append(_held_note(tree, joint, hold))
        places[joint.child] = carrier, T
        if carrier is not None and joint.child != chain.tip:
            frames.append(Frame(joint.child, carrier, T))
    tip_link, tool_pose = places[chain.tip]
    is_last = tip_link is None or tip_link == links[-1].name
    arm = Arm(
        tuple(joints),
        tuple(links),
        name=robot.get("name") or "arm",
        gravity=_gravity(tree, chain.base, notes),
        tool_pose=tool_pose,
        mounting_plane=_mounting_plane(tree, chain),
        base_name=chain.base,
        tip_name=chain.tip,
        notes=tuple(notes),
        tip_link=None if is_last else tip_link,
    )
    return arm if arm.is_chain else replace(arm, frames=tuple(frames))


def _held_note(tree: Tree, joint: TreeJoint, hold: Mapping[str, float]) -> str:
    """Describe where a joint of the chain is held that mimics one that does not move with the arm."""
    leader, multiplier, offset = mimic_of(joint, tree.where) or Mimic("", 1.0, 0.0)
    if not multiplier or leader not in {other.name for other in tree.parent.values()}:
        why = ", which is no joint of the file," if multiplier else " with a multiplier of 0"
        return f"joint '{joint.name}' mimics '{leader}'{why} and is held at {offset:g}"
    return f"joint '{joint.name}' mimics '{leader}' and is held where '{leader}' = {hold.get(leader, 0.0):g} puts it"


def _follows(joint: TreeJoint, file: str) -> dict[str, Any]:
    """Return what a joint that mimics another follows, as fields of `Joint`."""
    mimic = mimic_of(joint, file)
    return {} if mimic is None else {"follows": ((mimic.leader, mimic.multiplier),), "offset": mimic.offset}


def _gravity(tree: Tree, base: str, notes: list[str]) -> NDArray:
    """Gravity along the root's -z, in the axes of `base`."""
    R = _pose_at_zero(tree, base)[:3, :3]
    if np.array_equal(R[2], (0.0, 0.0, 1.0)):
        return np.array(STANDARD_GRAVITY)
    notes.append(f"gravity: along -z of '{tree.root}', turned into the axes of '{base}' with all joints at zero")
    return R.T @ STANDARD_GRAVITY


def _mounting_plane(tree: Tree, chain: Chain) -> tuple[float, float, float, float]:
    """The plane z = 0 of the link that carries the arm, in the axes of the chain's base.

    That is the last link with a body before the first moving joint; on a base that moves itself (a lift, wheels),
    the root. Root and base as they are with all joints at zero.
    """
    above = tree.path(tree.root, chain.base)
    links = [chain.base, *(joint.child for joint in takewhile(lambda joint: not joint.moves, chain.joints))]
    carrier = next((link for link in reversed(links) if _has_body(tree.links[link])), None)
    if carrier is None and not any(joint.moves for joint in above):
        carrier = next((joint.parent for joint in reversed(above) if _has_body(tree.links[joint.parent])), None)
    if any(joint.moves for joint in above) or carrier is None:
        carrier = tree.root
    T_root_base, T_root_carrier = (_pose_at_zero(tree, link) for link in (chain.base, carrier))
    T = inverse(T_root_base) @ T_root_carrier
    x, y, z = (float(part) for part in T[:3, 2])
    return x, y, z, float(T[:3, 2] @ T[:3, 3])


def _has_body(link: Element) -> bool:
    return any(link.find(tag) is not None for tag in ("visual", "collision", "inertial"))


def _pose_at_zero(tree: Tree, link: str) -> NDArray:
    T = np.eye(4)
    for joint in tree.path(tree.root, link):
        T = T @ origin(joint.element, f"{tree.where}: joint '{joint.name}'")
    return T


def _joint(joint: TreeJoint, before: NDArray, where: str) -> Joint:
    if joint.type not in KINDS:
        kinds = ", ".join(KINDS)
        cause = f"a '{joint.type}' joint has several freedoms"
        raise ModelError(cause, where=where, expected=f"{kinds} or fixed", names=(joint.type,))
    direction, friction = axis(joint.element, where), _friction(joint, where)
    try:
        limits = _limits(joint, where)
        return Joint(joint.name, KINDS[joint.type], direction, before, limits=limits, friction=friction)
    except ModelError as error:
        raise error.at(where) from None


def _limits(joint: TreeJoint, where: str) -> Limits:
    limit = joint.element.find("limit")
    endless = joint.type == "continuous"
    if endless and limit is None:
        return Limits()
    if limit is None or not (endless or "lower" in limit.attrib or "upper" in limit.attrib):
        raise ModelError("lacks <limit lower=... upper=...>; without end stops its type is 'continuous'", where=where)
    velocity, effort = (_bound(limit, name, where, "inf") for name in ("velocity", "effort"))
    if endless:
        return Limits(velocity=velocity, effort=effort)
    lower, upper = (_bound(limit, name, where, "0") for name in ("lower", "upper"))
    return Limits(lower, upper, velocity, effort)


def _bound(limit: Element, name: str, where: str, default: str) -> float:
    """One limit; a huge or infinite number means none."""
    text = limit.get(name, default)
    if text.strip().lstrip("+-").lower() in ("inf", "infinity"):
        return float(text)
    return without_huge(number(limit, name, where, default))


def without_huge(limit: float) -> float:
    """A limit; huge numbers mean none."""
    return float(limit) if abs(limit) < HUGE else float(np.copysign(np.inf, limit))


def _friction(joint: TreeJoint, where: str) -> Friction:
    dynamics = joint.element.find("dynamics")
    if dynamics is None:
        return Friction()
    viscous, coulomb = (number(dynamics, name, where, "0") for name in ("damping", "friction"))
    for name, value in (("damping", viscous), ("friction", coulomb)):
        if value < 0:
            raise ModelError(f"{name} is negative ({value:g}); friction cannot drive a joint", where=where)
    return Friction(viscous=viscous, coulomb=coulomb)
