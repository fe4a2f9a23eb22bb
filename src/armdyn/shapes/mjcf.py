"""The geometries of an MJCF that collide, in the frames of the arm that was read from it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.model.arm import Arm
from armdyn.model.mjcf.bodies import MjcfBodies
from armdyn.model.mjcf.mount import mounting_plane, planes
from armdyn.model.mjcf.read import carriers_of, chain_between
from armdyn.model.mjcf.source import compile_mjcf
from armdyn.model.urdf.inertia import LumpedBody, held_positions
from armdyn.model.urdf.tree import Chain
from armdyn.shapes.capsules import Capsule, enclosing_capsule
from armdyn.shapes.obstacles import Box, HalfSpace
from armdyn.shapes.solids import UNIT_BOX_CORNERS, ellipsoid_hull, prism
from armdyn.shapes.urdf import Making
from armdyn.spatial.rotation import from_quaternion
from armdyn.spatial.transform import inverse, transform

PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = 0, 2, 3, 4, 5, 6, 7  # MuJoCo's kinds of geometries


class MjcfShapes(NamedTuple):
    """Shapes under way, and pairs of bodies that the file keeps from colliding."""

    makings: list[Making]
    excluded: frozenset[frozenset[str]]


def mjcf_shapes(path: Path, arm: Arm, base: str | None, tip: str | None) -> MjcfShapes:
    """Return the shapes of a chain that collide and of what rides on it; of the base, of everything that stands still
    with it.

    Geometries count that collide with anything: `contype` or `conaffinity`, or an explicit `<pair>`. Which ones MuJoCo
    would let collide with which does not matter beyond `<exclude>`: a robot knows no masks.
    """
    bodies = MjcfBodies(compile_mjcf(path, shapes=True))
    branches = "refuse" if arm.is_chain or arm.source is None else arm.source.branches
    chain, _ = chain_between(bodies, base, tip, branches)
    if not {step.name for step in chain.joints if step.moves} >= set(arm.joint_names):
        raise ReadError(f"has other joints now than arm '{arm.name}'", where=bodies.where, remedy="load it again")
    makings = [*_planes(bodies, chain, arm)]
    for link, riders in enumerate(_riders(bodies, chain, arm)):
        for rider in riders:
            makings += _of_body(bodies, rider, link, arm)
    return MjcfShapes(makings, bodies.source.excluded)


def _riders(bodies: MjcfBodies, chain: Chain, arm: Arm) -> Iterator[list[LumpedBody]]:
    """Return the bodies that ride on the base and on each link of a chain or tree."""
    moving, held = set(arm.joint_names), held_positions(arm)
    if any(step.moves for step in bodies.tree.path(bodies.tree.root, chain.base)):
        yield bodies.riders(chain.base, moving, held)
    else:
        still = bodies.riders(bodies.tree.root, moving, held)
        T = inverse(next(rider.T for rider in still if rider.link == chain.base))
        yield [rider._replace(T=T @ rider.T) for rider in still]
    for step in chain.joints:
        if step.name in moving:
            yield bodies.riders(step.child, moving, held)


def _planes(bodies: MjcfBodies, chain: Chain, arm: Arm) -> Iterator[Making]:
    """Planes besides the one that the arm is mounted on."""
    carriers = carriers_of(bodies, chain)
    if not carriers:
        return
    mount = mounting_plane(bodies.model, carriers[0], carriers)
    T = arm.base_pose
    for one in planes(bodies.model, carriers[0]):
        if mount is None or not (np.array_equal(one.normal, mount.normal) and one.offset == mount.offset):
            normal = T[:3, :3] @ one.normal
            yield Making(0, partial(HalfSpace, normal, one.offset + float(normal @ T[:3, 3]), one.name), is_link=False)


def _of_body(bodies: MjcfBodies, rider: LumpedBody, link: int, arm: Arm) -> Iterator[Making]:
    m, body = bodies.model, bodies.names.index(rider.link)
    where = f"{bodies.where}: body '{rider.link}'"
    first = int(m.body_geomadr[body])
    for g in range(first, first + int(m.body_geomnum[body])):
        if m.geom_type[g] != PLANE and (m.geom_contype[g] or m.geom_conaffinity[g]):
            T = rider.T @ transform(from_quaternion(m.geom_quat[g]), m.geom_pos[g])
            yield Making(link, partial(_shape, m, g, T, link, rider.link, where, arm), is_link=body > 0)
    for name, mesh in bodies.source.lost_shapes:
        if name == m.body(body).name:
            yield Making(link, partial(_absent, mesh, where), is_link=body > 0)


def _absent(mesh: str, where: str) -> NoReturn:
    cause = f"mesh '{mesh}' was not found, or is too large"
    raise ReadError(cause, where=where, remedy="put it where the model names it", names=(mesh,))


def _shape(m: Any, g: int, T: NDArray, link: int, name: str, where: str, arm: Arm) -> Capsule | Box:
    """The capsule around a geometry at T (4, 4) of a link; of the base, which stands still, a box as it is."""
    kind, size = int(m.geom_type[g]), np.array(m.geom_size[g])
    if kind == BOX and link == 0:
        return Box(arm.base_pose @ T, 2 * size, name)
    if kind in (SPHERE, CAPSULE):
        half = T[:3, 2] * (size[1] if kind == CAPSULE else 0.0)
        return Capsule(link, T[:3, 3] - half, T[:3, 3] + half, float(size[0]), name)
    if kind == BOX:
        points = 2 * UNIT_BOX_CORNERS * size
    elif kind == CYLINDER:
        points = prism(size[0], 2 * size[1])
    elif kind == ELLIPSOID:
        points = ellipsoid_hull(size)
    elif kind == MESH:
        mesh = int(m.geom_dataid[g])
        first = int(m.mesh_vertadr[mesh])
        points = np.array(m.mesh_vert[first : first + int(m.mesh_vertnum[mesh])], float)
    else:
        raise ReadError("a geometry of this kind is not read", where=where, expected="solids or a mesh")
    return enclosing_capsule(points @ T[:3, :3].T + T[:3, 3], link, name)
