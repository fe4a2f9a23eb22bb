"""An arm with other lengths and masses, by the names of parameters.

* `dh.2.a`, `dh.2.d` [m], `dh.2.alpha`, `dh.2.theta` [rad]: standard Denavit-Hartenberg parameters of joint 2, whatever
  description the arm came from; the links' inertia stays where it is in their frames;
* `vector.2.x`, `.y`, `.z` [m]: the vector from joint 2 to the next joint (or the tip), in the axes of link 2; inertia
  stays;
* `member.2.length`: member 2 stretched by a factor with its cross-section kept, so that mass, first and second moments
  grow with its first, second and third power;
* `member.2.mass`: inertial parameters of member 2 times a factor;
* `payload` [kg]: a point mass at the tip.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.model.dh import dh_transform
from armdyn.model.dh_frames import as_dh, dh_parameters
from armdyn.spatial import inertia as inertial

DH = ("a", "alpha", "d", "theta")
# Powers of a member's length in its ten parameters.
GROWTH = np.array([1.0] + [2.0] * 3 + [3.0] * 6)


def parameter_names(n: int) -> tuple[str, ...]:
    """Names of all that can be varied of an arm with n joints."""
    joints = range(1, n + 1)
    dh = (f"dh.{i}.{name}" for i in joints for name in DH)
    vectors = (f"vector.{i}.{axis}" for i in joints for axis in "xyz")
    return ("payload", *vectors, *(f"member.{i}.{what}" for i in joints for what in ("length", "mass")), *dh)


def vary(arm: Arm, values: Mapping[str, float]) -> Arm:
    """The arm with some parameters changed."""
    dh = {name: value for name, value in values.items() if name.startswith("dh.")}
    out = _with_dh(arm, dh) if dh else arm
    for name, value in values.items():
        kind, *rest = name.split(".")
        if kind == "vector":
            out = _with_vector(out, int(rest[0]) - 1, "xyz".index(rest[1]), value)
        if kind == "member":
            i = int(rest[0]) - 1
            out = _stretch(out, i, value) if rest[1] == "length" else _heavier(out, i, np.full(inertial.SIZE, value))
    load = values.get("payload", 0.0)
    return out.with_payload(load) if load else out


def _with_dh(arm: Arm, values: Mapping[str, float]) -> Arm:
    rows = [row._asdict() for row in dh_parameters(arm).rows]
    for name, value in values.items():
        _, i, key = name.split(".")
        rows[int(i) - 1][key] = value
    out = as_dh(arm)
    joints = [
        dataclasses.replace(joint, after=dh_transform(*(row[key] for key in DH)))
        for joint, row in zip(out.joints, rows, strict=True)
    ]
    return out.with_joints(joints)


def _with_vector(arm: Arm, i: int, axis: int, value: float) -> Arm:
    """The vector from joint i to what comes next with another component, in the axes of link i."""
    joint = arm.joints[i]
    following = arm.joints[i + 1].before if i + 1 < arm.n else arm.tool_pose
    moved = np.array(following)
    # The joint's point lies at -R_after' p_after in the link's frame.
    moved[axis, 3] = value - (joint.after[:3, :3].T @ joint.after[:3, 3])[axis]
    if i + 1 == arm.n:
        return arm.with_tool(moved)
    joints = list(arm.joints)
    joints[i + 1] = dataclasses.replace(joints[i + 1], before=moved)
    return arm.with_joints(joints)


def _stretch(arm: Arm, i: int, factor: float) -> Arm:
    """Member i from its joint to the next one (or the tip) times a factor."""
    joints = list(arm.joints)
    joints[i] = dataclasses.replace(joints[i], after=_longer(joints[i].after, factor))
    if i + 1 < arm.n:
        joints[i + 1] = dataclasses.replace(joints[i + 1], before=_longer(joints[i + 1].before, factor))
        out = arm.with_joints(joints)
    else:
        out = arm.with_joints(joints).with_tool(_longer(arm.tool_pose, factor))
    return _heavier(out, i, factor**GROWTH)


def _longer(T: NDArray, factor: float) -> NDArray:
    out = np.array(T)
    out[:3, 3] *= factor
    return out


def _heavier(arm: Arm, i: int, factors: NDArray) -> Arm:
    theta = arm.theta.reshape(arm.n, inertial.SIZE).copy()
    theta[i] *= factors
    return arm.with_theta(theta.ravel())
