"""Arms from and to models of Pinocchio, in memory; Pinocchio is imported when these are called."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError, import_extra
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Drive, Friction, Joint, Limits
from armdyn.model.urdf.extension import flat_frames, frame_names
from armdyn.model.urdf.read import without_huge
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse

# Pinocchio's names for joints about or along x, y, z or any axis; endless ones hold a cosine and a sine.
REVOLUTE = (*(f"JointModelR{a}" for a in "XYZ"), "JointModelRevoluteUnaligned")
ENDLESS = (*(f"JointModelRUB{a}" for a in "XYZ"), "JointModelRevoluteUnboundedUnaligned")
PRISMATIC = (*(f"JointModelP{a}" for a in "XYZ"), "JointModelPrismaticUnaligned")


def from_pinocchio(model: Any, tip: str | None = None) -> Arm:
    """The arm that a `pinocchio.Model` describes; its torques equal `pinocchio.rnea` without armature.

    Parameters
    ----------
    model : pinocchio.Model
        A chain or a tree of revolute and prismatic joints, and of joints that mimic those; lock others with
        `pinocchio.buildReducedModel`. Joints without end stops have two numbers (cosine, sine) in
        Pinocchio's configuration and one angle here.
    tip : str
        A frame that becomes the arm's tip; default the link at the end of the longest branch.

    Returns
    -------
    Arm
        Armature becomes the inertia of a rotor without gear where the model names no rotor.
    """
    pin = _pinocchio()
    leaders = dict(zip(model.mimicking_joints, model.mimicked_joints, strict=True))
    _reject_other_models(model, leaders)
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))  # fills the motion subspaces
    bodies = [(model.names[0], np.eye(4)), *(_body_frame(pin, model, i) for i in range(1, model.njoints))]
    joints, links, depth = [], [], [0]
    for i in range(1, model.njoints):
        (name, after), parent = bodies[i], model.parents[i]
        depth.append(depth[parent] + 1)
        before = inverse(bodies[parent][1]) @ model.jointPlacements[i].homogeneous
        joint = _joint(model, data, i, before, after, leaders.get(i))
        joints.append(joint if parent == i - 1 else dataclasses.replace(joint, parent=bodies[parent][0]))
        theta = np.array(model.inertias[i].toDynamicParameters())
        links.append(Link(name, Inertia(theta).moved(inverse(after))))
    last = int(np.argmax(depth))
    carrier, pose = (last, bodies[last][1]) if tip is None else _tip(model, tip)
    return Arm(
        tuple(joints),
        tuple(links),
        name=model.name or "arm",
        gravity=np.array(model.gravity.linear),
        tool_pose=inverse(bodies[carrier][1]) @ pose,
        base_name=model.names[0],
        tip_name=bodies[carrier][0] if tip is None else tip,
        tip_link=None if carrier == model.njoints - 1 else bodies[carrier][0],
    )


def _pinocchio() -> Any:
    return import_extra("pinocchio", "Pinocchio is not installed", "pinocchio")


def _reject_other_models(model: Any, leaders: Mapping[int, int]) -> None:
    """Raise unless all joints are of kinds that armdyn knows."""
    for i in range(1, model.njoints):
        kind = model.joints[i].shortname()
        if kind not in (*REVOLUTE, *ENDLESS, *PRISMATIC) and i not in leaders:
            cause = f"joint '{model.names[i]}' is a {kind}"
            expected = "revolute or prismatic joints"
            raise ModelError(cause, where="from_pinocchio", expected=expected, names=(model.names[i],))


def _body_frame(pin: Any, model: Any, i: int) -> tuple[str, NDArray]:
    """Name and pose of the first body on joint `i`: the frame that the link is known by."""
    for frame in model.frames:
        if frame.parentJoint == i and frame.type == pin.FrameType.BODY:
            return frame.name, frame.placement.homogeneous
    return f"{model.names[i]}_link", np.eye(4)


def _tip(model: Any, tip: str) -> tuple[int, NDArray]:
    """Index of the joint that carries frame `tip`, and the frame's pose on it."""
    frames = [frame for frame in model.frames if frame.name == tip and frame.parentJoint > 0]
    if not frames:
        names = ", ".join(frame.name for frame in model.frames if frame.parentJoint > 0)
        cause = f"there is no frame {tip!r} on a moving joint"
        raise ModelError(cause, where="from_pinocchio", remedy=f"frames there: {names:.300}", names=(tip,))
    return frames[0].parentJoint, frames[0].placement.homogeneous


def _joint(model: Any, data: Any, i: int, before: NDArray, after: NDArray, leader: int | None) -> Joint:
    joint, k = model.joints[i], model.joints[i].idx_v
    # The constant motion subspace: linear rows first, then angular; of a joint that mimics, times its ratio.
    subspace = np.ravel(data.joints[i].S)
    kind, axis = ("revolute", subspace[3:]) if subspace[3:].any() else ("prismatic", subspace[:3])
    if leader is not None:
        mimic = joint.extract()
        follows = ((model.names[leader], abs(mimic.scaling)),)
        offset = float(np.copysign(1.0, mimic.scaling) * mimic.offset)
        return Joint(model.names[i], kind, axis, before, after, follows=follows, offset=offset)
    lower, upper = -np.inf, np.inf
    if joint.nq == 1:
        lower, upper = (without_huge(x[joint.idx_q]) for x in (model.lowerPositionLimit, model.upperPositionLimit))
    limits = Limits(lower, upper, without_huge(model.velocityLimit[k]), without_huge(model.effortLimit[k]))
    return Joint(model.names[i], kind, axis, before, after, limits, _friction(model, k), _drive(model, k))


