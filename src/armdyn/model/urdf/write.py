"""URDF files from arms: standard elements that every program reads, and an extension that loses nothing."""

from __future__ import annotations

import os
import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError
from armdyn.files import write_whole
from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.model.urdf.extension import extension, frame_names
from armdyn.model.urdf.read import impossible_note
from armdyn.model.urdf.xml import text
from armdyn.precision import HUGE
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import to_rpy

# Characters that XML 1.0 cannot hold, not even escaped.
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_urdf(
    arm: Arm, path: str | os.PathLike[str], onto: str | os.PathLike[str] | None = None, *, frames: bool = False
) -> None:
    """Write `arm` as a URDF, whole or not at all.

    The file holds the chain with all that was merged into its links. An `<armdyn>` element keeps
    what URDF cannot; `read_urdf` gives back the same arm, bit by bit, unless another program has
    changed the standard elements.

    Parameters
    ----------
    arm : Arm
        Links without known inertia are written without `<inertial>`.
    path : str or path
    onto : str or path
        A URDF that holds the arm's joints, by default none. Its text is kept with meshes, frames
        and branches; inertia, limits and friction of the chain become the arm's. Bodies that were
        merged into a link give up their own `<inertial>`, and branches behind moving joints keep
        theirs, which is subtracted from the link they ride on: nothing is counted twice.
    frames : bool
        Whether the frames of the joints of `onto` become the arm's; default: they must be the same.

    Raises
    ------
    ModelError
        If a link is not physically consistent (and was not read so from a file), or `onto` does not hold
        the arm's joints where the arm has them.
    """
    _reject_impossible(arm)
    if onto is not None:
        from armdyn.model.urdf.update import update_robot

        robot = update_robot(arm, onto, frames)
    else:
        robot = _robot(arm)
    robot.append(extension(arm))
    write_whole(path, _serialize(robot))


def _reject_impossible(arm: Arm) -> None:
    """Raise if a link is not physically consistent, unless it was read so and nothing has changed."""
    notes = {link.name: impossible_note(link) for link in arm.links}
    if bad := [note for note in notes.values() if note and note not in arm.notes]:
        cause = f"arm '{arm.name}' cannot be written as URDF: {'; '.join(bad)}"
        raise ModelError(cause, remedy="save it as .toml, or make it physically consistent first", names=bad)


def _serialize(robot: Element) -> bytes:
    indent(robot)
    body = tostring(robot, "unicode")
    if illegal := ILLEGAL.search(body):
        cause = f"a name or note holds the character {illegal.group()!r}, which XML cannot hold"
        raise ModelError(cause, remedy="take it out")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body.encode() + b"\n"


def _robot(arm: Arm) -> Element:
    """The arm in standard elements."""
    robot = Element("robot", name=arm.name)
    names = frame_names(arm)
    SubElement(robot, "link", name=names.base)
    for joint, link, at_joint, carrier in zip(arm.joints, arm.links, names.joints, arm.parents, strict=True):
        body = SubElement(robot, "link", name=at_joint)
        parent, T = (names.base, arm.base_pose) if carrier < 0 else (arm.link_names[carrier], np.eye(4))
        element = _joint_element(robot, joint.name, joint_type(joint), parent, at_joint, T @ joint.before)
        SubElement(element, "axis", xyz=text(joint.axis))
        set_limits(element, joint)
        set_friction(element, joint)
        if len(joint.follows) == 1:  # URDF knows one leader; several are kept in the extension alone
            (leader, ratio), *_ = joint.follows
            SubElement(element, "mimic", joint=leader, multiplier=text([ratio]), offset=text([joint.offset]))
        if at_joint != link.name:
            # Standard DH: the link's frame stands behind the joint, on a fixed joint of its own.
            body = SubElement(robot, "link", name=link.name)
            _fixed_joint(robot, at_joint, link.name, joint.after)
        set_inertial(body, link.inertia)
    tip_link = arm.link_names[arm.tip_index]
    if names.tip != tip_link:
        SubElement(robot, "link", name=names.tip)
        _fixed_joint(robot, tip_link, names.tip, arm.tool_pose)
    for frame in arm.frames:
        SubElement(robot, "link", name=frame.name)
        _fixed_joint(robot, frame.link, frame.name, frame.pose)
    return robot


def _fixed_joint(robot: Element, parent: str, child: str, T: NDArray) -> None:
    taken = {element.get("name") for element in robot.findall("joint")}
    name = f"{parent}_to_{child}"
    while name in taken:
        name += "_fixed"
    _joint_element(robot, name, "fixed", parent, child, T)


def _joint_element(robot: Element, name: str, kind: str, parent: str, child: str, T: NDArray) -> Element:
    element = SubElement(robot, "joint", name=name, type=kind)
    set_origin(element, T)
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)
    return element


def joint_type(joint: Joint) -> str:
    """URDF's word for the joint: without end stops a revolute one is 'continuous'."""
    endless = np.isinf([joint.limits.lower, joint.limits.upper]).all()
    return "continuous" if endless and joint.kind == "revolute" else joint.kind


def set_origin(element: Element, T: NDArray) -> None:
    """Write where a joint stands into its element."""
    _child(element, "origin").attrib.update(xyz=text(T[:3, 3]), rpy=text(to_rpy(T[:3, :3])))


def set_limits(element: Element, joint: Joint) -> None:
    """Write the joint's limits into its element."""
    limit = _child(element, "limit")
    for name in ("effort", "velocity", "lower", "upper"):
        limit.set(name, text([np.clip(getattr(joint.limits, name), -HUGE, HUGE)]))
    if joint_type(joint) == "continuous":
        del limit.attrib["lower"], limit.attrib["upper"]


def set_friction(element: Element, joint: Joint) -> None:
    """Write what URDF can hold of the joint's friction into its element."""
    damping, friction = joint.friction.plain
    if damping or friction or element.find("dynamics") is not None:
        _child(element, "dynamics").attrib.update(damping=text([damping]), friction=text([friction]))


def set_inertial(body: Element, inertia: Inertia | None) -> None:
    """Write a link's inertia into its element; None, or one not fully known, removes it."""
    for old in body.findall("inertial"):
        body.remove(old)
    if inertia is None or not inertia.is_known:
        return
    inertial = Element("inertial")
    body.insert(0, inertial)
    SubElement(inertial, "origin", xyz=text(inertia.com), rpy="0 0 0")
    SubElement(inertial, "mass", value=text([inertia.mass]))
    xx, xy, yy, xz, yz, zz = (text([entry]) for entry in inertia.entries_com)
    SubElement(inertial, "inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)


def _child(element: Element, tag: str) -> Element:
    child = element.find(tag)
    return SubElement(element, tag) if child is None else child
