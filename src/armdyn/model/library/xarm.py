"""The UFACTORY xArm7."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Friction, Limits
from armdyn.model.library.tables import rows
from armdyn.spatial.rotation import from_quaternion

# In the link frames: mass, centre, principal moments about it and the quaternion (w, x, y, z) of their axes.
BODIES = (
    (2.382, (-0.0002, 0.02905, -0.01233), (0.00569127, 0.00533384, 0.00293865),
     (0.978953, -0.202769, -0.00441617, -0.0227264)),
    (1.869, (0.00022, -0.12856, 0.01735), (0.00959898, 0.00937717, 0.00201315),
     (0.50198, 0.86483, -0.00778841, 0.00483285)),
    (1.6383, (0.0466, -0.02463, -0.00768), (0.00351721, 0.00294089, 0.00195868),
     (0.913819, 0.289775, 0.281481, -0.0416455)),
    (1.7269, (0.07047, -0.11575, 0.012), (0.00657137, 0.00647948, 0.00186763),
     (0.422108, 0.852026, -0.126025, 0.282832)),
    (1.3203, (-0.00032, 0.01604, -0.026), (0.00534729, 0.00499076, 0.0013489),
     (0.999311, -0.0304457, 0.000577067, 0.0212082)),
    (1.325, (0.06469, 0.03278, 0.02141), (0.00245421, 0.00221646, 0.00107273),
     (-0.217672, 0.772419, 0.16258, 0.574069)),
    (0.17, (0.0, -0.00677, -0.01098), (0.000132176, 9.3e-05, 5.85236e-05),
     (0.487612, 0.512088, -0.512088, 0.487612)),
)  # fmt: skip
TURN = 6.28319
LOWER = (-TURN, -2.059, -TURN, -0.19198, -TURN, -1.69297, -TURN)
UPPER = (TURN, 2.0944, TURN, 3.927, TURN, 3.14159, TURN)
EFFORT = (50.0, 50.0, 30.0, 30.0, 30.0, 20.0, 20.0)
VELOCITY = 3.14  # rad/s
VISCOUS = (10.0, 10.0, 5.0, 5.0, 5.0, 2.0, 2.0)
COULOMB = 1.0


def xarm7() -> Arm:
    """The UFACTORY xArm7 without hand; the tip is its flange. Modified DH; link frames are the maker's.

    References
    ----------
    MuJoCo Menagerie, ufactory_xarm7 (xarm7_nohand.xml; UFACTORY Inc., BSD-3-Clause): geometry, masses, inertias,
    ranges, torque limits and friction; speeds as in the maker's URDF (xarm7base.urdf of lbr-stack, MIT).
    """
    masses, centres, principal, axes = zip(*BODIES, strict=True)
    turned = [from_quaternion(quaternion) for quaternion in axes]
    table = rows(
        name=[f"joint{i}" for i in range(1, 8)],
        link=[f"link{i}" for i in range(1, 8)],
        kind="RRRRRRR",
        a=(0.0, 0.0, 0.0, 0.0525, 0.0775, 0.0, 0.076),
        alpha=np.array([0, -1, 1, 1, 1, 1, -1]) * np.pi / 2,
        d=(0.267, 0.0, 0.293, 0.0, 0.3425, 0.0, 0.097),
        mass=masses,
        com=centres,
        inertia=[R @ np.diag(moments) @ R.T for R, moments in zip(turned, principal, strict=True)],
        limits=[Limits(low, high, VELOCITY, most) for low, high, most in zip(LOWER, UPPER, EFFORT, strict=True)],
        friction=[Friction(viscous=v, coulomb=COULOMB) for v in VISCOUS],
    )
    return Arm.from_dh(
        table,
        convention="modified",
        name="xarm7",
        notes=(
            "Source: MuJoCo Menagerie, ufactory_xarm7 (UFACTORY Inc., BSD-3-Clause); speeds: the maker's URDF.",
            "Assumed: friction is that of the description, whose round numbers nobody seems to have measured.",
            "No rotor inertia or gear ratio is published (the description's armature of 0.1 kg m² in every joint is "
            "left out).",
        ),
    ).with_floor(0.0)
