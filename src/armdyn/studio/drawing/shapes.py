"""An arm as simple bodies, drawn from its own frames: cylinders along the links, housings at the joints.

Every body rides on one link and is given in that link's frame; link 0 is the base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import Arm
from armdyn.precision import SIX_DIGITS
from armdyn.shapes.bodies import Bodies, base_foot
from armdyn.shapes.obstacles import Box, mounting_plane
from armdyn.spatial.transform import inverse, transform
from armdyn.studio.state import slider_range
from armdyn.trajectory.motion_limits import RANDOM_POSES

# Sizes relative to the arm's extent, and how much thinner the last link is than the first.
LINK_RADIUS_RATIO, TAPER_RATIO = 0.05, 0.5
HOUSING_RADIUS_RATIO, HOUSING_HEIGHT_RATIO = 1.35, 2.6  # radius and height of a joint's housing over the link's radius
# Lengths below this part of the extent are not drawn.
MIN_LENGTH_RATIO = 1e-3
PEDESTAL_HEIGHT_RATIO = 0.55  # height over the arm's extent
PAINT = {
    "link": (226, 231, 238),
    "joint": (38, 98, 168),
    "base": (70, 78, 92),
    "rail": (150, 160, 175),
    "capsule": (230, 120, 60),
    "table": (214, 190, 150),
    "obstacle": (200, 80, 70),
    "spring": (60, 150, 110),
    "load": (60, 66, 76),
    "ellipsoid": (120, 80, 190),
    "centre": (232, 130, 30),
    "described": (120, 128, 140),  # ellipsoids and centres before identification
}


class Shape(NamedTuple):
    """A body on a link: size is (radius, height) along z, (x, y, z), or (radius,)."""

    kind: str  # cylinder, box or sphere
    link: int
    T: NDArray  # (4, 4) pose in the link's frame
    size: tuple[float, ...]  # [m]
    color: tuple[int, int, int]


def arm_shapes(arm: Arm) -> list[Shape]:
    """Bodies of the whole arm, base first; what it stands on is apart, see `pedestal`."""
    room, (lower, upper) = arm_room(arm), slider_range(arm)
    extent = room.extent
    depths = link_depths(arm)
    radii = LINK_RADIUS_RATIO * extent * (1 - (1 - TAPER_RATIO) * np.array([0, *depths]) / max(depths))
    ends = link_ends(arm)
    shapes = _base(arm, radii[0], room, ends[0])
    for i, joint in enumerate(arm.joints):
        T_link_joint = inverse(joint.after)
        start, axis = T_link_joint[:3, 3], T_link_joint[:3, :3] @ joint.axis
        r = float(radii[i + 1])
        if joint.kind == "revolute":
            size = (HOUSING_RADIUS_RATIO * r, HOUSING_HEIGHT_RATIO * r)
            shapes.append(Shape("cylinder", i + 1, pose_along(axis, start), size, PAINT["joint"]))
        else:
            k = arm.coordinate_indices.index(i) if i in arm.coordinate_indices else None
            ways = (joint.limits.lower, joint.limits.upper) if k is None else (lower[k], upper[k])
            first, last = (float(np.clip(x, -extent, extent)) for x in ways)
            shapes.append(_rail(i + 1, first, last, axis, start, r))
        for end in ends[i + 1]:
            shapes += _tube(i + 1, start, end, axis, r, extent)
    return shapes


def link_depths(arm: Arm) -> list[int]:
    """Count the joints from the base to each link."""
    depths: list[int] = []
    for parent in arm.parents:
        depths.append(1 + (depths[parent] if parent >= 0 else 0))
    return depths


def link_ends(arm: Arm) -> list[list[NDArray]]:
    """Points, in the frames of base and links, that each leads to: joints that it carries, the tip, named frames.

    A link that leads nowhere ends beyond its centre of mass.
    """
    ends: list[list[NDArray]] = [[] for _ in range(arm.n_joints + 1)]
    for joint, parent in zip(arm.joints, arm.parents, strict=True):
        ends[parent + 1].append(joint.before[:3, 3])
    last = arm.link_names.index(arm.tip_link) if arm.tip_link else arm.n_joints - 1
    ends[last + 1].append(arm.tool_pose[:3, 3])
    for frame in arm.frames:
        if frame.link in arm.link_names:
            ends[arm.link_names.index(frame.link) + 1].append(frame.pose[:3, 3])
    for i, link in enumerate(arm.links):
        if not ends[i + 1] and link.mass > 0:
            ends[i + 1].append(2 * link.com)
    return ends


class Room(NamedTuple):
    """Places of floor and camera."""

    up: NDArray  # (3,) against gravity, or z without any
    centre: NDArray  # (3,) of the base, where it is mounted
    extent: float  # farthest from there that a link comes [m]
    drop: float  # of the floor below the base [m]
    mount: NDArray | None = None  # (3,) normal of the wall or the ceiling that the arm is mounted on, if not a floor

    @property
    def stands(self) -> bool:
        """Whether the arm stands on the floor."""
        return self.mount is None


def arm_room(arm: Arm) -> Room:
    """The floor is the arm's mounting plane, if that is known and a floor.

    An arm on a wall or a ceiling has the floor below all that it reaches. Where nothing is known, an arm that reaches
    below its base stands on a pedestal, unless its first link is a column already.
    """
    q = np.random.default_rng(0).uniform(*slider_range(arm), (RANDOM_POSES, arm.n))
    points = np.concatenate([link_poses(arm, q), forward_kinematics(arm, q)[:, None]], axis=1)[..., :3, 3]
    g = np.linalg.norm(arm.gravity)
    up = -arm.gravity / g if g > 0 else np.array([0.0, 0.0, 1.0])
    centre = arm.base_pose[:3, :3] @ _start(arm) + arm.base_pose[:3, 3]
    extent = float(np.linalg.norm(points - centre, axis=-1).max()) or 1.0
    heights = (points - centre) @ up
    plane = mounting_plane(arm)
    if plane is not None and plane.name == "floor":
        return Room(up, centre, extent, max(0.0, float(plane.distance(centre)[0])))
    if plane is not None and plane.name != "mounting plane":
        return Room(up, centre, extent, extent, plane.normal)
    has_column = heights[:, 0].min() > MIN_LENGTH_RATIO * extent
    reaches_below = heights.min() < -0.1 * extent
    return Room(up, centre, extent, PEDESTAL_HEIGHT_RATIO * extent if reaches_below and not has_column else 0.0)


def capsule_shapes(bodies: Bodies) -> list[Shape]:
    """The capsules, and boxes of the base, that exciting motions keep apart."""
    T = inverse(bodies.arm.base_pose)
    boxes = [one for one in bodies.fixed if isinstance(one, Box)]
    shapes = [Shape("box", 0, T @ box.T, tuple(map(float, box.size)), PAINT["capsule"]) for box in boxes]
    for link, a, b, radius, _ in bodies.capsules:
        ends = [a, b] if np.linalg.norm(b - a) > 0 else [a]
        shapes += [Shape("sphere", link, transform(None, end), (radius,), PAINT["capsule"]) for end in ends]
        if len(ends) == 2:
            length = float(np.linalg.norm(b - a))
            shapes.append(Shape("cylinder", link, pose_along(b - a, (a + b) / 2), (radius, length), PAINT["capsule"]))
    return shapes


def pedestal(arm: Arm) -> list[Shape]:
    """A column from the floor to the base; nothing for an arm that stands on the floor."""
    room = arm_room(arm)
    if not (room.drop and room.stands):
        return []
    down = arm.base_pose[:3, :3].T @ -room.up
    r = 1.3 * LINK_RADIUS_RATIO * room.extent
    column = Shape("cylinder", 0, pose_along(down, room.drop / 2 * down), (r, room.drop), PAINT["base"])
    foot = Shape("cylinder", 0, pose_along(down, (room.drop - 0.2 * r) * down), (2.2 * r, 0.4 * r), PAINT["base"])
    return [column, foot]


def pose_along(direction: NDArray, centre: NDArray) -> NDArray:
    """A pose (4, 4) whose z points along a direction."""
    z = np.asarray(direction, float) / np.linalg.norm(direction)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return transform(np.column_stack([x, np.cross(z, x), z]), centre)


def _start(arm: Arm) -> NDArray:
    """Return where the base begins, in its frame: its origin, or the mount, to which a file's world may lead a long
    way.
    """
    plane, first = mounting_plane(arm), arm.joints[0].before[:3, 3]
    if plane is None:
        return np.zeros(3)
    origin, joint = (float(plane.distance(p)[0]) for p in (arm.base_pose[:3, 3], (arm.base_pose @ [*first, 1.0])[:3]))
    between = -SIX_DIGITS <= origin <= max(joint, 0.0) + SIX_DIGITS
    return np.zeros(3) if plane.name == "floor" and between else base_foot(arm, first)


def _base(arm: Arm, r: float, room: Room, joints: list[NDArray]) -> list[Shape]:
    """A foot where the base is, unless it stands on a pedestal, and columns to the joints that it carries."""
    start = _start(arm)
    z = np.array([0.0, 0.0, 1.0]) if room.mount is None else arm.base_pose[:3, :3].T @ room.mount
    foot = Shape("cylinder", 0, pose_along(z, start + 0.15 * r * z), (2.2 * r, 0.3 * r), PAINT["base"])
    columns = (_tube(0, start, joint, z, 1.15 * r, room.extent) for joint in joints)
    painted = [shape._replace(color=PAINT["base"]) for column in columns for shape in column]
    return [*([] if room.drop and room.stands else [foot]), *painted]


def _tube(link: int, start: NDArray, end: NDArray, axis: NDArray, r: float, extent: float) -> list[Shape]:
    """Return the tube from a joint to the next: along its own axis first, then across, as most arms are built."""
    elbow = start + ((end - start) @ axis) * axis
    pieces = [(a, b) for a, b in ((start, elbow), (elbow, end)) if np.linalg.norm(b - a) > MIN_LENGTH_RATIO * extent]
    tubes = [
        Shape("cylinder", link, pose_along(b - a, (a + b) / 2), (r, float(np.linalg.norm(b - a))), PAINT["link"])
        for a, b in pieces
    ]
    balls = [Shape("sphere", link, transform(None, b), (r,), PAINT["link"]) for _, b in pieces]
    return tubes + balls


def _rail(link: int, lower: float, upper: float, axis: NDArray, start: NDArray, r: float) -> Shape:
    """The beam of a sliding joint: it moves with its link and always passes the joint."""
    # Seen from the link, the joint is at -q along the axis.
    back, front = min(-upper, 0.0) - r, max(-lower, 0.0) + r
    centre = start + (back + front) / 2 * axis
    return Shape("box", link, pose_along(axis, centre), (1.4 * r, 1.4 * r, float(front - back)), PAINT["rail"])
