"""The Sarcos GRLA, a seven-joint hydraulic arm, of which Kapadia (1995) identified the gravity parameters."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.library.tables import rows

UPPER_ARM, FOREARM = 0.8788, 0.762  # Table 6.2 [m]

# Identified gravity parameters m x, m y, m z [kg m]: appendix B of the thesis, which has one digit more than
# its Table 7.6 (and -2.5405 where the table prints -2.547).
GRAVITY_PARAMETERS = np.array(
    [
        (3.7467, 0.0, 3.7196),
        (5.3212, 0.0, 78.0962),
        (-2.5405, 0.0, 3.9049),
        (0.4624, 0.0, 23.1605),
        (0.2526, 0.0, 0.6161),
        (-0.1174, 0.0, -0.0052),
        (-1.7239, -0.3668, 0.0),
    ]
)

ASSUMED_MASSES = np.array([40.0, 40.0, 25.0, 20.0, 10.0, 6.0, 8.0])
ASSUMED_GYRATION = np.array([0.18, 0.25, 0.18, 0.22, 0.10, 0.08, 0.08])  # radii of gyration [m]


def sarcos() -> Arm:
    """The Sarcos GRLA with identified gravity parameters and assumed masses and second moments.

    Standard DH, mounted at 45 degrees: gravity is (0, 6.93567, -6.93567) in base axes. Gravity torques are
    those identified in the thesis; everything that depends on masses or second moments alone is assumed.

    References
    ----------
    B. N. Kapadia, Dynamic estimation for serial manipulators, McGill University, 1995: Tables 6.2, 7.6 and
    appendix B.
    """
    masses, first = ASSUMED_MASSES, GRAVITY_PARAMETERS.copy()
    # The identified m z of links 2 and 4 contain what hangs at the far end of the upper arm and the forearm.
    first[1, 2] -= UPPER_ARM * masses[2:].sum()
    first[3, 2] -= FOREARM * masses[4:].sum()
    table = rows(
        kind="RRRRRRR",
        alpha=np.array([1, 1, -1, 1, -1, 1, 2]) * np.pi / 2,
        d=(0.0, 0.0, UPPER_ARM, 0.0, FOREARM, 0.0, 0.0),
        mass=masses,
        com=first / masses[:, None],
        inertia=[m * k**2 * np.eye(3) for m, k in zip(masses, ASSUMED_GYRATION, strict=True)],
    )
    return Arm.from_dh(
        table,
        name="sarcos",
        gravity=(0.0, 6.93567, -6.93567),
        notes=(
            "Source: Kapadia (1995), McGill University, Table 6.2 and appendix B.",
            "Assumed: masses 40, 40, 25, 20, 10, 6, 8 kg and radii of gyration 0.08 to 0.25 m; the thesis "
            "identified only gravity parameters, and these bodies have exactly them.",
            "No limits, friction or drive data are given in the source.",
        ),
    )
