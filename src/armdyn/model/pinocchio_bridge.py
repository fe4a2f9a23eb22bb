"""Arms from and to models of Pinocchio, in memory; Pinocchio is imported when these are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError, import_extra
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Drive, Friction, Joint, Limits
from armdyn.model.mechanism import require_chain
from armdyn.model.urdf.extension import frame_names
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse

# Pinocchio's names for joints about or along x, y, z or any axis; endless ones hold a cosine and a sine.
REVOLUTE = (*(f"JointModelR{a}" for a in "XYZ"), "JointModelRevoluteUnaligned")
ENDLESS = (*(f"JointModelRUB{a}" for a in "XYZ"), "JointModelRevoluteUnboundedUnaligned")
PRISMATIC = (*(f"JointModelP{a}" for a in "XYZ"), "JointModelPrismaticUnaligned")
NO_LIMIT = 1e16


def from_pinocchio(model: Any, tip: str | None = None) -> Arm:
    """The arm that a `pinocchio.Model` describes; its torques equal `pinocchio.rnea` without armature.

    Parameters
    ----------
    model : pinocchio.Model
        A serial chain of revolute and prismatic joints; lock others with
        `pinocchio.buildReducedModel`. Joints without end stops have two numbers (cosine, sine) in
        Pinocchio's configuration and one angle here.
    tip : str
        A frame on the last joint that becomes the arm's tip; default the last link's own.

    Returns
    -------
    Arm
        Armature becomes the inertia of a rotor without gear where the model names no rotor.
    """
    pin = _pinocchio()
    _reject_other_models(model)
    data = model.createData()
    bodies = [_body_frame(pin, model, i) for i in range(1, model.njoints)]
    behind = np.eye(4)
    joints, links = [], []
    for i, (name, after) in enumerate(bodies, start=1):
        before = inverse(behind) @ model.jointPlacements[i].homogeneous
        joints.append(_joint(model, data, i, before, after))
        theta = np.array(model.inertias[i].toDynamicParameters())
        links.append(Link(name, Inertia(theta).moved(inverse(after))))
        behind = after
    return Arm(
        tuple(joints),
        tuple(links),
        name=model.name or "arm",
        gravity=np.array(model.gravity.linear),
        tool_pose=inverse(behind) @ (behind if tip is None else _tip(model, tip)),
        base_name=model.names[0],
        tip_name=links[-1].name if tip is None else tip,
    )


def _pinocchio() -> Any:
    return import_extra("pinocchio", "Pinocchio is not installed", "pinocchio")


def _reject_other_models(model: Any) -> None:
    """Raise unless the model is one chain of joints that armdyn knows."""
    names = list(model.names)
    for i in range(1, model.njoints):
        kind = model.joints[i].shortname()
        if kind not in (*REVOLUTE, *ENDLESS, *PRISMATIC):
            raise ModelError(f"from_pinocchio: joint '{names[i]}' is a {kind}; expected revolute or prismatic joints")
        if model.parents[i] != i - 1:
            raise ModelError(
                f"from_pinocchio: joint '{names[i]}' branches off '{names[model.parents[i]]}'; "
                "expected one chain, lock the other joints with pinocchio.buildReducedModel"
            )


def _body_frame(pin: Any, model: Any, i: int) -> tuple[str, NDArray]:
    """Name and pose of the first body on joint `i`: the frame that the link is known by."""
    for frame in model.frames:
        if frame.parentJoint == i and frame.type == pin.FrameType.BODY:
            return frame.name, frame.placement.homogeneous
    return f"{model.names[i]}_link", np.eye(4)


def _tip(model: Any, tip: str) -> NDArray:
    """Pose of frame `tip` on the last joint."""
    frames = [f for f in model.frames if f.name == tip and f.parentJoint == model.njoints - 1]
    if not frames:
        names = ", ".join(f.name for f in model.frames if f.parentJoint == model.njoints - 1)
        raise ModelError(f"from_pinocchio: there is no frame {tip!r} on the last joint; frames there: {names:.300}")
    return frames[0].placement.homogeneous


def _joint(model: Any, data: Any, i: int, before: NDArray, after: NDArray) -> Joint:
    joint, k = model.joints[i], model.joints[i].idx_v
    prismatic = joint.shortname() in PRISMATIC
    # The constant motion subspace: linear rows first, then angular.
    subspace = np.ravel(data.joints[i].S)
    lower, upper = -np.inf, np.inf
    if joint.nq == 1:
        lower, upper = (_bound(x[joint.idx_q]) for x in (model.lowerPositionLimit, model.upperPositionLimit))
    return Joint(
        model.names[i],
        "prismatic" if prismatic else "revolute",
        subspace[:3] if prismatic else subspace[3:],
        before,
        after,
        Limits(lower, upper, _bound(model.velocityLimit[k]), _bound(model.effortLimit[k])),
        _friction(model, k),
        _drive(model, k),
    )


def _bound(value: float) -> float:
    """A limit; Pinocchio's largest numbers mean none."""
    return float(value) if abs(value) < NO_LIMIT else float(np.copysign(np.inf, value))


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

    Every joint has one coordinate, also where it has no end stops. Links and the tip are frames by
    their names. Rotors go to `rotorInertia` and `rotorGearRatio`; like `inverse_dynamics` the model
    leaves them out of its torques unless `model.armature[:] = model.rotorInertia *
    model.rotorGearRatio**2` is set. Coupled drives, and friction beyond
    damping and dry friction, are not carried over.

    Returns
    -------
    pinocchio.Model
    """
    require_chain(arm, "to_pinocchio")
    pin = _pinocchio()
    model = pin.Model()
    model.name, model.gravity.linear = arm.name, arm.gravity
    behind = arm.base_pose
    for joint, link in zip(arm.joints, arm.links, strict=True):
        limits = joint.limits
        bounds = [np.array([b]) for b in (limits.effort, limits.velocity, limits.lower, limits.upper)]
        placement = pin.SE3(behind @ joint.before)
        i = model.addJoint(model.njoints - 1, _joint_model(pin, joint), placement, joint.name, *bounds)
        model.addJointFrame(i)
        model.addBodyFrame(link.name, i, pin.SE3(joint.after), -1)
        model.inertias[i] = _inertia(pin, link, joint)
        _set_friction_and_drive(model, model.joints[i].idx_v, joint)
        behind = joint.after
    tip = frame_names(arm).tip
    if tip not in arm.link_names:
        pose = pin.SE3(behind @ arm.tool_pose)
        model.addFrame(pin.Frame(tip, model.njoints - 1, 0, pose, pin.FrameType.OP_FRAME))
    return model


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
        raise ModelError(f"to_pinocchio: the inertia of link '{link.name}' is not known; give it with with_theta")
    if inertia.mass != 0:
        return pin.Inertia.FromDynamicParameters(inertia.theta)
    if inertia.first.any():
        raise ModelError(
            f"to_pinocchio: link '{link.name}' has first moments without mass, which Pinocchio cannot hold"
        )
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
