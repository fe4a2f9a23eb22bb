# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.shapes.bodies import Bodies as Bodies
from armdyn.shapes.bodies import bodies_of as bodies_of
from armdyn.shapes.obstacles import Box as Box
from armdyn.shapes.obstacles import HalfSpace as HalfSpace
from armdyn.shapes.obstacles import Sphere as Sphere
from armdyn.shapes.obstacles import mounting_plane as mounting_plane
from armdyn.shapes.obstacles import read_obstacles as read_obstacles

__all__ = [
    "Bodies",
    "Box",
    "HalfSpace",
    "Sphere",
    "bodies_of",
    "mounting_plane",
    "read_obstacles",
]