def _friction(model: Any, k: int) -> Friction:
    if hasattr(model, "upperDryFrictionLimit"):
        forward, backward = model.upperDryFrictionLimit[k], -model.lowerDryFrictionLimit[k]
    else:
        forward = backward = model.friction[k]
    return Friction(viscous=model.damping[k], coulomb=(forward + backward) / 2, asymmetry=(forward - backward) / 2)


def _drive(model: Any, k: int) -> Drive:
    rotor, ratio = model.rotorInertia[k], model.rotorGearRatio[k] or 1.0
    if rotor == 0 and model.armature[k] != 0:
        return Drive(rotor_inertia=model.armature[k])
    return Drive(rotor_inertia=rotor, gear_ratio=ratio)


def to_pinocchio(arm: Arm) -> Any:
    """A `pinocchio.Model` of the arm, whose `rnea` equals `inverse_dynamics`.

    Every joint has one coordinate, also where it has no end stops. Links, frames and the tip are frames by
    their names. Rotors go to `rotorInertia` and `rotorGearRatio`; like `inverse_dynamics` the model
    leaves them out of its torques unless `model.armature[:] = model.rotorInertia *
    model.rotorGearRatio**2` is set. Coupled drives, springs between links, and friction beyond
    damping and dry friction, are not carried over.

    Joints of a tree are added branch by branch, as Pinocchio's mass matrix needs them: `model.getJointId(name)` finds
    one. Joints that follow others move by themselves in the model, which Pinocchio's derivatives and regressors need:
    with `order = [model.joints[model.getJointId(name)].idx_v for name in arm.joint_names]`, set its position to
    `arm.G @ q + arm.b`, its velocities to `arm.G @ qd`; the torques of the coordinates are `arm.G.T @ tau[order]`.

    Returns
    -------
    pinocchio.Model
    """
    pin = _pinocchio()
    model = pin.Model()
    model.name, model.gravity.linear = arm.name, arm.gravity
    *placements, tip_pose = flat_frames(arm)
    ids = {-1: 0}
    for i in _depth_first(arm):
        joint, link, limits = arm.joints[i], arm.links[i], arm.joints[i].limits
        bounds = [np.array([b]) for b in (limits.effort, limits.velocity, limits.lower, limits.upper)]
        parent, placement = ids[arm.parents[i]], pin.SE3(placements[i])
        ids[i] = model.addJoint(parent, _joint_model(pin, joint), placement, joint.name, *bounds)
        model.addJointFrame(ids[i])
        model.addBodyFrame(link.name, ids[i], pin.SE3(joint.after), -1)
        model.inertias[ids[i]] = _inertia(pin, link, joint)
        _set_friction_and_drive(model, model.joints[ids[i]].idx_v, joint)
    frames = [(frame.name, *arm.frame(frame.name)) for frame in arm.frames]
    poses = [(name, i, arm.joints[i].after @ pose) for name, i, pose in frames]
    tip = frame_names(arm).tip
    if tip not in arm.link_names:
        poses.append((tip, arm.tip_index, tip_pose))
    for name, i, pose in poses:
        model.addFrame(pin.Frame(name, ids[i], 0, pin.SE3(pose), pin.FrameType.OP_FRAME))
    return model


def _depth_first(arm: Arm) -> Iterator[int]:
    """Indices of the joints, each branch to its end before the next."""

    def branch(parent: int) -> Iterator[int]:
        for i, other in enumerate(arm.parents):
            if other == parent:
                yield i
                yield from branch(i)

    return branch(-1)


def _joint_model(pin: Any, joint: Joint) -> Any:
    """Pinocchio's joint, the fast kind where the axis is one of the frame's own."""
    letter = "R" if joint.kind == "revolute" else "P"
    for axis, name in zip(np.eye(3), "XYZ", strict=True):
        if np.array_equal(joint.axis, axis):
            return getattr(pin, f"JointModel{letter}{name}")()
    kind = "RevoluteUnaligned" if joint.kind == "revolute" else "PrismaticUnaligned"
    return getattr(pin, f"JointModel{kind}")(np.array(joint.axis))


def _inertia(pin: Any, link: Link, joint: Joint) -> Any:
    """Inertia in the joint's frame; Pinocchio wants a centre of mass, which needs a mass."""
    inertia = link.inertia.moved(joint.after)
    if not inertia.is_known:
        cause = f"the inertia of link '{link.name}' is not known"
        raise ModelError(cause, where="to_pinocchio", remedy="give it with with_theta", names=(link.name,))
    if inertia.mass != 0:
        return pin.Inertia.FromDynamicParameters(inertia.theta)
    if inertia.first.any():
        cause = f"link '{link.name}' has first moments without mass, which Pinocchio cannot hold"
        raise ModelError(cause, where="to_pinocchio", names=(link.name,))
    massless = pin.Inertia.Zero()
    massless.inertia = inertia.tensor
    return massless


def _set_friction_and_drive(model: Any, k: int, joint: Joint) -> None:
    friction, drive = joint.friction, joint.drive
    model.damping[k] = friction.viscous
    if hasattr(model, "upperDryFrictionLimit"):
        model.upperDryFrictionLimit[k] = friction.coulomb + friction.asymmetry
        model.lowerDryFrictionLimit[k] = friction.asymmetry - friction.coulomb
    else:
        model.friction[k] = friction.coulomb
    model.rotorInertia[k], model.rotorGearRatio[k] = drive.rotor_inertia, drive.gear_ratio
