"""Exact derivatives of regressor columns, for the design of exciting motions.

By differentiating the graph: in forward mode for all derivatives, in reverse mode for the gradient of a
number that depends on Y, which is what an optimiser asks for and far smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

_SHAPE = "n, 10*n, n"


@traced(q="n", qd="n", qdd="n", gravity="3", returns={"dq": _SHAPE, "dqd": _SHAPE, "dqdd": _SHAPE})
def regressor_derivatives(arm: Arm, q: Any, qd: Any, qdd: Any, *, gravity: Any) -> Any:
    """Derivatives of every entry of the torque regressor.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    dq, dqd, dqdd : ndarray, shape (..., n, 10 n, n)
        `dq[..., i, k, j]` is dY_ik / dq_j.
    """
    state = _symbols(arm.n)
    Y = regressor(arm, *state, gravity=gravity)
    every = ca.vertcat(*state)
    # One matrix a row i: how its entries k change with q, qd and qdd.
    rows = [ca.substitute(ca.jacobian(Y[i, :].T, every), every, ca.vertcat(q, qd, qdd)) for i in range(arm.n)]
    return tuple([row[:, k * arm.n : (k + 1) * arm.n] for row in rows] for k in range(3))


@traced(q="n", qd="n", qdd="n", weights="n, 10*n", gravity="3", returns={"dq": "n", "dqd": "n", "dqdd": "n"})
def regressor_gradient(arm: Arm, q: Any, qd: Any, qdd: Any, weights: Any, *, gravity: Any) -> Any:
    """Gradient of sum(weights * Y) with respect to the state.

    With `weights` = dJ/dY it is the chain rule for a criterion J of the regressor at this sample.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    weights : array_like, shape (..., n, 10 n)
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    dq, dqd, dqdd : ndarray, shape (..., n)
    """
    return weighted_gradient(lambda *state: regressor(arm, *state, gravity=gravity), (q, qd, qdd), weights)


@traced(q="n", qd="n", qdd="n", weights="n, b", gravity="3", returns={"dq": "n", "dqd": "n", "dqdd": "n"})
def base_regressor_gradient(base: BaseParameters, q: Any, qd: Any, qdd: Any, weights: Any, *, gravity: Any) -> Any:
    """Gradient of sum(weights * Y) for the base regressor Y; see `regressor_gradient`.

    Parameters
    ----------
    base : BaseParameters
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    weights : array_like, shape (..., n, count)
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    dq, dqd, dqdd : ndarray, shape (..., n)
    """
    return weighted_gradient(lambda *state: base_regressor(base, *state, gravity=gravity), (q, qd, qdd), weights)


def _symbols(n: int) -> list[Symbol]:
    """Symbols of their own to differentiate by: the caller's may be expressions."""
    return [ca.SX.sym(name, n) for name in ("q", "qd", "qdd")]


def weighted_gradient(matrix: Callable[..., Symbol], state: tuple[Symbol, ...], weights: Symbol) -> tuple[Symbol, ...]:
    """Gradient of sum(weights * matrix(q, qd, qdd)) with respect to q, qd and qdd, in reverse mode."""
    own = _symbols(state[0].shape[0])
    every = ca.vertcat(*own)
    slope = ca.jtimes(ca.vec(matrix(*own)), every, ca.vec(ca.densify(weights)), True)
    return tuple(ca.vertsplit(ca.substitute(slope, every, ca.vertcat(*state)), state[0].shape[0]))
