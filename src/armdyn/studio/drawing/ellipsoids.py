"""Links as ellipsoids of the same inertia, and their centres of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.spatial.inertia import Inertia

# A rod or a point has no thickness; its ellipsoid keeps this part of its longest axis, so that it is seen.
THINNEST_RATIO = 0.03


class Ellipsoid(NamedTuple):
    """A solid of even density with a link's mass, centre of mass and tensor, in the link's frame."""

    link: int  # counted from 1
    mass: float  # [kg]
    com: NDArray  # (3,) [m]
    R: NDArray  # (3, 3) its axes
    radii: NDArray  # (3,) [m]; zero for a point mass


def ellipsoids(arm: Arm) -> list[Ellipsoid]:
    """One for every link with known mass; massless links and impossible centres are left out."""
    inertias = [(i + 1, link.inertia) for i, link in enumerate(arm.links)]
    return [ellipsoid(i, inertia) for i, inertia in inertias if inertia.is_known and inertia.mass > 0]


def ellipsoid(link: int, inertia: Inertia) -> Ellipsoid:
    """The ellipsoid of a link: I_1 = m (b² + c²) / 5, and so on."""
    moments, R = np.linalg.eigh(inertia.tensor_com)
    # a² = 5 (I_2 + I_3 - I_1) / (2 m); an impossible tensor has a negative one, shown flat.
    squares = np.maximum(5 * (moments.sum() / 2 - moments) / inertia.mass, 0.0)
    radii = np.sqrt(squares)
    R = R * np.linalg.det(R)
    return Ellipsoid(link, inertia.mass, inertia.com, R, np.maximum(radii, THINNEST_RATIO * radii.max()))
