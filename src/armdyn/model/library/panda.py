"""The Franka Emika Panda with identified inertial parameters."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction
from armdyn.model.library.tables import library_arm

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
    friction = [_friction(*numbers) for numbers in zip(AMPLITUDE, SLOPE, SHIFT, strict=True)]
    drives = [Drive(rotor_inertia=I / GEAR**2, gear_ratio=GEAR) for I in REFLECTED]
    return library_arm("panda", friction=friction, drive=drives)


def _friction(amplitude: float, slope: float, shift: float) -> Friction:
    """Coulomb friction with the limits of `amplitude / (1 + exp(-slope (v + shift)))` minus its value at "
    "v = 0."""
    at_rest = amplitude / (1 + np.exp(-slope * shift))
    return Friction(coulomb=amplitude / 2, asymmetry=amplitude / 2 - at_rest)
