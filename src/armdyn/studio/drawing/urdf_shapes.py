"""The bodies that a URDF shows: boxes, cylinders, spheres and meshes of its `<visual>` elements."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.model.urdf.xml import number, numbers, read_robot
from armdyn.shapes.urdf import ShapePiece, mesh_file, pieces, read_mesh
from armdyn.studio.drawing.shapes import PAINT, Shape


class MeshShape(NamedTuple):
    """A mesh on a link (0 is the base), in the link's frame."""

    link: int
    T: NDArray  # (4, 4)
    vertices: NDArray  # (V, 3) [m]
    faces: NDArray  # (F, 3)
    color: tuple[int, int, int]


class Visuals(NamedTuple):
    """Visual shapes of a URDF, what of it could not be read, a sentence each, and the file."""

    shapes: list[Shape | MeshShape]
    notes: list[str]
    source: Path


def urdf_shapes(path: str | os.PathLike[str], arm: Arm, base: str | None = None, tip: str | None = None) -> Visuals:
    """Visual elements of the chain between two links of a URDF, in the frames of `arm`, which was read from it."""
    colors = dict(_materials(read_robot(path)))
    shapes: list[Shape | MeshShape] = []
    notes: list[str] = []
    for piece in pieces(path, arm, base, tip, "visual"):
        if not isinstance(piece, ShapePiece):
            notes.append(piece.reason)
            continue
        try:
            shapes.append(_shape(piece, colors, Path(path)))
        except ArmdynError as error:
            notes.append(str(error))
    return Visuals(shapes, notes, Path(path))


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


def _shape(piece: ShapePiece, colors: dict[str, tuple[int, int, int]], path: Path) -> Shape | MeshShape:
    material = piece.element.find("material")
    named = None if material is None else _rgb(material) or colors.get(material.get("name") or "")
    link, T, body, where = piece.link, piece.T, piece.body, piece.where
    color = named or PAINT["link" if link else "base"]
    if body.tag == "box":
        x, y, z = numbers(body, "size", 3, where)
        return Shape("box", link, T, (x, y, z), color)
    if body.tag == "cylinder":
        return Shape("cylinder", link, T, (number(body, "radius", where), number(body, "length", where)), color)
    if body.tag == "sphere":
        return Shape("sphere", link, T, (number(body, "radius", where),), color)
    vertices, faces = read_mesh(mesh_file(body.get("filename") or "", path, where), where)
    return MeshShape(link, T, vertices * numbers(body, "scale", 3, where, "1 1 1"), faces, color)
