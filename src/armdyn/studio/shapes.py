"""An arm as simple bodies, drawn from its own frames: cylinders along the links, housings at the joints.

Every body rides on one link and is given in that link's frame; link 0 is the base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import Arm
from armdyn.spatial.transform import inverse, transform

# Sizes relative to the arm's reach, and how much thinner the last link is than the first.
THICKNESS, TAPER = 0.042, 0.5
HOUSING, HOUSING_HEIGHT = 1.35, 2.6  # radius and height of a joint's housing over the link's radius
# Lengths below this part of the reach are not drawn.
SMALLEST = 1e-3
RAIL = 0.5  # length of the rail of a sliding joint without limits, over the reach
PEDESTAL = 0.55  # height of an arm that begins at its shoulder, over the reach
PROBES = 200  # random postures by which the room of an arm is told
PAINT = {"link": (226, 231, 238), "joint": (38, 98, 168), "base": (70, 78, 92), "rail": (150, 160, 175)}


class Shape(NamedTuple):
    """A body on a link: size is (radius, height) along z, (x, y, z), or (radius,)."""

    kind: str  # cylinder, box or sphere
    link: int
    T: NDArray  # (4, 4) pose in the link's frame
    size: tuple[float, ...]  # [m]
    color: tuple[int, int, int]


def arm_shapes(arm: Arm) -> list[Shape]:
    """Bodies of the whole arm, base first."""
    reach = arm_reach(arm)
    radii = THICKNESS * reach * np.linspace(1.0, TAPER, arm.n + 1)
    ends = [*(joint.before[:3, 3] for joint in arm.joints), arm.tool_pose[:3, 3]]
    shapes = _base(arm, ends[0], radii[0], reach)
    for i, joint in enumerate(arm.joints):
        T_link_joint = inverse(joint.after)
        start, axis = T_link_joint[:3, 3], T_link_joint[:3, :3] @ joint.axis
        r = float(radii[i + 1])
        if joint.kind == "revolute":
            size = (HOUSING * r, HOUSING_HEIGHT * r)
            shapes.append(Shape("cylinder", i + 1, pose_along(axis, start), size, PAINT["joint"]))
        else:
            shapes.append(_rail(i + 1, joint.limits.lower, joint.limits.upper, axis, start, r, reach))
        shapes += _tube(i + 1, start, ends[i + 1], axis, r, reach)
    return shapes


def arm_reach(arm: Arm) -> float:
    """Length of the arm stretched out, sliding joints at their limits [m]; 1 for an arm without lengths."""
    lengths = [float(np.linalg.norm(T[:3, 3])) for joint in arm.joints for T in (joint.before, joint.after)]
    for joint in arm.joints:
        if joint.kind == "prismatic":
            lengths.append(max(abs(x) if np.isfinite(x) else 0.0 for x in (joint.limits.lower, joint.limits.upper)))
    return float(sum(lengths) + np.linalg.norm(arm.tool_pose[:3, 3])) or 1.0


class Room(NamedTuple):
    """Where to put floor and camera."""

    up: NDArray  # (3,) against gravity, or z without any
    centre: NDArray  # (3,) of the base
    extent: float  # farthest from there that a link comes [m]
    drop: float  # of the floor below the base [m]


def arm_room(arm: Arm) -> Room:
    """An arm whose first link does not rise above its base stands on a pedestal, others on the floor."""
    lower, upper = (np.clip(x, -np.pi, np.pi) for x in arm.position_limits)
    q = np.random.default_rng(0).uniform(lower, upper, (PROBES, arm.n))
    points = np.concatenate([link_poses(arm, q), forward_kinematics(arm, q)[:, None]], axis=1)[..., :3, 3]
    g = np.linalg.norm(arm.gravity)
    up = -arm.gravity / g if g > 0 else np.array([0.0, 0.0, 1.0])
    centre = arm.base_pose[:3, 3]
    extent = float(np.linalg.norm(points - centre, axis=-1).max()) or 1.0
    begins_low = float(((points[:, 0] - centre) @ up).max()) < SMALLEST * extent
    reaches_below = float(((points - centre) @ up).min()) < -0.1 * extent
    return Room(up, centre, extent, PEDESTAL * extent if begins_low and reaches_below else 0.0)


def pedestal(arm: Arm, room: Room) -> list[Shape]:
    """A column from the floor to the base."""
    if not room.drop:
        return []
    down = arm.base_pose[:3, :3].T @ -room.up
    r = 1.3 * THICKNESS * arm_reach(arm)
    column = Shape("cylinder", 0, pose_along(down, room.drop / 2 * down), (r, room.drop), PAINT["base"])
    foot = Shape("cylinder", 0, pose_along(down, (room.drop - 0.2 * r) * down), (2.2 * r, 0.4 * r), PAINT["base"])
    return [column, foot]


def pose_along(direction: NDArray, centre: NDArray) -> NDArray:
    """A pose (4, 4) whose z points along a direction."""
    z = np.asarray(direction, float) / np.linalg.norm(direction)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return transform(np.column_stack([x, np.cross(z, x), z]), centre)


def _base(arm: Arm, first: NDArray, r: float, reach: float) -> list[Shape]:
    """A pedestal or a foot where the base is, and a column to the first joint."""
    foot = Shape("cylinder", 0, transform(None, [0, 0, 0.15 * r]), (2.2 * r, 0.3 * r), PAINT["base"])
    up = np.array([0.0, 0.0, 1.0])
    column = [shape._replace(color=PAINT["base"]) for shape in _tube(0, np.zeros(3), first, up, 1.15 * r, reach)]
    return [*(pedestal(arm, arm_room(arm)) or [foot]), *column]


def _tube(link: int, start: NDArray, end: NDArray, axis: NDArray, r: float, reach: float) -> list[Shape]:
    """From a joint to the next: along its own axis first, then across, as most arms are built."""
    elbow = start + ((end - start) @ axis) * axis
    pieces = [(a, b) for a, b in ((start, elbow), (elbow, end)) if np.linalg.norm(b - a) > SMALLEST * reach]
    tubes = [
        Shape("cylinder", link, pose_along(b - a, (a + b) / 2), (r, float(np.linalg.norm(b - a))), PAINT["link"])
        for a, b in pieces
    ]
    balls = [Shape("sphere", link, transform(None, b), (r,), PAINT["link"]) for _, b in pieces]
    return tubes + balls


def _rail(
    link: int, lower: float, upper: float, axis: NDArray, start: NDArray, r: float, reach: float
) -> Shape:  # fmt: skip
    """The beam of a sliding joint: it moves with its link and always passes the joint."""
    far = upper if np.isfinite(upper) else RAIL * reach
    near = lower if np.isfinite(lower) else -RAIL * reach
    # Seen from the link, the joint is at -q along the axis.
    back, front = min(-far, 0.0) - r, max(-near, 0.0) + r
    centre = start + (back + front) / 2 * axis
    return Shape("box", link, pose_along(axis, centre), (1.4 * r, 1.4 * r, front - back), PAINT["rail"])
