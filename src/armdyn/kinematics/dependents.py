"""Joints that follow others: their motion from the coordinates, and torques of the coordinates from theirs.

All N joints are at G q + b (`Arm.G`, `Arm.b`). G is constant, so a joint's power is that of the coordinates, and

    tau = G' tau_joints,  M = G' M_joints G,  C = G' C_joints G

hold for any formula of the free joints, the Christoffel matrix among them. Where every joint is a coordinate, nothing
here computes anything.
"""

from __future__ import annotations

from armdyn.model.arm import Arm
from armdyn.trace.symbols import Symbol, ca


def _matrix(arm: Arm) -> Symbol:
    return ca.sparsify(ca.DM(arm.G))


def joint_positions(arm: Arm, q: Symbol) -> Symbol:
    """Return the positions (N,) of all joints."""
    return q if arm.G is None else ca.mtimes(_matrix(arm), q) + arm.b


def joint_rates(arm: Arm, qd: Symbol) -> Symbol:
    """Return velocities or accelerations (N,) of all joints."""
    return qd if arm.G is None else ca.mtimes(_matrix(arm), qd)


def coordinate_torques(arm: Arm, tau: Symbol) -> Symbol:
    """Return the coordinates' rows (n, ...) of torques or regressors (N, ...) of all joints."""
    return tau if arm.G is None else ca.mtimes(_matrix(arm).T, tau)


def coordinate_columns(arm: Arm, J: Symbol) -> Symbol:
    """Return the coordinates' columns (..., n) of a Jacobian (..., N) of all joints."""
    return J if arm.G is None else ca.mtimes(J, _matrix(arm))


def coordinate_matrix(arm: Arm, M: Symbol) -> Symbol:
    """Return G' M G."""
    return coordinate_torques(arm, coordinate_columns(arm, M))
