"""What URDF cannot hold: the whole arm as TOML in an `<armdyn>` element, believed as far as the rest agrees.

URDF has no drives, no gravity, no frames behind a joint (standard DH), one friction model, and
rotations as three angles. A file written by armdyn therefore also holds the arm in armdyn's own
format, bit by bit. Other programs ignore the element; where one has edited the standard elements,
those win.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ReadError
from armdyn.model.arm import STANDARD_GRAVITY, Arm, Link
from armdyn.model.joint import Joint
from armdyn.model.toml_format import arm_from_toml, toml_text
from armdyn.precision import SOLUTION_ERROR
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse

TAG = "armdyn"


def extension(arm: Arm) -> Element:
    """The element that keeps `arm`."""
    element = Element(TAG)
    element.text = f"\n{toml_text(arm)}"
    return element


def restore(standard: Arm, robot: Element, where: str) -> Arm:
    """The arm of the standard elements, with what the extension adds to it."""
    extension = _extension_arm(robot, where)
    return standard if extension is None else reconcile(standard, extension)


def holds_tree(robot: Element, where: str) -> bool:
    """Whether the file was written from an arm that is no chain."""
    extension = _extension_arm(robot, where)
    return extension is not None and not extension.is_chain


def _extension_arm(robot: Element, where: str) -> Arm | None:
    """The arm in the file's extension; None where it has none."""
    elements = robot.findall(TAG)
    if not elements:
        return None
    if len(elements) > 1:
        raise ReadError(f"has {len(elements)} <{TAG}> elements", where=where, expected="one")
    try:
        return arm_from_toml(elements[0].text or "", f"{where}: <{TAG}>")
    except ArmdynError as error:
        raise error.at(where, remedy="remove the element to use the rest of the file") from None


def reconcile(standard: Arm, extension: Arm) -> Arm:
    """`extension` where it says the same as `standard` with more digits or more detail, else `standard`.

    Frames are taken all or none, since links and joints share them; inertia and friction link by
    link. Drives, gravity, notes and the treatment of logs, which URDF lacks, are kept.
    """
    by_name = {joint.name: joint for joint in extension.joints}
    standard = _with_leaders(standard, extension)
    same_joints = standard.joint_names == extension.joint_names
    standard = standard.with_joints(
        _add_detail(joint, by_name.get(joint.name, joint), same_joints) for joint in standard.joints
    )
    names = frame_names(extension)
    if not same_joints or standard.base_name != names.base:
        free = (name for name in standard.coordinate_names if name in by_name and by_name[name].follows)
        freed = (f"joint '{name}' follows others in the whole arm, and moves by itself in this chain" for name in free)
        return dataclasses.replace(standard, notes=(*extension.notes, *standard.notes, *freed))
    turned = not np.array_equal(standard.gravity, STANDARD_GRAVITY)
    standard = standard.with_gravity(standard.gravity if turned else extension.gravity)
    if not _same_frames(standard, extension):
        notes = (
            *extension.notes,
            *standard.notes,
            "frames were edited outside armdyn: those of the standard elements are used",
        )
        return dataclasses.replace(standard, notes=notes, preprocessing=extension.preprocessing)
    return _with_kept_frames(standard, extension, standard.tip_name == names.tip)


def _with_leaders(standard: Arm, extension: Arm) -> Arm:
    """`standard`, but listed as `extension` is, and with joints that follow several others: URDF can say neither."""
    carriers = [{arm.joint_names[i]: ("", *arm.joint_names)[p + 1] for i, p in enumerate(arm.parents)}
                for arm in (standard, extension)]  # fmt: skip
    if extension.is_chain or carriers[0] != carriers[1]:
        return standard
    order, names = [standard.joint_names.index(name) for name in extension.joint_names], standard.link_names
    joints = []
    for i, old in zip(order, extension.joints, strict=True):
        joint, parent = standard.joints[i], (standard.base_name, *names)[standard.parents[i] + 1]
        rule = old if len(old.follows) > 1 else joint
        joints.append(dataclasses.replace(joint, parent=parent, follows=rule.follows, offset=rule.offset))
    links, tip_link = tuple(standard.links[i] for i in order), names[standard.tip_index]
    return dataclasses.replace(standard, joints=tuple(joints), links=links, tip_link=tip_link)


