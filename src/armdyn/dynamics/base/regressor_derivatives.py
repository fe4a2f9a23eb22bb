"""Exact derivatives of regressor columns, for the design of exciting motions.

By differentiating the graph: in forward mode for all derivatives, in reverse mode for the gradient of a
number that depends on Y, which is what an optimiser asks for and far smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Qdd
from armdyn.trace.formula import Array, Symbol, Vector, ca, on_symbols, traced


class RegressorDerivatives(NamedTuple):
    """Result of `regressor_derivatives`."""

    dq: Annotated[Array, "n, 10*joints, n"]
    dqd: Annotated[Array, "n, 10*joints, n"]
    dqdd: Annotated[Array, "n, 10*joints, n"]


@traced()
def regressor_derivatives(arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, gravity: Gravity = None) -> RegressorDerivatives:
    """Derivatives of every entry of the torque regressor.

    Returns
    -------
    dq, dqd, dqdd
        `dq[..., i, k, j]` is dY_ik / dq_j.
    """

    def slopes(*state: Symbol) -> list[Symbol]:
        """One matrix per row i: how its entries k change with q, qd and qdd."""
        Y, every = regressor(arm, *state, gravity=gravity), ca.vertcat(*state)
        return [ca.jacobian(Y[i, :].T, every) for i in range(arm.n)]

    rows = on_symbols(slopes, q, qd, qdd)
    blocks: list[Any] = [[row[:, k * arm.n : (k + 1) * arm.n] for row in rows] for k in range(3)]
    return RegressorDerivatives(*blocks)


class StateGradient(NamedTuple):
    """Gradient of a number with respect to q, qd and qdd."""

    dq: Vector
    dqd: Vector
    dqdd: Vector


@traced()
def regressor_gradient(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, weights: Annotated[Any, "n, 10*joints"], *, gravity: Gravity = None
) -> StateGradient:
    """Gradient of sum(weights * Y) with respect to the state.

    With `weights` = dJ/dY it is the chain rule for a criterion J of the regressor at this sample.
    """
    return weighted_gradient(lambda *state: regressor(arm, *state, gravity=gravity), (q, qd, qdd), weights)


@traced()
def base_regressor_gradient(
    base: BaseParameters, q: Q, qd: Qd, qdd: Qdd, weights: Annotated[Any, "n, b"], *, gravity: Gravity = None
) -> StateGradient:
    """Gradient of sum(weights * Y) for the base regressor Y; see `regressor_gradient`."""
    return weighted_gradient(lambda *state: base_regressor(base, *state, gravity=gravity), (q, qd, qdd), weights)


def weighted_gradient(matrix: Callable[..., Symbol], state: tuple[Symbol, ...], weights: Symbol) -> StateGradient:
    """Gradient of sum(weights * matrix(q, qd, qdd)) with respect to q, qd and qdd, in reverse mode."""

    def slope(*symbols: Symbol) -> list[Symbol]:
        return [ca.jtimes(ca.vec(matrix(*symbols)), ca.vertcat(*symbols), ca.vec(ca.densify(weights)), True)]

    return StateGradient(*ca.vertsplit(*on_symbols(slope, *state), state[0].shape[0]))
