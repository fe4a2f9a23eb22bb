"""The regressor that exciting motions are designed for: base parameters, viscous and smoothed Coulomb friction."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.dynamics.regressors.joint_columns import joint_parameter_names
from armdyn.dynamics.regressors.regressor_derivatives import weighted_gradient
from armdyn.kinematics.motion import Symbol
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

# Velocity below which Coulomb friction is rounded off [rad/s or m/s]: sign(qd) has no derivative.
ROUNDED = 0.1


def labels_of(base: BaseParameters) -> tuple[str, ...]:
    """Names of the regressor's parameters, such as `Izz1`, `Fv1`, `Fc1`; see `BaseParameters.labels`."""
    return (*base.labels, *joint_parameter_names(base.source.n, ("viscous", "coulomb")))


def _columns(base: BaseParameters, q: Symbol, qd: Symbol, qdd: Symbol, gravity: Symbol) -> Symbol:
    inertial = base_regressor(base, q, qd, qdd, gravity=gravity)
    return ca.horzcat(inertial, ca.diag(qd), ca.diag(ca.tanh(qd / ROUNDED)))


@traced(q="n", qd="n", qdd="n", gravity="3", returns={"Y": "n, b + 2*n"})
def excitation_regressor(base: BaseParameters, q: Any, qd: Any, qdd: Any, *, gravity: Any) -> Any:
    """Base regressor, then a column qd and a column tanh(qd / 0.1) a joint.

    Parameters
    ----------
    base : BaseParameters
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    Y : ndarray, shape (..., n, count + 2 n)
    """
    return _columns(base, q, qd, qdd, gravity)


@traced(q="n", qd="n", qdd="n", weights="n, b + 2*n", gravity="3", returns={"dq": "n", "dqd": "n", "dqdd": "n"})
def excitation_gradient(base: BaseParameters, q: Any, qd: Any, qdd: Any, weights: Any, *, gravity: Any) -> Any:
    """Gradient of sum(weights * Y) for the excitation regressor Y.

    Parameters
    ----------
    base : BaseParameters
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    weights : array_like, shape (..., n, count + 2 n)
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    dq, dqd, dqdd : ndarray, shape (..., n)
    """
    return weighted_gradient(lambda q, qd, qdd: _columns(base, q, qd, qdd, gravity), (q, qd, qdd), weights)
