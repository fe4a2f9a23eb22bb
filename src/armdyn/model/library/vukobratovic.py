"""The three-member manipulator of Vukobratovic and Potkonjak (1979), described by axes and vectors."""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.model.library.tables import cylinder
from armdyn.spatial.transform import transform

LENGTH, RADIUS = 1.0, 0.05


def vukobratovic3() -> Arm:
    """A turning column of 0.1 kg and two members of 2 kg each; upright where all joint angles are zero.

    The source starts at (pi, -pi/2, -pi/2): with these lengths the second member then points along base x,
    the third hangs down, and the tip is at (1, 0, 0); it is moved upward by 1 m within 1 s.

    References
    ----------
    M. Vukobratovic and V. Potkonjak, Contribution to computer construction of active chain models via
    Lagrangian form, ASME J. Applied Mechanics 46, 1979: the example.
    """
    half, along_z, along_x, y = LENGTH / 2, (0, 0, 1), (1, 0, 0), (0, 1, 0)
    upright, lying = (cylinder(m, (0, 0, 0), RADIUS, LENGTH, axis)[2] for m, axis in ((0.1, 2), (2.0, 0)))
    beam = {"kind": "R", "mass": 2.0, "inertia": lying, "e_prev": y, "e_own": y}
    column = {
        "kind": "R",
        "mass": 0.1,
        "inertia": upright,
        "e_prev": along_z,
        "e_own": along_z,
        "r_prev": (0, 0, 0),
        "r_own": (0, 0, half),
        # Both vectors lie along the axis: x shows where angle zero is.
        "a_prev": along_x,
        "a_own": along_x,
    }
    return Arm.from_vectors(
        [
            column,
            {**beam, "r_prev": (0, 0, -half), "r_own": (half, 0, 0)},
            {**beam, "r_prev": (-half, 0, 0), "r_own": (half, 0, 0)},
        ],
        name="vukobratovic3",
        tool_pose=transform(translation=(half, 0.0, 0.0)),
        notes=(
            "Source: Vukobratovic and Potkonjak (1979), J. Applied Mechanics.",
            "Given: masses 0.1, 2, 2 kg.",
            "Assumed: axes (vertical, then twice horizontal), member lengths of 1 m and solid cylinders of "
            "radius 0.05 m; the paper shows them in a figure only.",
        ),
    )
