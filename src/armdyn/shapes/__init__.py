"""Bodies, the mounting plane and obstacles, and how far they are from each other."""

from armdyn.exports import export

export(
    __name__,
    {
        "bodies": "Bodies bodies_of",
        "mount": "mounting_plane",
        "obstacles": "Box HalfSpace read_obstacles Sphere",
    },
)
