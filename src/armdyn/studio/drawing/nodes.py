"""Bodies as nodes of viser's scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armdyn.studio.drawing.shapes import Shape
from armdyn.studio.drawing.urdf_shapes import MeshShape
from armdyn.studio.tip import handle_pose

if TYPE_CHECKING:
    from viser import SceneApi

SEE_THROUGH = 0.35  # opacity of bodies that others are seen through


def add_shape(scene: SceneApi, name: str, shape: Shape | MeshShape, **look: Any) -> Any:
    """A node for a body; its pose is that in the frame of the node above it."""
    position, wxyz = handle_pose(shape.T)
    look = {"position": position, "wxyz": wxyz, **look}
    if isinstance(shape, MeshShape):
        return scene.add_mesh_simple(name, shape.vertices, shape.faces, color=shape.color, **look)
    if shape.kind == "box":
        return scene.add_box(name, shape.color, shape.size, **look)  # type: ignore[arg-type]
    if shape.kind == "sphere":
        return scene.add_icosphere(name, shape.size[0], shape.color, **look)
    radius, height = shape.size
    return scene.add_cylinder(name, radius, height, shape.color, **look)


def remove(nodes: list[Any]) -> None:
    """Take nodes away."""
    for node in nodes:
        node.remove()
    nodes.clear()


def set_visible(nodes: list[Any], visible: bool) -> None:
    """Show or hide nodes."""
    for node in nodes:
        node.visible = visible
