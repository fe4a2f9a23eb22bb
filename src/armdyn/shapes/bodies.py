"""The links of an arm as capsules: from its file's collision shapes where these can be read, else from its frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.kinematics.forward import link_poses
from armdyn.model.arm import Arm
from armdyn.model.io import root_tag
from armdyn.shapes.capsules import Capsule
from armdyn.shapes.mjcf import mjcf_shapes
from armdyn.shapes.obstacles import Box, HalfSpace
from armdyn.shapes.urdf import urdf_shapes
from armdyn.spatial.transform import inverse

# Radius of the first and the last link over the arm's reach, where no shapes are known: as of the common arms.
FIRST_RADIUS_RATIO, LAST_RADIUS_RATIO = 0.065, 0.045
FROM_FRAMES = "the arm's frames, as no collision shapes are known"
FRAMES_INSTEAD = "the arm's frames (no collision shape could be read)"
MIN_PIECE_RATIO = 1e-3  # pieces shorter than this part of the arm are points within their neighbours
MAX_STROKE_M = np.pi  # range of a sliding joint without end [m]: never that far


@dataclass(frozen=True, eq=False)
class Bodies:
    """Capsules on the links of an arm, their sources, and a sentence for each shape that could not be read."""

    arm: Arm
    capsules: tuple[Capsule, ...]
    origin: str
    notes: tuple[str, ...] = ()
    fixed: tuple[Box | HalfSpace, ...] = ()  # parts of the base, and what stands around it by the arm's file
    guessed: frozenset[int] = frozenset()  # links whose capsules are not from a file's shapes
    excluded: frozenset[frozenset[str]] = frozenset()  # pairs of names that the file keeps from colliding

    @cached_property
    def link(self) -> NDArray:
        """Links (K,) that the capsules ride on; 0 is the base."""
        return np.array([one.link for one in self.capsules], int)

    @cached_property
    def radius(self) -> NDArray:
        """Radii (K,) [m]."""
        return np.array([one.radius for one in self.capsules])

    @cached_property
    def ends(self) -> NDArray:
        """Both ends (2, K, 3) of the capsules' axes in the links' frames [m]."""
        return np.array([[one.a for one in self.capsules], [one.b for one in self.capsules]]).reshape(2, -1, 3)

    def at(self, q: NDArray) -> Posed:
        """Return the places of the capsules at configurations (N, n)."""
        base = np.broadcast_to(self.arm.base_pose, (len(q), 1, 4, 4))
        poses = np.concatenate([base, link_poses(self.arm, q)], axis=1)
        mine = poses[:, self.link]
        a, b = (np.einsum("nkij,kj->nki", mine[..., :3, :3], end) + mine[..., :3, 3] for end in self.ends)
        return Posed(poses, a, b)

    def pull(self, posed: Posed, on_a: NDArray, on_b: NDArray) -> NDArray:
        """Gradient (N, n) by q of the sum of on_a . a + on_b . b over all capsules: J' f, by sums from the tip."""
        arm, N = self.arm, len(posed.a)
        force, moment = np.zeros((2, N, arm.n_joints + 1, 3))
        turn = np.cross(posed.a, on_a) + np.cross(posed.b, on_b)
        for k, link in enumerate(self.link):
            force[:, link] += on_a[:, k] + on_b[:, k]
            moment[:, link] += turn[:, k]
        for i in reversed(range(arm.n_joints)):  # of all that a joint carries
            for x in (force, moment):
                x[:, arm.parents[i] + 1] += x[:, i + 1]
        force, moment = force[:, 1:], moment[:, 1:]
        poses = posed.poses[:, 1:]
        axis = np.einsum("nkij,kj->nki", poses[..., :3, :3], self._axes)
        place = np.einsum("nkij,kj->nki", poses[..., :3, :3], self._places) + poses[..., :3, 3]
        turned = np.where(self._turns[:, None], moment - np.cross(place, force), force)
        along = (axis * turned).sum(-1)
        return along if arm.G is None else along @ arm.G

    @cached_property
    def _turns(self) -> NDArray:
        return np.array([joint.kind == "revolute" for joint in self.arm.joints])

    @cached_property
    def _axes(self) -> NDArray:
        """Axes (n, 3) of the joints in the frames of their own links."""
        return np.array([joint.after[:3, :3].T @ joint.axis for joint in self.arm.joints])

    @cached_property
    def _places(self) -> NDArray:
        """A point (n, 3) on each axis in the frame of the joint's own link."""
        return np.array([inverse(joint.after)[:3, 3] for joint in self.arm.joints])


