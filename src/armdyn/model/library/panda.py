"""The Franka Emika Panda with identified inertial parameters."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.joint import Friction
from armdyn.model.library.tables import library_arm, library_table, rows


def panda() -> Arm:
    """The Franka Emika Panda without hand; the tip is the flange (`panda_link8` of the maker's URDF).

    Modified DH; link frames, zero positions and limits are the maker's.

    References
    ----------
    C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano and A. De Luca, Dynamic identification of the Franka
    Emika Panda robot with retrieval of feasible parameters using penalty-based optimization, IEEE RA-L, 2019
    (inertias, friction); Franka Control Interface documentation (DH parameters, limits).
    """
    friction = [_friction(**joint) for joint in rows(**library_table("panda")["source"])]
    return library_arm("panda", friction=friction)


def _friction(amplitude: float, slope: float, shift: float) -> Friction:
    """Coulomb friction with the limits of `amplitude / (1 + exp(-slope (v + shift)))` minus its value at "
    "v = 0."""
    at_rest = amplitude / (1 + np.exp(-slope * shift))
    return Friction(coulomb=amplitude / 2, asymmetry=amplitude / 2 - at_rest)
