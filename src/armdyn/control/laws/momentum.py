"""The generalized momentum of an arm, and what changes it: dp/dt = tau + momentum_rate - friction + outside torques.

No accelerations and no inverse of the mass matrix are needed (De Luca and Mattone 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.laws.model import MODEL_SHAPES, model_data
from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.protocol import Answer, Law, Reference, Shortfall, Values, check_setting
from armdyn.control.step import traced_step
from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.drive import augmented_mass_matrix, drive_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Q, Qd, Theta
from armdyn.trace.formula import Array, ca, traced


@traced(returns={"p": "n"})
def momentum(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, drive: DriveData = None) -> Array:
    """The generalized momentum p = M qd, rotors included."""
    return ca.mtimes(augmented_mass_matrix(arm, q, theta=theta, drive=drive), qd)


@traced(returns={"rate": "n"})
def momentum_rate(
    arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, gravity: Gravity = None, drive: DriveData = None
) -> Array:
    """Rate of the momentum without torques and friction: C' qd - g - springs and motor damping.

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control.
    """
    springs = drive_torque(arm, q, qd, ca.SX.zeros(arm.n), drive=drive)
    rest = springs + gravity_torque(arm, q, theta=theta, gravity=gravity)
    return ca.mtimes(coriolis_matrix(arm, q, qd, theta=theta).T, qd) - rest


@dataclass(frozen=True, eq=False)
class DisturbanceObserver(Wrapped):
    """Any law with unmodelled torques (load, friction, contact) observed and compensated.

        tau = tau_law - d_hat
        p = M qd,  d_hat = L (p - p_hat),  dp_hat/dt = tau + C' qd - g - friction of the law + d_hat

    d_hat follows the true disturbance with a first-order lag of 1 / (2 pi bandwidth); the bandwidth must stay well
    below that of unmodelled lags, and well above the motion's. It acts as an integral action does, without its own
    overshoot. Friction that the law inside compensates is known to the observer; a `FrictionFeedforward` goes outside,
    around this law.

    Parameters
    ----------
    law : Law
        Its model explains the torques.
    bandwidth : array_like, shape (..., n)
        Of the observer [Hz].

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control.
    """

    own_shapes: ClassVar = {"bandwidth": "n", **MODEL_SHAPES}
    law: Law
    bandwidth: ArrayLike = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_setting(self, "bandwidth")

    @property
    def own_state(self) -> dict[str, NDArray]:
        """Predicted momentum, the impulse of the last torque, and whether there was one."""
        return {"predicted": np.zeros(self.arm.n), "applied": np.zeros(self.arm.n), "started": np.zeros(1)}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; what friction the inner law compensates is no disturbance."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        p = momentum(arm, q, qd, theta=params["theta"], drive=params["drive"])
        p_hat = ca.if_else(state["started"] > 0.5, state["predicted"] + state["applied"], p)
        disturbance = 2 * np.pi * params["bandwidth"] * (p - p_hat)
        rate = momentum_rate(arm, q, qd, **model_data(params)) - self.law.friction_part(params, tau, q, qd, ref)
        tau = tau - disturbance
        after |= {"predicted": p_hat + dt * (rate + disturbance), "applied": tau * dt, "started": ca.SX(1)}
        return tau, after

    def after_limits(self, params: Values, before: Values, after: Values, short: Shortfall, dt: Any) -> Values:
        """What was not exerted changes no momentum."""
        kept = super().after_limits(params, before, after, short, dt)
        return {**kept, "applied": kept["applied"] + short.torque * dt}
