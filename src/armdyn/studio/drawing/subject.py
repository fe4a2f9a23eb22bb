"""An arm to show: where it came from, and what is drawn and kept apart of it, made once for all tabs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.model.named import named_arm
from armdyn.shapes.bodies import Bodies, bodies_of
from armdyn.shapes.obstacles import Obstacle, mounting_plane
from armdyn.studio.drawing.shapes import Room, Shape, arm_room, arm_shapes
from armdyn.studio.drawing.urdf_shapes import MeshShape, Visuals, urdf_shapes
from armdyn.studio.home import home_posture
from armdyn.trajectory.excitation.clearance import Clearance


@dataclass(frozen=True, eq=False)
class DrawnArm:
    """An arm and its bodies."""

    arm: Arm
    word: str = ""  # a library name or a file, as it was chosen
    visuals: Visuals | None = None

    @cached_property
    def shapes(self) -> list[Shape | MeshShape]:
        """Visual shapes of the URDF; simple bodies for the links of which it shows nothing."""
        drawn = [] if self.visuals is None else self.visuals.shapes
        links = {shape.link for shape in drawn}
        return [*drawn, *(shape for shape in arm_shapes(self.arm) if shape.link not in links)]

    @cached_property
    def room(self) -> Room:
        """Floor and extent."""
        return arm_room(self.arm)

    @cached_property
    def bodies(self) -> Bodies:
        """The capsules that are kept apart."""
        return bodies_of(self.arm)

    @cached_property
    def between_links(self) -> Clearance:
        """The links, apart from each other."""
        return Clearance(self.bodies)

    def to_obstacles(self, obstacles: tuple[Obstacle, ...]) -> Clearance:
        """The links, clear of what stands around."""
        return Clearance(self.bodies, obstacles, apart=False)

    @cached_property
    def home(self) -> NDArray:
        """Posture (n,) in which it is shown first: nothing overlaps, where turns of single joints reach that."""
        plane = mounting_plane(self.arm)
        checks = (self.between_links, self.to_obstacles((plane,) if plane else ()))
        return home_posture(self.arm, lambda q: min(check.worst(q[None])[0] for check in checks))

    @property
    def source(self) -> Path | None:
        """The URDF it was read from."""
        return None if self.visuals is None else self.visuals.source


def open_subject(word: str, base: str | None = None, tip: str | None = None) -> DrawnArm:
    """The arm that a library name or a path stands for, with the visual elements of its file."""
    arm = named_arm(word, base, tip)
    return DrawnArm(arm, word, visuals_of(word, arm, base, tip))


def visuals_of(path: str, arm: Arm, base: str | None, tip: str | None) -> Visuals | None:
    """The visual elements of a file; None where it can have none."""
    return urdf_shapes(path, arm, base, tip) if Path(path).suffix.lower() == ".urdf" else None
