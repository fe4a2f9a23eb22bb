"""Second derivatives of the torques, for optimisers that want them (DDP, SQP)."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.model.arm import Arm
from armdyn.model.quantities import BaseMotion, Gravity, Q, Qd, Qdd, Theta, TipWrench
from armdyn.trace.formula import Array, Symbol, ca, on_symbols, traced


def slope(X: Symbol, x: Symbol) -> list[Symbol]:
    """One matrix per row i of X: entry (j, k) is dX_ij/dx_k."""
    return [ca.jacobian(X[i, :], x) for i in range(X.shape[0])]


def mirror(H: Symbol) -> Symbol:
    """A symmetric matrix from its upper half, so that the graph never holds the other half."""
    return ca.triu(H) + ca.triu(H, False).T


class TorqueSecondDerivatives(NamedTuple):
    """What `torque_second_derivatives` returns."""

    qq: Annotated[Array, "n, n, n"]
    qqd: Annotated[Array, "n, n, n"]
    qdqd: Annotated[Array, "n, n, n"]
    qqdd: Annotated[Array, "n, n, n"]


@traced()
def torque_second_derivatives(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None, *,
    theta: Theta = None, gravity: Gravity = None,
) -> TorqueSecondDerivatives:  # fmt: skip
    """Second derivatives of the joint torques of the rigid arm.

    Those with respect to qd and qdd, and to qdd twice, are zero. A wrench is constant in tip axes.

    Returns
    -------
    qq, qqd, qdqd, qqdd
        Entry [i, j, k] is d² tau_i / dq_j dq_k, / dq_j dqd_k, / dqd_j dqd_k and / dq_j dqdd_k.
    """

    def slopes(x: Symbol) -> list[Symbol]:
        _, M, C, K = torque_derivatives(arm, x, qd, qdd, wrench, base_motion, theta=theta, gravity=gravity)
        return [*slope(M, x), *slope(C, x), *slope(K, x)]

    n, found = arm.n, on_symbols(slopes, q)
    dM, dC, dK = found[:n], found[n : 2 * n], found[2 * n :]
    blocks: list[Any] = [[mirror(H) for H in dK], [H.T for H in dC], christoffel(dM), [H.T for H in dM]]
    return TorqueSecondDerivatives(*blocks)


def christoffel(dM: list[Symbol]) -> list[Symbol]:
    """Twice the Christoffel symbols of the mass matrix: the torques' quadratic part in qd has no others."""
    joints = range(len(dM))
    return [ca.blockcat([[dM[i][j, k] + dM[i][k, j] - dM[j][k, i] for k in joints] for j in joints]) for i in joints]
