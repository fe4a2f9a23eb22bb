"""The Sarcos GRLA, a seven-joint hydraulic arm, of which Kapadia (1995) identified the gravity parameters."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.library.tables import library_arm, library_table


def sarcos() -> Arm:
    """The Sarcos GRLA with identified gravity parameters and assumed masses and second moments.

    Standard DH, mounted at 45 degrees: gravity is (0, 6.93567, -6.93567) in base axes. Gravity torques are
    those identified in the thesis; everything that depends on masses or second moments alone is assumed.

    References
    ----------
    B. N. Kapadia, Dynamic estimation for serial manipulators, McGill University, 1995: Tables 6.2, 7.6 and
    appendix B.
    """
    table = library_table("sarcos")
    mass, d = np.array(table["columns"]["mass"]), table["columns"]["d"]
    first, gyration = (np.array(table["source"][key]) for key in ("gravity_parameters", "gyration"))
    # The identified m z of links 2 and 4 contain what hangs at the far end of the upper arm and the forearm.
    first[1, 2] -= d[2] * mass[2:].sum()
    first[3, 2] -= d[4] * mass[4:].sum()
    tensors = [m * k**2 * np.eye(3) for m, k in zip(mass, gyration, strict=True)]
    return library_arm("sarcos", com=first / mass[:, None], inertia=tensors)
