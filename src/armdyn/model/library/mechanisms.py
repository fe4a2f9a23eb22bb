"""Mechanisms: two arms on a table, an arm on a lifting torso, a palletiser with a balancer, a gripper whose jaws mimic.

None is a particular machine: sizes are as on machines of the kind, and all numbers are assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction, Limits
from armdyn.model.library.tables import library_table
from armdyn.model.toml_format import arm_from_document
from armdyn.spatial.rotation import rotation_z
from armdyn.spatial.transform import transform


def two_arms() -> Arm:
    """Two arms of six joints that face each other across a table, each with a gripper of two fingers that mimic.

    It is of the kind of ALOHA: 14 coordinates, 16 joints; frames are "left_hand" and "right_hand".
    """
    return _mechanism("two_arms")


def torso_arm() -> Arm:
    """An arm of seven joints and a head on a torso that lifts both; the tip is the arm's.

    It is of the kind of TIAGo's torso and arm: ten coordinates.
    """
    return _mechanism("torso_arm")


def palletizer() -> Arm:
    """A palletiser: waist, shoulder, an elbow behind a parallelogram, a hand that stays level, and a balancer.

    Coordinates are what motors turn: waist, shoulder, crank and hand. Elbow, rod and the level wrist follow them; a
    spring between column and beam carries the weight.
    """
    return _mechanism("palletizer")


def gripper() -> Arm:
    """A gripper of one motor: the other jaw mimics the first, and both tips stay parallel. The tip is a finger's."""
    return _mechanism("gripper")


def _mechanism(name: str) -> Arm:
    document = library_table(name)
    return arm_from_document(document | {"joint": [_joint(**row) for row in document.pop("row")]}, name)


def _joint(
    at: Sequence[float], limits: Sequence[float], rod: tuple[float, Sequence[float], float], yaw: float = 0.0,
    friction: Sequence[Any] = (), rotor: float = 0.0, kind: str = "revolute", **others: Any,
) -> dict[str, Any]:  # fmt: skip
    """The table of a joint and its link, a solid cylinder from the joint on, as `arm_from_document` takes it."""
    mass, to, radius = rod
    length = float(np.linalg.norm(to))
    u = np.array(to) / length
    across = mass * (3 * radius**2 + length**2) / 12
    along = mass * radius**2 / 2
    body = {"mass": mass, "com": np.array(to) / 2, "inertia": across * np.eye(3) + (along - across) * np.outer(u, u)}
    data = {"limits": Limits(*limits), "friction": Friction(*friction), "drive": Drive(rotor_inertia=rotor)}
    return {"kind": kind, "before": transform(rotation_z(yaw) if yaw else None, at), **data, **body, **others}
