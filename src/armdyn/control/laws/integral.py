"""Integral action that does not wind up; PID is PD with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.laws.pd import PD
from armdyn.control.laws.wrapped import Wrapped, efforts, joint_sizes
from armdyn.control.protocol import Answer, Law, Reference, Shortfall, Values, check_setting
from armdyn.model.arm import Arm
from armdyn.model.quantities import Number, Q, Tau, Vec
from armdyn.trace.shapes import Vector
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


class IntegralAction(NamedTuple):
    """What `integral_action` returns."""

    tau: Vector
    integral: Vector


@traced()
def integral_action(
    arm: Arm, tau: Tau, integral: Vec, q: Q, q_ref: Vec, ki: Vec, unwind: Vec, limit: Vec, dt: Number
) -> IntegralAction:
    """Torques with integral action, limited, and the integral after the sample.

        u = tau + integral,  tau_out = u within limits,  d integral / dt = ki (q_ref - q) + unwind (tau_out - u)

    Parameters
    ----------
    tau
        What another law asks for.
    integral
        [N m or N]
    q, q_ref
        Measured and desired positions.
    ki
        Integral gain [N m/(rad s)].
    unwind
        Rate at which the integral yields while the drives are saturated [1/s].
    limit
        Largest torques.
    dt
        Period [s].
    """
    u = tau + integral
    limited = ca.fmax(ca.fmin(u, limit), -limit)
    return IntegralAction(limited, integral + dt * (ki * (q_ref - q) + unwind * (limited - u)))


@dataclass(frozen=True, eq=False)
class Integral(Wrapped):
    """Any law with integral action, which removes steady errors, and with limited torques.

    Back-calculation keeps the integral from winding up while a torque is limited (Astrom and Hagglund 2006,
    section 3.5). Local stability needs ki below what kp and kd allow: for one joint of inertia J, ki < kp kd / J.

    Parameters
    ----------
    law : Law
    ki : array_like, shape (..., n)
        Integral gain [N m/(rad s) or N/(m s)].
    limit : array_like, shape (..., n), optional
        Largest torques; default the joints' effort limits.
    unwind : array_like, shape (..., n)
        Rate at which a limited joint's integral yields [1/s]; below 2 / period.
    """

    own_shapes: ClassVar = {"ki": "n", "unwind": "n", "limit": "n"}
    law: Law
    ki: ArrayLike
    limit: ArrayLike | None = None
    unwind: ArrayLike = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ki", "unwind"):
            check_setting(self, name)
        joint_sizes(self, "limit", "torques", efforts(self.arm))

    @property
    def own_state(self) -> dict[str, NDArray]:
        """The integral, as a torque."""
        return {"integral": np.zeros(self.arm.n)}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `integral_action`."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        ki, unwind, limit = (params[name] for name in ("ki", "unwind", "limit"))
        tau, after["integral"] = integral_action(arm, tau, state["integral"], q, ref.q, ki, unwind, limit, dt)
        return tau, after

    def after_limits(self, params: Values, before: Values, after: Values, short: Shortfall, dt: Any) -> Values:
        """The integral yields to limits outside as it does to its own."""
        kept = super().after_limits(params, before, after, short, dt)
        return {**kept, "integral": kept["integral"] + dt * params["unwind"] * short.torque}


def pid(
    arm: Arm,
    kp: ArrayLike,
    ki: ArrayLike,
    kd: ArrayLike,
    limit: ArrayLike | None = None,
    unwind: ArrayLike = 20.0,
) -> Integral:
    """PID control of each joint by itself, with anti-windup: `Integral(PD(arm, kp, kd), ki, limit)`.

    Parameters
    ----------
    arm : Arm
    kp, ki, kd : array_like, shape (..., n)
        Gains >= 0 [N m/rad, N m/(rad s), N m s/rad].
    limit, unwind : array_like, shape (..., n), optional
        Largest torques, and the rate at which the integral yields to them; see `Integral`.
    """
    return Integral(PD(arm, kp, kd), ki, limit, unwind)
