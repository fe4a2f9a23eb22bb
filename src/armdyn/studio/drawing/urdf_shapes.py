"""The bodies that a URDF shows: boxes, cylinders, spheres and meshes of its `<visual>` elements."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ReadError
from armdyn.files import read_bytes
from armdyn.kinematics.forward import link_poses
from armdyn.model.arm import Arm
from armdyn.model.urdf.inertia import riders
from armdyn.model.urdf.tree import Chain, Tree, build_tree, choose_chain
from armdyn.model.urdf.xml import number, numbers, origin, read_robot
from armdyn.spatial.transform import inverse
from armdyn.studio.drawing.shapes import PAINT, Shape

LARGEST_MESH = 50_000_000  # bytes
MOST_FACES = 500_000  # of one mesh: more would stall a browser


class MeshShape(NamedTuple):
    """A mesh on a link (0 is the base), in the link's frame."""

    link: int
    T: NDArray  # (4, 4)
    vertices: NDArray  # (V, 3) [m]
    faces: NDArray  # (F, 3)
    color: tuple[int, int, int]


class Visuals(NamedTuple):
    """What a URDF shows, what of it could not be read, a sentence each, and the file."""

    shapes: list[Shape | MeshShape]
    notes: list[str]
    source: Path


def urdf_shapes(path: str | os.PathLike[str], arm: Arm, base: str | None = None, tip: str | None = None) -> Visuals:
    """Visual elements of the chain between two links of a URDF, in the frames of `arm`, which was read from it."""
    robot = read_robot(path)
    tree = build_tree(robot, Path(path).name)
    chain = choose_chain(tree, base, tip)
    colors = dict(_materials(robot))
    shapes: list[Shape | MeshShape] = []
    notes: list[str] = []
    for i, (name, T_arm_urdf) in enumerate(_bodies(tree, chain, arm)):
        for rider in riders(tree, name, {joint.name for joint in chain.joints if joint.moves}):
            for visual in tree.links[rider.link].findall("visual"):
                where = f"{tree.where}: link '{rider.link}'"
                try:
                    T = T_arm_urdf @ rider.T @ origin(visual, where)
                    shapes.append(_shape(visual, i, T, colors, Path(path), where))
                except ArmdynError as error:
                    notes.append(str(error))
    return Visuals(shapes, notes, Path(path))


def _bodies(tree: Tree, chain: Chain, arm: Arm) -> Iterator[tuple[str, NDArray]]:
    """The base and every moving link: its name, and the pose of its URDF frame in the arm's link frame."""
    yield chain.base, np.eye(4)
    poses = link_poses(arm, np.zeros(arm.n))
    T, i = np.eye(4), 0
    for joint in chain.joints:
        T = T @ origin(joint.element, tree.where)
        if joint.moves:
            yield joint.child, inverse(poses[i]) @ T
            i += 1


def _materials(robot: Element) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for material in robot.iter("material"):
        color = _rgb(material)
        if color and material.get("name"):
            yield str(material.get("name")), color


def _rgb(material: Element) -> tuple[int, int, int] | None:
    """The colour of a material; None where it has none that can be read."""
    color = material.find("color")
    if color is None:
        return None
    try:
        red, green, blue, _ = (round(255 * min(max(x, 0.0), 1.0)) for x in numbers(color, "rgba", 4, "material"))
    except ArmdynError:
        return None
    return red, green, blue


def _shape(
    visual: Element, link: int, T: NDArray, colors: dict[str, tuple[int, int, int]], path: Path, where: str
) -> Shape | MeshShape:
    material = visual.find("material")
    named = None if material is None else _rgb(material) or colors.get(material.get("name") or "")
    color = named or PAINT["link" if link else "base"]
    geometry = visual.find("geometry")
    body = None if geometry is None else next(iter(geometry), None)
    if body is None:
        raise ReadError(f"{where}: a <visual> without geometry")
    if body.tag == "box":
        x, y, z = numbers(body, "size", 3, where)
        return Shape("box", link, T, (x, y, z), color)
    if body.tag == "cylinder":
        return Shape("cylinder", link, T, (number(body, "radius", where), number(body, "length", where)), color)
    if body.tag == "sphere":
        return Shape("sphere", link, T, (number(body, "radius", where),), color)
    if body.tag == "mesh":
        vertices, faces = _mesh(mesh_file(body.get("filename") or "", path, where), where)
        return MeshShape(link, T, vertices * numbers(body, "scale", 3, where, "1 1 1"), faces, color)
    raise ReadError(f"{where}: unknown geometry <{body.tag:.40}>")


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
    raise ReadError(f"{where}: mesh '{name}' was not found")


def _mesh(path: Path, where: str) -> tuple[NDArray, NDArray]:
    import io

    import trimesh

    data = read_bytes(path, LARGEST_MESH)
    try:
        loaded: Any = trimesh.load_mesh(io.BytesIO(data), file_type=path.suffix.lstrip(".").lower())
        mesh = loaded.to_mesh() if hasattr(loaded, "to_mesh") else loaded
        vertices, faces = _unit(loaded) * np.asarray(mesh.vertices, float), np.asarray(mesh.faces)
    except Exception as error:  # every format has errors of its own
        raise ReadError(f"{where}: mesh '{path.name}' cannot be read ({type(error).__name__})") from None
    if not len(faces) or len(faces) > MOST_FACES or not np.isfinite(vertices).all():
        raise ReadError(f"{where}: mesh '{path.name}' has {len(faces)} faces; expected 1 to {MOST_FACES}")
    return vertices, faces


def _unit(loaded: Any) -> float:
    """Metres a unit of a mesh: Collada files say it, as trimesh's "0.01 * meters"; of all others metres are meant."""
    factor, _, unit = str(loaded.units).partition(" * ")
    return float(factor) if unit == "meters" else 1.0
