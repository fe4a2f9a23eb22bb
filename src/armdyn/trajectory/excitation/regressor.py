"""The regressor that exciting motions are designed for: base parameters, viscous and smoothed Coulomb friction."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.dynamics.base.regressor_derivatives import StateGradient, weighted_gradient
from armdyn.dynamics.regressors.joint_columns import joint_parameter_names
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.dynamics.shafts import at_drives, drive_torques
from armdyn.model.quantities import Gravity, Q, Qd, Qdd
from armdyn.trace.formula import Array, Symbol, ca, traced
from armdyn.trajectory.motion_limits import MotionLimits

# Velocity below which Coulomb friction is rounded off [rad/s or m/s]: sign(qd) has no derivative.
ROUNDED_SPEED = 0.1
# Of the choices of base parameters: sets of random states of each kind, states in each, and their span [rad or m, /s,
# /s²].
DRAWS, STATES_PER_DRAW, STATE_SPAN = 12, 60, 2.0


def labels_of(base: BaseParameters) -> tuple[str, ...]:
    """Names of the regressor's parameters, such as `Izz1`, `Fv1`, `Fc1`; see `BaseParameters.labels`."""
    return (*base.labels, *joint_parameter_names(base.source.n, ("viscous", "coulomb")))


def _columns(base: BaseParameters, q: Symbol, qd: Symbol, qdd: Symbol, gravity: Symbol) -> Symbol:
    inertial = base_regressor(base, q, qd, qdd, gravity=gravity)
    arm, speed = base.source, at_drives(base.source, qd)
    rubbing = (drive_torques(arm, ca.diag(column)) for column in (speed, ca.tanh(speed / ROUNDED_SPEED)))
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


# -- other choices of the parameters that lead the base parameters --------------------------------------------
# Which standard parameter stands for a combination is arbitrary (Ixx or Iyy, the near or the far link), but the
# condition number depends on it: a motion that is excellent for one choice may be twice as bad for another. A motion is
# therefore designed for the worst of the choices that are made in practice: armdyn's own and those of QR with column
# pivoting (Gautier 1991) on random states.


def base_choices(base: BaseParameters, limits: MotionLimits, extra: int) -> NDArray:
    """Matrices F (k, count + extra, ...) with `W F` the columns of choice k, W those of `base` and `extra` others."""
    choices = {tuple(base.columns)}
    rng = np.random.default_rng(0)
    n = base.source.n
    reach = np.minimum(limits.half_range, np.pi)
    largest = np.array([reach, limits.velocity, limits.acceleration])[:, None]
    for _ in range(DRAWS):
        choices.add(_pivots(base, rng.uniform(-STATE_SPAN, STATE_SPAN, (3, STATES_PER_DRAW, n))))
        within = rng.uniform(-1, 1, (3, STATES_PER_DRAW, n)) * largest
        within[0] += limits.center
        choices.add(_pivots(base, within))
    return np.array([_form(base, choice, extra) for choice in sorted(choices, key=lambda c: (c != base.columns, c))])


def _pivots(base: BaseParameters, states: NDArray) -> tuple[int, ...]:
    """The columns that pivoting takes first."""
    from scipy.linalg import qr

    Y = regressor(base.source, *states)
    order = qr(Y.reshape(-1, Y.shape[-1]), mode="r", pivoting=True)[1]
    return tuple(sorted(int(k) for k in order[: base.count]))


def _form(base: BaseParameters, columns: tuple[int, ...], extra: int) -> NDArray:
    """Y = Y_base P, so the columns `kept` of Y are Y_base P[:, kept]."""
    F = np.eye(base.count + extra)
    F[: base.count, : base.count] = base.P[:, list(columns)]
    return F
