"""Bodies, the mounting plane and obstacles, and how far they are from each other."""

from armdyn.exports import export

export(
    __name__,
    {
        "bodies": "Bodies bodies_of",
        "obstacles": "Box HalfSpace mounting_plane read_obstacles Sphere",
    },
)