class Posed(NamedTuple):
    """Poses (N, n + 1, 4, 4) of base and links, and ends (N, K, 3) of the capsules' axes, in base axes."""

    poses: NDArray
    a: NDArray
    b: NDArray


def bodies_of(arm: Arm, radius: NDArray | float | None = None) -> Bodies:
    """The capsules of an arm.

    Parameters
    ----------
    arm : Arm
        If it was read from a URDF, that file's `<collision>` elements count: boxes, cylinders, spheres, and meshes
        (their convex hull); if from an MJCF, its geometries that collide.
    radius : float or ndarray, shape (n + 1,), optional
        Radius of capsules along the arm's frames, from the base [m]: no shapes are read then.
    """
    every = frozenset(range(arm.n_joints + 1))
    if radius is not None:
        return Bodies(arm, tuple(geometry(arm, radius)), "the arm's frames and the given radius", guessed=every)
    shapes = _collision_shapes(arm)
    lacking = [one for one in geometry(arm) if one.link not in shapes.whole]
    origin = FROM_FRAMES
    if shapes.capsules:
        origin = f"the {shapes.format}'s collision shapes"
        if lacking:
            origin += f" of {_names(shapes.capsules)} only; guessed along the arm's frames for {_names(lacking)}"
    elif shapes.notes:
        origin = FRAMES_INSTEAD
    if lacking and shapes.format:
        widths = [2e3 * one.radius for one in lacking]
        origin += f", {min(widths):.0f} to {max(widths):.0f} mm thick"
    capsules = sorted([*shapes.capsules, *lacking], key=lambda one: one.link)
    guessed = frozenset(one.link for one in lacking)
    return Bodies(
        arm, tuple(capsules), origin, tuple(shapes.notes), tuple(shapes.fixed), guessed, excluded=shapes.excluded
    )


def _names(capsules: Iterable[Capsule]) -> str:
    return ", ".join(dict.fromkeys(one.name for one in capsules))


class _CollisionShapes(NamedTuple):
    """Collision shapes in the file of an arm."""

    format: str  # empty where it has none that are read
    capsules: list[Capsule]
    fixed: list[Box | HalfSpace]
    notes: list[str]
    whole: set[int]  # links all of whose elements were read
    excluded: frozenset[frozenset[str]] = frozenset()


def _collision_shapes(arm: Arm) -> _CollisionShapes:
    shapes = _CollisionShapes("", [], [], [], set())
    if arm.source is None or arm.source.path.suffix.lower() not in (".urdf", ".xacro", ".xml"):
        return shapes
    path, base, tip = arm.source.path, arm.source.base, arm.source.tip
    torn: set[int] = set()
    try:
        if path.suffix.lower() == ".xml" and root_tag(path) != "robot":
            makings, excluded = mjcf_shapes(path, arm, base, tip)
            shapes = shapes._replace(format="MJCF", excluded=excluded)
        else:
            shapes = shapes._replace(format="URDF")
            makings = list(urdf_shapes(arm.source, arm))
    except ArmdynError as error:  # the file is gone, or has become another
        return shapes._replace(notes=[str(error)])
    for making in makings:
        if making.is_link:
            shapes.whole.add(making.link)
        try:
            one = making.make()
        except ArmdynError as error:
            shapes.notes.append(str(error))
            torn.add(making.link)
            continue
        if isinstance(one, Capsule):
            shapes.capsules.append(one)
        else:
            shapes.fixed.append(one)
    shapes.whole.difference_update(torn)
    return shapes


