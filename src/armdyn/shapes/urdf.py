"""The `<visual>` or `<collision>` elements of a URDF's chain, in the frames of the arm that was read from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ReadError
from armdyn.files import read_bytes
from armdyn.kinematics.forward import link_poses
from armdyn.model.arm import Arm, Source
from armdyn.model.urdf.inertia import held_positions, riders
from armdyn.model.urdf.tree import Chain, Tree, build_tree, choose_chain
from armdyn.model.urdf.xml import number, numbers, origin, parse_robot, read_robot
from armdyn.shapes.capsules import Capsule, enclosing_capsule
from armdyn.shapes.obstacles import Box, HalfSpace
from armdyn.shapes.solids import UNIT_BOX_CORNERS, prism
from armdyn.spatial.transform import inverse

MAX_FACES = 500_000  # of one mesh: more would stall a browser


class Making(NamedTuple):
    """A shape under way: the link of the arm that it rides on (0 is the base), and what makes it or raises."""

    link: int
    make: Callable[[], Capsule | Box | HalfSpace]
    is_link: bool = True  # a part of the link, not of what stands beside the arm


class ShapePiece(NamedTuple):
    """One element on a link of the arm (0 is the base); `where` names it in errors."""

    link: int
    T: NDArray  # (4, 4) in the link's frame; scale of a mesh not included
    body: Element  # box, cylinder, sphere or mesh
    element: Element
    name: str  # of the URDF's link
    where: str


class Unreadable(NamedTuple):
    """An element on a link of the arm that says nothing, and why."""

    link: int
    reason: str

    def fail(self) -> NoReturn:
        """Say it."""
        raise ReadError(self.reason)


def pieces(
    path: str | os.PathLike[str], arm: Arm, base: str | None, tip: str | None, tag: str, text: bytes | None = None
) -> Iterator[ShapePiece | Unreadable]:
    """All elements `tag` of a chain and what rides on it; `text` stands for the contents of a file that is a xacro."""
    robot = read_robot(path) if text is None else parse_robot(text, Path(path).name)
    tree = build_tree(robot, Path(path).name)
    branches = "refuse" if arm.is_chain or arm.source is None else arm.source.branches
    chain = choose_chain(tree, base, tip, branches)
    moving = {joint.name for joint in chain.joints if joint.moves} if arm.is_chain else set(arm.joint_names)
    for i, (name, T_arm_urdf) in enumerate(_frames(tree, chain, arm)):
        for rider in riders(tree, name, moving, held_positions(arm)):
            where = f"{tree.where}: link '{rider.link}'"
            for element in tree.links[rider.link].findall(tag):
                try:
                    T = T_arm_urdf @ rider.T @ origin(element, where)
                    yield ShapePiece(i, T, _body(element, tag, where), element, rider.link, where)
                except ArmdynError as error:
                    yield Unreadable(i, str(error))


def _frames(tree: Tree, chain: Chain, arm: Arm) -> Iterator[tuple[str, NDArray]]:
    """The base and every moving link: its name, and the pose of its URDF frame in the arm's link frame."""
    yield chain.base, np.eye(4)
    if not arm.is_chain:
        children = {joint.name: joint.child for joint in chain.joints}
        yield from ((children[joint.name], inverse(joint.after)) for joint in arm.joints)
        return
    poses = link_poses(arm, np.zeros(arm.n))
    T, i = np.eye(4), 0
    for joint in chain.joints:
        T = T @ origin(joint.element, tree.where)
        if joint.moves:
            yield joint.child, inverse(poses[i]) @ T
            i += 1


def _body(element: Element, tag: str, where: str) -> Element:
    geometry = element.find("geometry")
    body = None if geometry is None else next(iter(geometry), None)
    if body is None:
        raise ReadError(f"a <{tag}> without <geometry>", where=where, remedy="remove it, or give it one")
    if body.tag not in ("box", "cylinder", "sphere", "mesh"):
        raise ReadError(f"unknown geometry <{body.tag:.40}>", where=where, expected="box, cylinder, sphere or mesh")
    return body


