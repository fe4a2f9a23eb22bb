"""The regressor that exciting motions are designed for: base parameters, viscous and smoothed Coulomb friction."""

from __future__ import annotations

from typing import Annotated, Any

from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.dynamics.base.regressor_derivatives import StateGradient, weighted_gradient
from armdyn.dynamics.regressors.joint_columns import joint_parameter_names
from armdyn.dynamics.shafts import at_shafts, joint_torques
from armdyn.model.quantities import Gravity, Q, Qd, Qdd
from armdyn.trace.formula import Array, Symbol, ca, traced

# Velocity below which Coulomb friction is rounded off [rad/s or m/s]: sign(qd) has no derivative.
ROUNDED_SPEED = 0.1


def labels_of(base: BaseParameters) -> tuple[str, ...]:
    """Names of the regressor's parameters, such as `Izz1`, `Fv1`, `Fc1`; see `BaseParameters.labels`."""
    return (*base.labels, *joint_parameter_names(base.source.n, ("viscous", "coulomb")))


def _columns(base: BaseParameters, q: Symbol, qd: Symbol, qdd: Symbol, gravity: Symbol) -> Symbol:
    inertial = base_regressor(base, q, qd, qdd, gravity=gravity)
    arm, speed = base.source, at_shafts(base.source, qd)
    rubbing = (joint_torques(arm, ca.diag(column)) for column in (speed, ca.tanh(speed / ROUNDED_SPEED)))
    return ca.horzcat(inertial, *rubbing)


@traced(returns={"Y": "n, b + 2*n"})
def excitation_regressor(base: BaseParameters, q: Q, qd: Qd, qdd: Qdd, *, gravity: Gravity = None) -> Array:
    """Base regressor, then a column qd and a column tanh(qd / 0.1) per joint, at the speed of its drive's shaft.

    Returns
    -------
    Y : ndarray, shape (..., n, count + 2 n)
    """
    return _columns(base, q, qd, qdd, gravity)


@traced()
def excitation_gradient(
    base: BaseParameters, q: Q, qd: Qd, qdd: Qdd, weights: Annotated[Any, "n, b + 2*n"], *, gravity: Gravity = None
) -> StateGradient:
    """Gradient of sum(weights * Y) for the excitation regressor Y."""
    return weighted_gradient(lambda q, qd, qdd: _columns(base, q, qd, qdd, gravity), (q, qd, qdd), weights)
