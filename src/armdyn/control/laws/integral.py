"""Integral action that does not wind up; PID is PD with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.formula import Answer, Arm, Law, Reference, SaturationExcess, Values, ca, check_setting, traced_step
from armdyn.control.laws.pd import PD
from armdyn.control.laws.wrapped import Wrapped


@dataclass(frozen=True, eq=False)
class Integral(Wrapped):
    """Any law with integral action, which removes steady errors, and with limited torques.

    Back-calculation keeps the integral from winding up while a torque is limited (Astrom and Hagglund 2006,
    section 3.5): the integral follows d integral / dt = ki e + unwind (limited - u) by Euler's rule, the second term at
    most by a full step, so that no rate makes it ring. Local stability needs ki below what kp and kd allow: for one
    joint of inertia J, ki < kp kd / J.

    Parameters
    ----------
    law : Law
    ki : array_like, shape (..., n)
        Integral gain [N m/(rad s) or N/(m s)].
    limit : array_like, shape (..., n), optional
        Largest torques; default the joints' effort limits.
    unwind : array_like, shape (..., n)
        Rate at which a limited joint's integral yields [1/s]; beyond the controller's rate it counts as that.
    """

    own_shapes: ClassVar = {"ki": "n", "unwind": "n", "limit": "n"}
    state_shapes: ClassVar = {"integral": "n"}  # as a torque
    positive: ClassVar = {"limit": "torques"}
    law: Law
    ki: ArrayLike
    limit: ArrayLike | None = None
    unwind: ArrayLike = 20.0

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: u = tau + integral within limits."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        u, limit = tau + state["integral"], params["limit"]
        limited = ca.fmax(ca.fmin(u, limit), -limit)
        change = dt * params["ki"] * (ref.q - q) + self._yielding(params, dt) * (limited - u)
        return limited, {**after, "integral": state["integral"] + change}

    def after_limits(self, params: Values, before: Values, after: Values, short: SaturationExcess, dt: Any) -> Values:
        """The integral yields to limits outside as it does to its own."""
        memory = super().after_limits(params, before, after, short, dt)
        return {**memory, "integral": memory["integral"] + self._yielding(params, dt) * short.torque}

    @staticmethod
    def _yielding(params: Values, dt: Any) -> Any:
        """Part of the torque beyond a limit that the integral gives up in a period."""
        return ca.fmin(params["unwind"] * dt, 1)


@dataclass(frozen=True, eq=False)
class VelocityPID(Law):
    """PID control in velocity form: each sample adds to the torque before, so that limits wind nothing up.

        tau += kp (e - e_before) + kd (ed - ed_before) + ki e_before dt,   e = q_ref - q,  ed = qd_ref - qd

    Below its limits the torques are those of `pid`; at a limit the torque itself is the memory, and falls as soon as
    the error turns. Gains may change while it runs without a jump of the torque. The form of Kapadia's PUMA controller.

    Parameters
    ----------
    arm : Arm
    kp, ki, kd : array_like, shape (..., n)
        Gains >= 0 [N m/rad, N m/(rad s), N m s/rad].
    limit : array_like, shape (..., n), optional
        Largest torques; default the joints' effort limits.

    References
    ----------
    Kapadia (1995), section 6.3.1; Astrom and Hagglund (2006), section 3.5.
    """

    shapes: ClassVar = {"kp": "n", "ki": "n", "kd": "n", "limit": "n"}
    state_shapes: ClassVar = {"torque": "n", "error": "n", "error_rate": "n"}  # of the sample before
    torque_states: ClassVar = ("torque",)
    arm: Arm
    kp: ArrayLike
    ki: ArrayLike
    kd: ArrayLike
    limit: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("kp", "ki", "kd"):
            check_setting(self, name)
        if self.limit is None:
            self._set(limit=self.arm.effort_limits)
        check_setting(self, "limit", finite=False)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        error, rate, limit = ref.q - q, ref.qd - qd, params["limit"]
        change = params["kp"] * (error - state["error"]) + params["kd"] * (rate - state["error_rate"])
        tau = state["torque"] + change + params["ki"] * state["error"] * dt
        limited = ca.fmax(ca.fmin(tau, limit), -limit)
        return limited, {"torque": limited, "error": error, "error_rate": rate}


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
