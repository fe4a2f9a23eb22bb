"""Mechanisms: two arms on a table, an arm on a lifting torso, a palletiser with a balancer, a gripper whose jaws mimic.

None is a particular machine: sizes are as on machines of the kind, and all numbers are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Drive, Friction, Joint, Limits
from armdyn.model.mechanism import Frame, Spring
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import rotation_z
from armdyn.spatial.transform import transform

X, Y, Z = np.eye(3)
ASSUMED = "Assumed: all sizes, masses (solid cylinders), friction and limits."


class _Rod(NamedTuple):
    """A solid cylinder from the joint on."""

    mass: float
    to: tuple[float, float, float]  # far end [m]
    radius: float


class _Row(NamedTuple):
    """A joint with its link."""

    name: str
    link: str
    axis: NDArray
    at: tuple[float, float, float]  # in the parent's frame [m]
    limits: tuple[float, float, float, float]
    rod: _Rod
    parent: str | None = None
    follows: tuple[tuple[str, float], ...] = ()
    kind: str = "revolute"
    friction: Friction = Friction()
    rotor: float = 0.0  # inertia at the joint [kg m² or kg]


def two_arms() -> Arm:
    """Two arms of six joints that face each other across a table, each with a gripper of two fingers that mimic.

    It is of the kind of ALOHA: 14 coordinates, 16 joints; frames are "left_hand" and "right_hand".
    """
    rows, frames = [], []
    for side, x in (("left", -0.62), ("right", 0.62)):
        rows += _arm_with_fingers(f"{side}_", x)
        frames.append(Frame(f"{side}_hand", f"{side}_wrist_link", transform(None, [0.12, 0, 0])))
    arm = _arm("two_arms", "two arms on a table, of the kind of ALOHA", rows, "left_wrist_link", frames=frames)
    back = transform(rotation_z(np.pi))  # the right arm looks at the left one
    joints = [replace(j, before=j.before @ back) if j.name == "right_waist" else j for j in arm.joints]
    return arm.with_joints(joints)


def _arm_with_fingers(side: str, x: float) -> list[_Row]:
    turn, rough = (-3.1, 3.1, 3.1, 40.0), Friction(1.0, 0.5)
    slide, finger = (0.0, 0.04, 0.5, 60.0), Friction(20.0, 2.0)
    hand = f"{side}wrist_link"
    return [
        _Row(f"{side}waist", f"{side}shoulder_link", Z, (x, 0, 0.08), turn, _Rod(0.8, (0, 0, 0.05), 0.05), "base",
             friction=rough, rotor=0.1),
        _Row(f"{side}shoulder", f"{side}upper_arm_link", Y, (0, 0, 0.05), (-1.8, 1.2, 3.1, 140.0),
             _Rod(0.9, (0.06, 0, 0.3), 0.03), friction=rough, rotor=0.4),
        _Row(f"{side}elbow", f"{side}forearm_link", Y, (0.06, 0, 0.3), (-1.7, 1.6, 3.1, 60.0),
             _Rod(0.7, (0.2, 0, 0), 0.03), friction=rough, rotor=0.4),
        _Row(f"{side}forearm_roll", f"{side}roll_link", X, (0.2, 0, 0), turn, _Rod(0.3, (0.1, 0, 0), 0.025),
             friction=rough, rotor=0.1),
        _Row(f"{side}wrist_angle", f"{side}pitch_link", Y, (0.1, 0, 0), (-1.8, 2.2, 3.1, 35.0),
             _Rod(0.1, (0.06, 0, 0), 0.025), friction=rough, rotor=0.01),
        _Row(f"{side}wrist_rotate", hand, X, (0.06, 0, 0), turn, _Rod(0.4, (0.08, 0, 0), 0.04), friction=rough,
             rotor=0.01),
        _Row(f"{side}finger", f"{side}finger_link", Y, (0.08, 0, 0), slide, _Rod(0.05, (0.08, 0, 0), 0.01), hand, (),
             "prismatic", finger, 0.2),
        _Row(f"{side}other_finger", f"{side}other_finger_link", -Y, (0.08, 0, 0), slide,
             _Rod(0.05, (0.08, 0, 0), 0.01), hand, ((f"{side}finger", 1.0),), "prismatic", finger),
    ]  # fmt: skip


def torso_arm() -> Arm:
    """An arm of seven joints and a head on a torso that lifts both; the tip is the arm's.

    It is of the kind of TIAGo's torso and arm: ten coordinates.
    """
    rough, weak = Friction(0.5, 1.0), Friction(0.2, 0.4)
    sideways = (-1.3, 1.3, 2.0, 8.0)
    rows = [
        _Row("torso_lift", "torso", Z, (-0.06, 0, 0.6), (0.0, 0.35, 0.07, 2000.0), _Rod(17.0, (0, 0, 0.3), 0.12),
             "base", kind="prismatic", friction=Friction(100.0, 40.0)),
        _Row("arm_1", "arm_1_link", Z, (0.16, -0.01, 0.2), (0.0, 2.7, 2.7, 45.0), _Rod(1.6, (0.12, 0, 0), 0.06),
             "torso", friction=rough),
        _Row("arm_2", "arm_2_link", -Y, (0.125, 0, -0.03), (-1.5, 1.0, 2.7, 45.0), _Rod(2.8, (0.09, 0, 0), 0.06),
             friction=rough),
        _Row("arm_3", "arm_3_link", X, (0.09, 0, 0), (-3.4, 1.5, 2.7, 28.0), _Rod(2.2, (0.22, 0, 0), 0.05),
             friction=rough),
        _Row("arm_4", "arm_4_link", -Y, (0.22, 0, -0.03), (-0.3, 2.3, 2.7, 28.0), _Rod(0.9, (0.16, 0, 0), 0.04),
             friction=rough),
        _Row("arm_5", "arm_5_link", X, (0.16, 0, 0.02), (-2.0, 2.0, 2.0, 9.0), _Rod(1.5, (0.15, 0, 0), 0.04),
             friction=weak),
        _Row("arm_6", "arm_6_link", -Y, (0.15, 0, 0), sideways, _Rod(0.4, (0, 0.02, 0), 0.04), friction=weak),
        _Row("arm_7", "arm_7_link", X, (0, 0, 0), (-2.0, 2.0, 2.0, 8.0), _Rod(0.3, (0.08, 0, 0), 0.04),
             friction=weak),
        _Row("head_1", "head_1_link", Z, (0.18, 0, 0.3), sideways, _Rod(0.5, (0, 0, 0.08), 0.05), "torso",
             friction=weak),
        _Row("head_2", "head_2_link", -Y, (0, 0, 0.08), (-1.0, 0.7, 3.0, 8.0), _Rod(0.9, (0.1, 0, 0.05), 0.07),
             friction=weak),
    ]  # fmt: skip
    return _arm("torso_arm", "an arm on a lifting torso, of the kind of TIAGo", rows, "arm_7_link", (0.08, 0, 0))


def palletizer() -> Arm:
    """A palletiser: waist, shoulder, an elbow behind a parallelogram, a hand that stays level, and a balancer.

    Coordinates are what motors turn: waist, shoulder, crank and hand. Elbow, rod and the level wrist follow them; a
    spring between column and beam carries the weight.
    """
    rough, bend = Friction(40.0, 60.0), (-1.0, 2.6, 3.0, 9e3)
    rows = [
        _Row("waist", "column", Z, (0, 0, 0.4), (-3.1, 3.1, 2.5, 9e3), _Rod(350.0, (0.3, 0, 0.4), 0.3), "base",
             friction=rough, rotor=60.0),
        _Row("shoulder", "beam", Y, (0.3, 0, 0.5), (-1.6, 0.3, 2.5, 9e3), _Rod(180.0, (1.2, 0, 0), 0.12),
             friction=rough, rotor=80.0),
        _Row("crank", "crank_link", Y, (0.3, 0, 0.5), (-0.6, 0.9, 2.5, 9e3), _Rod(40.0, (-0.4, 0, 0), 0.1), "column",
             friction=rough, rotor=60.0),
        _Row("elbow", "forearm", Y, (1.2, 0, 0), bend, _Rod(120.0, (1.2, 0, 0), 0.1), "beam",
             (("crank", 1.0), ("shoulder", -1.0)), friction=Friction(10.0, 20.0)),
        _Row("rod_joint", "rod", Y, (-0.4, 0, 0), (-2.6, 1.0, 3.0, 9e3), _Rod(25.0, (1.2, 0, 0), 0.03), "crank_link",
             (("shoulder", 1.0), ("crank", -1.0))),
        _Row("level", "wrist", Y, (1.2, 0, 0), (-1.0, 1.0, 3.0, 9e3), _Rod(30.0, (0.15, 0, -0.1), 0.08), "forearm",
             (("crank", -1.0),), friction=Friction(4.0, 8.0)),
        _Row("hand", "flange", -Z, (0.15, 0, -0.1), (-6.2, 6.2, 6.0, 500.0), _Rod(15.0, (0, 0, -0.1), 0.1), "wrist",
             friction=Friction(1.0, 4.0), rotor=1.0),
    ]  # fmt: skip
    spring = Spring("balancer", ("column", "beam"), ((0.3, 0.0, 0.95), (0.45, 0.0, 0.0)), 1.9e4, 0.1)
    behind = (Frame("rod_end", "forearm", transform(None, [-0.4, 0, 0])),)  # where the rod holds the forearm
    return _arm("palletizer", "a palletiser for 100 kg", rows, "flange", (0, 0, -0.1), behind, (spring,))


def gripper() -> Arm:
    """A gripper of one motor: the other jaw mimics the first, and both tips stay parallel. The tip is a finger's."""
    free, dry = (-1.0, 1.0, 2.0, 30.0), Friction(0.02, 0.05)
    rows = []
    for side, y, sign in (("left", 0.03, 1.0), ("right", -0.03, -1.0)):
        leads = () if side == "left" else (("left_knuckle", 1.0),)
        rows += [
            _Row(f"{side}_knuckle", f"{side}_bar", -sign * Z, (0.06, y, 0), (-0.1, 0.8, 2.0, 30.0),
                 _Rod(0.05, (0.06, 0, 0), 0.01), "base", leads, friction=dry, rotor=0.0 if leads else 1e-3),
            _Row(f"{side}_tip_joint", f"{side}_tip", sign * Z, (0.06, 0, 0), free, _Rod(0.04, (0.04, 0, 0), 0.01),
                 f"{side}_bar", (("left_knuckle", 1.0),), friction=dry),
        ]  # fmt: skip
    return _arm("gripper", "a gripper with jaws that stay parallel", rows, "left_tip", (0.04, 0, 0), plane=(1, 0, 0, 0))