def geometry(arm: Arm, radius: NDArray | float | None = None) -> Iterator[Capsule]:
    """Capsules from joint to joint: along a joint's own axis first, then across, as most arms are built."""
    tubes = [[list(_tube(arm, i, end)) for end in ends] for i, ends in enumerate(_ends(arm))]
    depth = link_depths(arm)
    length = max(_reach(arm, tubes, i) for i in range(arm.n_joints + 1)) or 1.0
    shares = np.array(depth) / max(depth)
    radii = (FIRST_RADIUS_RATIO + (LAST_RADIUS_RATIO - FIRST_RADIUS_RATIO) * shares) * length
    if radius is not None:
        radii = np.broadcast_to(np.asarray(radius, float), (arm.n_joints + 1,))
    for i, several in enumerate(tubes):
        name = arm.base_name if i == 0 else arm.links[i - 1].name
        pieces = [piece for tube in several for piece in tube]
        long = [(a, b) for a, b in pieces if np.linalg.norm(b - a) > MIN_PIECE_RATIO * length]
        if i not in (parent + 1 for parent in arm.parents) and not long:  # a hand or flange, even if it has no length
            long = [(pieces[-1][1], pieces[-1][1])]
        yield from (Capsule(i, a, b, float(radii[i]), name) for a, b in long)


def link_depths(arm: Arm) -> list[int]:
    """Number of joints before the base and each link."""
    depth = [0]
    for parent in arm.parents:
        depth.append(depth[parent + 1] + 1)
    return depth


def _ends(arm: Arm) -> list[list[NDArray]]:
    """Places at which base and links end, in their frames: joints that they carry, the tip, or their last frames."""
    ends: list[list[NDArray]] = [[] for _ in range(arm.n_joints + 1)]
    for joint, parent in zip(arm.joints, arm.parents, strict=True):
        ends[parent + 1].append(joint.before[:3, 3])
    ends[arm.tip_index + 1].append(arm.tool_pose[:3, 3])
    for i, places in enumerate(ends):
        if not places:
            named = [frame.pose[:3, 3] for frame in arm.frames if i and frame.link == arm.link_names[i - 1]]
            places += named or [inverse(arm.joints[i - 1].after)[:3, 3]]
    return ends


def _reach(arm: Arm, tubes: list[list[list[tuple[NDArray, NDArray]]]], i: int) -> float:
    """Length of the way from the second link to the end of link i, tube by tube [m]."""
    way, total = i, 0.0
    is_flat = max(arm.parents) < 0  # all links are on the base
    while way > 0 and (is_flat or arm.parents[way - 1] >= 0):
        total += max(float(np.linalg.norm(tube[-1][1] - tube[0][0])) for tube in tubes[way])
        way = arm.parents[way - 1] + 1
    return total


def _tube(arm: Arm, i: int, end: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """The pieces of link i in its frame up to the next joint; of a sliding joint also the beam that passes it."""
    if i == 0:
        yield base_foot(arm, end), end
        return
    joint = arm.joints[i - 1]
    T = inverse(joint.after)
    start, axis = T[:3, 3], T[:3, :3] @ joint.axis
    elbow = start + ((end - start) @ axis) * axis
    if joint.kind == "prismatic":
        # Seen from the link, the joint is at -q along the axis.
        ends = np.clip([joint.limits.lower, joint.limits.upper], -MAX_STROKE_M, MAX_STROKE_M)
        lower, upper = map(float, ends)
        yield start + min(-upper, 0.0) * axis, start + max(-lower, 0.0) * axis
    yield start, elbow
    yield elbow, end


def base_foot(arm: Arm, first: NDArray) -> NDArray:
    """Return where the base stands, in its frame: straight below the first joint on the mounting plane, if that is
    known.
    """
    if arm.mounting_plane is None:
        return np.zeros(3)
    T, (x, y, z, offset) = arm.base_pose, arm.mounting_plane
    normal, top = np.array([x, y, z]), T[:3, :3] @ first + T[:3, 3]
    height = float(normal @ top) - offset
    return T[:3, :3].T @ (top - max(height, 0.0) * normal - T[:3, 3])
