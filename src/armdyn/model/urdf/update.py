"""A changed arm written back onto the URDF it came from, with nothing counted twice."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError
from armdyn.model.arm import Arm
from armdyn.model.urdf.extension import TAG, flat_frames, flat_inertia
from armdyn.model.urdf.inertia import body_inertia, held_motion, held_positions, riders
from armdyn.model.urdf.tree import Tree, TreeJoint, build_tree
from armdyn.model.urdf.write import joint_type, set_friction, set_inertial, set_limits, set_origin
from armdyn.model.urdf.xml import origin, read_robot
from armdyn.precision import SOLUTION_ERROR
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse


def update_robot(arm: Arm, onto: str | os.PathLike[str], frames: bool = False) -> Element:
    """The `<robot>` of `onto` with inertia, limits, friction (and frames) of `arm`; see `urdf.write.write_urdf`."""
    where = Path(onto).name
    robot = read_robot(onto, comments=True)
    for old in robot.findall(TAG):
        robot.remove(old)
    tree = build_tree(robot, where)
    path = tree.path(arm.base_name, arm.tip_name) if arm.is_chain else list(tree.below(arm.base_name))
    known = set(arm.joint_names)
    moving = [joint for joint in path if joint.is_free or joint.name in known]
    names = {joint.name for joint in moving}
    if frames:
        reject_other_joints(arm, tuple(joint.name for joint in moving), where)
        _frames(arm, tree, path, names, flat_frames(arm))
    _reject_other_arm(arm, tree, path, names)
    for joint, link, moved in zip(arm.joints, arm.links, moving, strict=True):
        moved.element.set("type", joint_type(joint))
        set_limits(moved.element, joint)
        set_friction(moved.element, joint)
        _set_group(tree, moved, names, flat_inertia(link, joint), held_positions(arm))
    return robot


def _reject_other_arm(arm: Arm, tree: Tree, path: list[TreeJoint], moving: Collection[str]) -> None:
    """Raise unless the file has the joints and frames of `arm` between its base and its tip, or in its tree."""
    names = tuple(joint.name for joint in path if joint.name in moving)
    reject_other_joints(arm, names, tree.where)
    frames = _frames(arm, tree, path, moving)
    for name, mine, theirs in zip((*names, "the tip"), flat_frames(arm), frames, strict=True):
        if np.abs(mine - theirs).max() > SOLUTION_ERROR * max(1.0, np.abs(mine).max()):
            cause = f"the frame of {name} is not where arm '{arm.name}' has it"
            raise ModelError(cause, where=tree.where, remedy="write a file of its own")


def reject_other_joints(arm: Arm, names: tuple[str, ...], where: str) -> None:
    """Raise unless the chain in a file has the joints of `arm`, by name."""
    if names != arm.joint_names:
        cause = (
            f"between '{arm.base_name}' and '{arm.tip_name}' it has the joints {', '.join(names)}, but "
            f"arm '{arm.name}' has {', '.join(arm.joint_names)}"
        )
        raise ModelError(cause, where=where, names=(arm.base_name, arm.tip_name))


def _frames(
    arm: Arm, tree: Tree, path: list[TreeJoint], moving: Collection[str], wanted: Sequence[NDArray] = ()
) -> list[NDArray]:
    """Pose of every moving joint in the one that carries it, and of the tip in its link.

    The moving joints are put at the poses `wanted` first, if there are some; fixed joints between them stay.
    """
    frames: list[NDArray] = []
    places = {arm.base_name: np.eye(4)}
    for joint in path:
        here, T = f"{tree.where}: joint '{joint.name}'", places[joint.parent]
        if wanted and joint.name in moving:
            set_origin(joint.element, inverse(T) @ wanted[len(frames)])
        T = T @ origin(joint.element, here)
        if joint.name in moving:
            frames.append(T)
            T = np.eye(4)
        elif joint.moves:
            T = T @ held_motion(tree, joint, held_positions(arm), here)
        places[joint.child] = T
    return [*frames, places[arm.tip_name]]


def _set_group(tree: Tree, joint: TreeJoint, chain: Collection[str], total: Inertia, hold: Mapping[str, float]) -> None:
    """Give the link behind `joint` the inertia of all that moves with it, less what keeps its own."""
    remainder = total
    for body in riders(tree, joint.child, chain, hold):
        element = tree.links[body.link]
        if not body.frozen:
            set_inertial(element, None)
        elif (fixed := body_inertia(element, f"{tree.where}: link '{body.link}'")) is not None:
            remainder = remainder - fixed.moved(body.T)
    if not total.problems() and (why := remainder.problems()):
        raise ModelError(
            f"link '{joint.child}' is not physically consistent without the moving branches that ride on it: {why[0]}",
            where=tree.where,
            names=(joint.child,),
        )
    set_inertial(tree.links[joint.child], remainder)
