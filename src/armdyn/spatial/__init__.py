"""Rotations, rigid transforms and rigid-body inertia: numbers that describe arms."""

from armdyn.exports import export

export(
    __name__,
    {
        "inertia": "Inertia",
    },
)