def urdf_shapes(source: Source, arm: Arm) -> Iterator[Making]:
    """Return the shapes of the `<collision>` elements of a chain and of what rides on it; boxes of the base as they
    are.
    """
    for piece in pieces(source.path, arm, source.base, source.tip, "collision", source.expanded):
        if isinstance(piece, Unreadable):
            yield Making(piece.link, piece.fail)
        elif piece.link == 0 and piece.body.tag == "box":
            yield Making(piece.link, partial(fixed_box, piece, arm))
        else:
            yield Making(piece.link, partial(capsule, piece, source))


def capsule(piece: ShapePiece, source: Source) -> Capsule:
    """The capsule that holds a piece: of a mesh, its convex hull."""
    body, where = piece.body, piece.where
    if body.tag == "sphere":
        center = piece.T[:3, 3]
        return Capsule(piece.link, center, center, _positive(body, "radius", where), piece.name)
    if body.tag == "box":
        points = UNIT_BOX_CORNERS * _edges(piece)
    elif body.tag == "cylinder":
        points = prism(_positive(body, "radius", where), _positive(body, "length", where))
    else:
        vertices, _ = read_mesh(mesh_file(body.get("filename") or "", source.path, where), where)
        points = vertices * numbers(body, "scale", 3, where, "1 1 1")
    return enclosing_capsule(points @ piece.T[:3, :3].T + piece.T[:3, 3], piece.link, piece.name)


def fixed_box(piece: ShapePiece, arm: Arm) -> Box:
    """A box of the base, which does not move, in base axes."""
    return Box(arm.base_pose @ piece.T, _edges(piece), piece.name)


def _edges(piece: ShapePiece) -> NDArray:
    size = np.array(numbers(piece.body, "size", 3, piece.where))
    if not (size > 0).all():
        raise ReadError(where=piece.where, expected="a box of size > 0", got=size)
    return size


def _positive(body: Element, key: str, where: str) -> float:
    value = number(body, key, where)
    if value <= 0:
        raise ReadError(where=where, expected=f"{key} > 0", got=f"{value:g}")
    return value


def mesh_file(name: str, urdf: Path, where: str) -> Path:
    """The file that a mesh's name means: beside the URDF, or `package://` below any folder above it."""
    if name.startswith("package://"):
        inside = Path(unquote(name.removeprefix("package://")))
        # A package is a folder of its name; where the URDF itself is inside, the name may not occur on disk.
        tries = [folder / part for folder in urdf.resolve().parents for part in (inside, Path(*inside.parts[1:]))]
    else:
        tries = [urdf.resolve().parent / unquote(name.removeprefix("file://"))]
    for path in tries:
        if path.is_file():
            return path
    raise ReadError(f"mesh '{name}' was not found", where=where, remedy="put it beside the URDF", names=(name,))


def read_mesh(path: Path, where: str) -> tuple[NDArray, NDArray]:
    """Vertices (V, 3) [m] and faces (F, 3) of a mesh file."""
    import io

    data = read_bytes(path)
    try:
        import trimesh
    except ImportError:
        cause = f"mesh '{path.name}' was not read: trimesh is not installed (extra 'studio')"
        raise ReadError(cause, where=where, names=(path.name,)) from None
    try:
        loaded: Any = trimesh.load_mesh(io.BytesIO(data), file_type=path.suffix.lstrip(".").lower())
        mesh = loaded.to_mesh() if hasattr(loaded, "to_mesh") else loaded
        vertices, faces = _unit(loaded) * np.asarray(mesh.vertices, float), np.asarray(mesh.faces)
    except Exception as error:  # every format has errors of its own
        cause = f"mesh '{path.name}' cannot be read ({type(error).__name__})"
        raise ReadError(cause, where=where, names=(path.name,)) from None
    if not len(faces) or len(faces) > MAX_FACES or not np.isfinite(vertices).all():
        cause = f"mesh '{path.name}' has {len(faces)} faces"
        raise ReadError(cause, where=where, expected=f"1 to {MAX_FACES}", names=(path.name,))
    return vertices, faces


def _unit(loaded: Any) -> float:
    """Metres a unit of a mesh: Collada files say it, as trimesh's "0.01 * meters"; of all others metres are meant."""
    factor, _, unit = str(loaded.units).partition(" * ")
    return float(factor) if unit == "meters" else 1.0
