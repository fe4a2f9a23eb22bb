"""The data of formulas: shapes for `@traced`, and the words that its documentation uses for them.

A formula annotates its parameters with these names; `n` is the number of coordinates, `joints` that of joints (the same
unless some follow others), leading axes are batches.
"""

from __future__ import annotations

from typing import Annotated, Any

from armdyn.model.joint import FRICTION_NAMES
from armdyn.trace.shapes import DataShape

Number = Annotated[Any, ""]
Vec = Annotated[Any, "n"]
Mat = Annotated[Any, "n, n"]

# Motion and torques of the joints.
Q = Annotated[Any, DataShape("n", "Joint positions [rad or m].")]
Qd = Annotated[Any, DataShape("n", "Joint velocities [rad/s or m/s].")]
Qdd = Annotated[Any, DataShape("n", "Joint accelerations [rad/s² or m/s²].")]
Tau = Annotated[Any, DataShape("n", "Joint torques [N m or N].")]
V = Annotated[Any, DataShape("n", "Reference velocities [rad/s or m/s].")]
A = Annotated[Any, DataShape("n", "Reference accelerations [rad/s² or m/s²].")]
Temperatures = Annotated[
    Any, DataShape("joints", "Temperature of the joints above the one at which their friction holds [K].")
]

# At the tip and at the base.
Pose = Annotated[Any, DataShape("4, 4", "Pose of the tip in base axes, as a homogeneous matrix.")]
Point = Annotated[Any, "3"]
TipWrench = Annotated[Any, DataShape("6", "[force, moment] exerted ON the arm at the tip, in tip axes [N, N m].")]
BaseMotion = Annotated[
    Any,
    DataShape(
        "3, 3",
        "Angular velocity, angular acceleration and acceleration of the base, each (..., 3), in base axes; gravity is "
        "not included.",
    ),
]

# Parameters, taken from the arm unless given.
Theta = Annotated[Any, DataShape("10*joints", "Inertial parameters instead of the arm's.")]
Gravity = Annotated[Any, DataShape("3", "Gravity vector instead of the arm's [m/s²].")]
FRICTION_NUMBERS = f"joints, {len(FRICTION_NAMES)} + 3*h + 2*l"  # h rows of harmonics, l levels
FrictionData = Annotated[
    Any,
    DataShape(
        FRICTION_NUMBERS,
        "Instead of the arm's: in the order of `Friction`, then h rows of harmonics and l of levels.",
    ),
]
DriveData = Annotated[
    Any,
    DataShape(
        "joints, 4",
        "Instead of the arm's: reflected rotor inertia and damping, spring stiffness and rest position. Balancers are "
        "the arm's own.",
    ),
]
Geometry = Annotated[
    Any,
    DataShape(
        "n, 6", "Errors x, y, z, rx, ry, rz of the joints' frames, axes turned to z [m, rad]; the arm's own are zero."
    ),
]
DeflectionData = Annotated[
    Any,
    DataShape("n, 4*n", "Instead of the arm's: compliance of each joint times mass and first moments of every link."),
]