def _with_kept_frames(standard: Arm, extension: Arm, same_tip: bool) -> Arm:
    """`extension`, but for what differs in `standard`: friction, inertia, limits, the tip."""
    joints = tuple(
        dataclasses.replace(joint, axis=old.axis, before=old.before, after=old.after, parent=old.parent)
        for joint, old in zip(standard.joints, extension.joints, strict=True)
    )
    links = tuple(
        old if _same_inertia(link, old, joint) else Link(old.name, _behind(link.inertia, joint))
        for link, old, joint in zip(standard.links, extension.links, extension.joints, strict=True)
    )
    edited = [link.name for link, old in zip(links, extension.links, strict=True) if link is not old]
    notes = [*extension.notes, *(f"inertia of link '{name}' was edited outside armdyn" for name in edited)]
    arm = dataclasses.replace(
        extension, joints=joints, links=links, gravity=standard.gravity, name=standard.name, notes=tuple(notes)
    )
    if not extension.is_chain or (same_tip and _close(flat_frames(standard)[-1], flat_frames(extension)[-1])):
        return arm
    tool = inverse(extension.joints[-1].after) @ standard.tool_pose
    return dataclasses.replace(arm, tool_pose=tool, tip_name=standard.tip_name)


def _add_detail(joint: Joint, extension: Joint, same_joints: bool) -> Joint:
    """`joint` with the drive of `extension`, and its friction where the URDF agrees with it."""
    friction = extension.friction if extension.friction.plain == joint.friction.plain else joint.friction
    # Rows of coupling and deflection have numbers for every joint: they mean nothing in another chain.
    drive = extension.drive if same_joints else dataclasses.replace(extension.drive, coupling=(), deflection=())
    return dataclasses.replace(joint, friction=friction, drive=drive)


class FrameNames(NamedTuple):
    """Names of a URDF's links for the frames of an arm; none occurs twice."""

    base: str
    links: tuple[str, ...]
    joints: tuple[str, ...]  # the frame at the joint; the link's own unless something stands between
    tip: str


def frame_names(arm: Arm) -> FrameNames:
    """Names of a URDF's links for `arm`: its own, lengthened where two would be the same."""
    taken = {*arm.link_names, *(frame.name for frame in arm.frames)}

    def free(name: str) -> str:
        while name in taken:
            name += "_frame"
        taken.add(name)
        return name

    plain = [np.array_equal(joint.after, np.eye(4)) for joint in arm.joints]
    at_joint = tuple(name if same else free(f"{name}_joint") for name, same in zip(arm.link_names, plain, strict=True))
    last = arm.link_names[arm.tip_index]
    on_link = arm.tip_name == last and np.array_equal(arm.tool_pose, np.eye(4))
    return FrameNames(free(arm.base_name), arm.link_names, at_joint, last if on_link else free(arm.tip_name))


def flat_frames(arm: Arm) -> list[NDArray]:
    """Pose of every joint in the one that carries it, and of the tip in its link's joint: what URDF holds."""
    carriers = (*arm.parents, arm.tip_index)
    ahead = [*(joint.before for joint in arm.joints), arm.tool_pose]
    return [(arm.base_pose if i < 0 else arm.joints[i].after) @ T for i, T in zip(carriers, ahead, strict=True)]


def flat_inertia(link: Link, joint: Joint) -> Inertia:
    """Inertia of a link in the frame of its joint, where URDF puts the link's frame."""
    return link.inertia.moved(joint.after) if link.inertia.is_known else Inertia.unknown()


def _behind(inertia: Inertia, joint: Joint) -> Inertia:
    """The inverse of `flat_inertia`."""
    return inertia.moved(inverse(joint.after)) if inertia.is_known else Inertia.unknown()


def _same_frames(standard: Arm, extension: Arm) -> bool:
    """Whether both have the same joints; the tip may differ."""
    pairs = zip(standard.joints, extension.joints, strict=True)
    if standard.parents != extension.parents:
        return False
    if not all(a.kind == b.kind and np.abs(a.axis - b.axis).max() < SOLUTION_ERROR for a, b in pairs):
        return False
    frames = zip(flat_frames(standard)[:-1], flat_frames(extension)[:-1], strict=True)
    return all(_close(a, b) for a, b in frames)


def _same_inertia(standard: Link, extension: Link, joint: Joint) -> bool:
    return _close(flat_inertia(extension, joint).theta, standard.inertia.theta)


def _close(a: NDArray, b: NDArray) -> bool:
    scale = max(1e-3, np.abs(a[np.isfinite(a)]).max(initial=0.0))
    return np.allclose(a, b, rtol=0, atol=SOLUTION_ERROR * scale, equal_nan=True)
