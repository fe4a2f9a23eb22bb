"""The Franka Emika Panda with identified inertial parameters."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction, Limits
from armdyn.model.library.tables import bodies, rows
from armdyn.spatial.transform import transform

# Gaz et al. (2019), in the link frames: mass, centre, and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about it.
BODIES = (
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)

# Gaz et al. model friction as a sigmoid that spans `amplitude` [N m] about a shifted zero.
AMPLITUDE = (0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489)
SLOPE = (5.1181, 9.0657, 10.136, 5.5903, 8.3469, 17.133, 10.336)
SHIFT = (0.039533, 0.025882, -0.04607, 0.036194, 0.026226, -0.021047, 0.0035526)

# Reflected rotor inertia that the maker gives for the FR3, the Panda's successor [kg m²].
REFLECTED = (0.605721456, 0.605721456, 0.462474144, 0.462474144, 0.205544064, 0.205544064, 0.205544064)
GEAR = 100.0


def panda() -> Arm:
    """The Franka Emika Panda without hand; the tip is the flange (`panda_link8` of the maker's URDF).

    Modified DH; link frames, zero positions and limits are the maker's.

    References
    ----------
    C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano and A. De Luca, Dynamic identification of the Franka
    Emika Panda robot with retrieval of feasible parameters using penalty-based optimization, IEEE RA-L, 2019
    (inertias, friction); Franka Control Interface documentation (DH parameters, limits).
    """
    lower = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
    upper = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
    velocity, effort = 4 * (2.175,) + 3 * (2.61,), 4 * (87.0,) + 3 * (12.0,)
    table = rows(
        name=[f"panda_joint{i}" for i in range(1, 8)],
        link=[f"panda_link{i}" for i in range(1, 8)],
        kind="RRRRRRR",
        a=(0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088),
        alpha=np.array([0, -1, 1, 1, -1, 1, 1]) * np.pi / 2,
        d=(0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0),
        **bodies(*BODIES),
        limits=[Limits(*numbers) for numbers in zip(lower, upper, velocity, effort, strict=True)],
        friction=[_friction(*numbers) for numbers in zip(AMPLITUDE, SLOPE, SHIFT, strict=True)],
        drive=[Drive(rotor_inertia=I / GEAR**2, gear_ratio=GEAR) for I in REFLECTED],
    )
    return Arm.from_dh(
        table,
        convention="modified",
        name="panda",
        tool_pose=transform(translation=(0.0, 0.0, 0.107)),
        notes=(
            "Source: Gaz et al. (2019), IEEE RA-L; the maker's DH parameters and limits.",
            "Friction is Coulomb's with the range and offset of the source's sigmoid, without its smooth passage.",
            "Assumed: rotor inertia is the maker's figure for the FR3 (the Panda's is not published) "
            "behind a ratio of 100; the identified inertias come from torque sensors on the link side, and "
            "do not contain it.",
        ),
    ).with_floor(0.0)


def _friction(amplitude: float, slope: float, shift: float) -> Friction:
    """Coulomb friction with the limits of `amplitude / (1 + exp(-slope (v + shift)))` minus its value at "
    "v = 0."""
    at_rest = amplitude / (1 + np.exp(-slope * shift))
    return Friction(coulomb=amplitude / 2, asymmetry=amplitude / 2 - at_rest)
