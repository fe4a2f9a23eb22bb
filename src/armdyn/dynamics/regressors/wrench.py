"""Torques of a wrench on the tip, as columns beside those of inertial parameters."""

from __future__ import annotations

from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.trace.formula import Array, traced


@traced(returns={"W": "n, 6"})
def wrench_columns(arm: Arm, q: Q) -> Array:
    """Columns of a wrench on the tip: `inverse_dynamics(..., wrench=w) = regressor(...) @ theta + W @ w`.

    The non-zero boundary conditions of Lu and Meng's inward iteration: where the load touches something, a measured
    wrench is a known torque W @ w, an unknown constant one has six parameters more.

    Returns
    -------
    W
        -J' in tip axes.

    References
    ----------
    Lu and Meng (1993), section IV-B.
    """
    return -jacobian(arm, q, axes="tip").T
