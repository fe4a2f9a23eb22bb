"""What the model does not explain, observed through the momentum and taken off the torques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.laws.model import MODEL, MODEL_SHAPES
from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.protocol import Answer, Law, Reference, Shortfall, Values, checked
from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.drive import drive_inertia, drive_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Number, Q, Qd, Theta, Vec
from armdyn.trace.shapes import Vector
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


class ObservedDisturbance(NamedTuple):
    """What `observed_disturbance` returns."""

    disturbance: Vector
    predicted: Vector


@traced()
def observed_disturbance(
    arm: Arm,
    q: Q,
    qd: Qd,
    predicted: Vec,
    applied: Vec,
    started: Annotated[Any, "1"],
    observer_gain: Vec,
    dt: Number,
    *,
    theta: Theta = None,
    gravity: Gravity = None,
    drive: DriveData = None,
) -> ObservedDisturbance:
    """Torques that act besides those of the model, low-passed.

        p = M qd,  dp/dt = tau + C' qd - g + d,  d_hat = L (p - p_hat),  dp_hat/dt = tau + C' qd - g + d_hat

    Parameters
    ----------
    q, qd
        Measured positions and velocities.
    predicted
        Momentum p_hat predicted for this sample, without the torque applied since the last.
    applied
        Torque applied since the last sample times the period.
    started
        0 at the first sample, at which nothing is observed yet; 1 later.
    observer_gain
        L [1/s].
    dt
        Period [s].

    Returns
    -------
    predicted
        For the next sample, without the torque to be applied.

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control.
    """
    momentum = ca.mtimes(mass_matrix(arm, q, theta=theta) + drive_inertia(arm, drive), qd)
    estimate = ca.if_else(started > 0.5, predicted + applied, momentum)
    disturbance = observer_gain * (momentum - estimate)
    rest = drive_torque(arm, q, qd, ca.SX.zeros(arm.n), drive=drive) + gravity_torque(
        arm, q, theta=theta, gravity=gravity
    )
    turned = ca.mtimes(coriolis_matrix(arm, q, qd, theta=theta).T, qd)
    return ObservedDisturbance(disturbance, estimate + dt * (turned - rest + disturbance))


@dataclass(frozen=True, eq=False)
class DisturbanceObserver(Wrapped):
    """Any law with what its model does not explain (load, friction, contact) observed and compensated.

        tau = tau_law - d_hat

    d_hat follows the true disturbance with a first-order lag of 1 / (2 pi bandwidth); the bandwidth must stay well
    below that of unmodelled lags, and well above the motion's. It acts as an integral action does, without its own
    overshoot. Friction belongs to what is observed: a `FrictionFeedforward` goes outside, around this law.

    Parameters
    ----------
    law : Law
        Its model explains the torques.
    bandwidth : array_like, shape (..., n)
        Of the observer [Hz].
    """

    own_shapes: ClassVar = {"bandwidth": "n", **MODEL_SHAPES}
    law: Law
    bandwidth: ArrayLike = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, "bandwidth")

    @property
    def own_state(self) -> dict[str, NDArray]:
        """Predicted momentum, the impulse of the last torque, and whether there was one."""
        return {"predicted": np.zeros(self.arm.n), "applied": np.zeros(self.arm.n), "started": np.zeros(1)}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `observed_disturbance`."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        model = {name: params[name] for name in MODEL}
        gain = 2 * np.pi * params["bandwidth"]
        own = (state[name] for name in ("predicted", "applied", "started"))
        observed = observed_disturbance(arm, q, qd, *own, gain, dt, **model)
        tau = tau - observed.disturbance
        after |= {"predicted": observed.predicted, "applied": tau * dt, "started": 0 * state["started"] + 1}
        return tau, after

    def after_limits(self, params: Values, before: Values, after: Values, short: Shortfall, dt: Any) -> Values:
        """What was not exerted changes no momentum."""
        kept = super().after_limits(params, before, after, short, dt)
        return {**kept, "applied": kept["applied"] + short.torque * dt}
