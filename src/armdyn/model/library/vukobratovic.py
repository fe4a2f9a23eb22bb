"""The three-member manipulator of Vukobratovic and Potkonjak (1979), described by axes and vectors."""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.model.library.tables import cylinder, library_table
from armdyn.spatial.transform import transform


def vukobratovic3() -> Arm:
    """A turning column of 0.1 kg and two members of 2 kg each; upright where all joint angles are zero.

    The source starts at (pi, -pi/2, -pi/2): with these lengths the second member then points along base x,
    the third hangs down, and the tip is at (1, 0, 0); it is moved upward by 1 m within 1 s.

    References
    ----------
    M. Vukobratovic and V. Potkonjak, Contribution to computer construction of active chain models via
    Lagrangian form, ASME J. Applied Mechanics 46, 1979: the example.
    """
    table = library_table("vukobratovic3")
    solids = [cylinder(*row) for row in table.pop("cylinders")]
    members = [
        {**member, "mass": mass, "inertia": moments}
        for member, (mass, _, moments) in zip(table.pop("member"), solids, strict=True)
    ]
    return Arm.from_vectors(members, name="vukobratovic3", tool_pose=transform(translation=table.pop("tip")), **table)
