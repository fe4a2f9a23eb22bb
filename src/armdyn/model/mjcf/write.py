"""MJCF files from arms: one body per link, for MuJoCo and all that reads its format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from armdyn.errors import ModelError
from armdyn.files import write_whole
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Joint
from armdyn.model.urdf.xml import text
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import to_quaternion
from armdyn.spatial.transform import inverse


def write_mjcf(
    arm: Arm, path: str | os.PathLike[str], onto: str | os.PathLike[str] | None = None, *, frames: bool = False
) -> None:
    """Write `arm` as an MJCF model, whole or not at all.

    Parameters
    ----------
    arm : Arm
        Every link needs a mass and an inertia that a body can have: MuJoCo takes no other.
    path : str or path
    onto : str or path
        An MJCF model that holds the arm's joints. Only the numbers that differ are changed there: inertia, friction,
        armature and springs of the chain. Comments, defaults, includes and all other elements are kept.
    frames : bool
        Whether the bodies of `onto` move to where the arm has them; default: they must be there.

    Raises
    ------
    ModelError
        If MJCF cannot hold the arm, or `onto` does not hold its joints where the arm has them.
    """
    if onto is not None:
        from armdyn.model.mjcf.update import update_mjcf

        update_mjcf(arm, path, onto, frames)
        return
    for link in arm.links:
        _reject_impossible(link)
    root = _mujoco(arm)
    indent(root)
    write_whole(path, tostring(root, "unicode") + "\n")


def _reject_impossible(link: Link) -> None:
    inertia = link.inertia
    why = inertia.problems()
    if not why and (inertia.mass <= 0 or np.linalg.eigvalsh(inertia.tensor_com)[0] <= 0):
        why = ["a moving body needs mass and inertia about every axis"]
    if why:
        cause = f"link '{link.name}' cannot be written as MJCF: {why[0]}"
        raise ModelError(cause, remedy="save the arm as .toml", names=(link.name,))


def _mujoco(arm: Arm) -> Element:
    root = Element("mujoco", model=arm.name)
    SubElement(root, "compiler", angle="radian", autolimits="true")
    SubElement(root, "option", gravity=text(arm.gravity))
    world = SubElement(root, "worldbody")
    bodies: list[Element] = []
    for joint, link, parent in zip(arm.joints, arm.links, arm.parents, strict=True):
        carrier, T = (world, arm.base_pose) if parent < 0 else (bodies[parent], np.eye(4))
        body = body_element(carrier, link.name, T @ joint.before @ joint.after)
        hinge = joint_element(body, joint, joint_attributes(joint))
        if np.isfinite([joint.limits.lower, joint.limits.upper]).all():
            hinge.set("range", text([joint.limits.lower, joint.limits.upper]))
        SubElement(body, "inertial", inertial_attributes(link.inertia))
        bodies.append(body)
    if arm.tip_name not in arm.link_names:
        body_element(bodies[arm.tip_index], arm.tip_name, arm.tool_pose)
    for frame in arm.frames:
        if frame.name != arm.tip_name:
            place = bodies[arm.link_names.index(frame.link)]
            SubElement(place, "site", {"name": frame.name, **_pose_attributes(frame.pose)})
    _write_followers(root, arm)
    _write_springs(root, arm, {arm.base_name: world, **dict(zip(arm.link_names, bodies, strict=True))})
    motors = SubElement(root, "actuator")
    for joint in arm.coordinate_joints:
        servo = servo_attributes(joint)
        motor = SubElement(motors, "position" if servo else "motor", {"name": joint.name, "joint": joint.name, **servo})
        if 0 < joint.limits.effort < np.inf:
            motor.set("forcerange", text([-joint.limits.effort, joint.limits.effort]))
    return root


def body_element(parent: Element, name: str, T: np.ndarray) -> Element:
    """A body with the pose T in its parent."""
    return SubElement(parent, "body", {"name": name, **_pose_attributes(T)})


def _pose_attributes(T: np.ndarray) -> dict[str, str]:
    return {"pos": text(T[:3, 3]), "quat": text(to_quaternion(T[:3, :3]))}


def _write_springs(root: Element, arm: Arm, bodies: Mapping[str, Element]) -> None:
    """Springs between links as spatial tendons between two sites."""
    tendons = next(iter(root.findall("tendon")), None)
    for spring in arm.springs:
        tendons = SubElement(root, "tendon") if tendons is None else tendons
        law = {"stiffness": text([spring.stiffness]), "springlength": text([spring.rest_length])}
        tendon = SubElement(tendons, "spatial", {"name": spring.name, **law})
        for k, (link, point) in enumerate(zip(spring.links, spring.points, strict=True)):
            place = np.array(point) if link in arm.link_names else (arm.base_pose @ [*point, 1.0])[:3]
            SubElement(bodies[link], "site", name=f"{spring.name} {k}", pos=text(place))
            SubElement(tendon, "site", site=f"{spring.name} {k}")


def _write_followers(root: Element, arm: Arm) -> None:
    """Joints that follow one other as equalities of joints, those that follow several as equalities of tendons."""
    followers = [joint for joint in arm.joints if joint.follows]
    tendons = SubElement(root, "tendon") if any(len(joint.follows) > 1 for joint in followers) else root
    equalities = SubElement(root, "equality") if followers else root
    for joint in followers:
        (leader, ratio), *others = joint.follows
        if not others:
            law = {"joint1": joint.name, "joint2": leader, "polycoef": text([joint.offset, ratio, 0, 0, 0])}
            SubElement(equalities, "joint", law)
            continue
        fixed = SubElement(tendons, "fixed", name=f"{joint.name} follows")
        for name, share in (*((name, -ratio) for name, ratio in joint.follows), (joint.name, 1.0)):
            SubElement(fixed, "joint", joint=name, coef=text([share]))
        law = {"tendon1": fixed.get("name", ""), "polycoef": text([joint.offset, 1, 0, 0, 0])}
        SubElement(equalities, "tendon", law)


def joint_element(body: Element, joint: Joint, numbers: Mapping[str, float]) -> Element:
    """A joint as the link's frame sees it: before M(q) after = (before after) (after^-1 M(q) after)."""
    back = inverse(joint.after)
    attributes = {
        "name": joint.name,
        "type": "hinge" if joint.kind == "revolute" else "slide",
        "pos": text(back[:3, 3]),
        "axis": text(back[:3, :3] @ joint.axis),
        **{name: text([value]) for name, value in numbers.items() if value},
    }
    return SubElement(body, "joint", attributes)


def joint_attributes(joint: Joint) -> dict[str, float]:
    """Return what MJCF's `<joint>` holds of a joint's friction and drive."""
    return {
        "damping": joint.friction.plain[0] + joint.drive.reflected_damping,
        "frictionloss": joint.friction.plain[1],
        "armature": joint.drive.reflected_inertia,
        "stiffness": joint.drive.stiffness,
        "springref": joint.drive.rest,
    }


def servo_attributes(joint: Joint) -> dict[str, str]:
    """Return what MJCF's `<position>` holds of a joint's servo; nothing where it has none."""
    drive = joint.drive
    return {"kp": text([drive.servo_stiffness]), "kv": text([drive.servo_damping])} if drive.servo_stiffness else {}


def inertial_attributes(inertia: Inertia) -> dict[str, str]:
    """The attributes of `<inertial>`: the tensor about the centre of mass, in the axes of the body's frame."""
    xx, xy, yy, xz, yz, zz = inertia.entries_com
    full = (xx, yy, zz, xy, xz, yz)
    return {"pos": text(inertia.com), "mass": text([inertia.mass]), "fullinertia": text(full)}