def _arm(
    name: str, what: str, rows: Iterable[_Row], tip_link: str, tip: tuple[float, float, float] = (0.12, 0, 0),
    frames: Iterable[Frame] = (), springs: tuple[Spring, ...] = (),
    plane: tuple[float, float, float, float] = (0, 0, 1, 0),
) -> Arm:  # fmt: skip
    """The arm of rows; its notes say what it is like."""
    listed = list(rows)
    notes = (f"Source: no particular machine, {what}.", ASSUMED)
    links = tuple(Link(row.link, _cylinder(row.rod)) for row in listed)
    return Arm(
        tuple(_joint(row) for row in listed), links, name, tool_pose=transform(None, tip), notes=notes,
        mounting_plane=plane, frames=tuple(frames), tip_link=tip_link, springs=springs,
    )  # fmt: skip


def _joint(row: _Row) -> Joint:
    return Joint(
        row.name, row.kind, row.axis, transform(None, row.at), limits=Limits(*row.limits), parent=row.parent,
        follows=row.follows, friction=row.friction, drive=Drive(rotor_inertia=row.rotor),
    )  # fmt: skip


def _cylinder(rod: _Rod) -> Inertia:
    """The inertia about the joint."""
    to = np.array(rod.to)
    length = float(np.linalg.norm(to))
    u = to / length
    across = rod.mass * (3 * rod.radius**2 + length**2) / 12
    along = rod.mass * rod.radius**2 / 2
    return Inertia.from_com(rod.mass, to / 2, across * np.eye(3) + (along - across) * np.outer(u, u))
