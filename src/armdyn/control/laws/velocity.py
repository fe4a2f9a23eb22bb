"""Velocities from positions alone, for any law: filtered differences, a Kalman filter, an observer with the model.

Each wraps a law, which then sees the estimate instead of the measured velocity; the latter is not looked at.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Answer, Arm, Law, Reference, Symbol, Values, ca, traced_step
from armdyn.control.laws.filters import low_pass
from armdyn.control.laws.model import FRICTION_SHAPE, FRICTION_WIDTH, MODEL_SHAPES, model_data, model_torque
from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.settings import one_number
from armdyn.control.theory.riccati import discrete_lqr
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.drive import augmented_mass_matrix, drive_torque
from armdyn.dynamics.friction import direction, friction_torque, joint_frictions
from armdyn.dynamics.shafts import at_shafts, joint_torques
from armdyn.precision import FIVE_DIGITS


def secant_damping(arm: Arm, q: Symbol, qd: Symbol, params: Values) -> Symbol:
    """A matrix D (n, n), positive semidefinite, with D qd = torques of friction and motors' damping but for offsets.

    Implicit steps with D never reverse a joint by its friction, unlike those with the slope at qd.
    """
    slopes = []
    for shaft in joint_frictions(arm, q, qd, params["friction"]):
        torque = shaft.sliding(direction(shaft.v, FRICTION_WIDTH)) - shaft["offset"]
        slopes.append(ca.fmax(torque * shaft.v, 0) / (shaft.v**2 + FIVE_DIGITS**2))
    still, unit = ca.SX.zeros(arm.n), ca.SX.eye(arm.n)
    at_rest = drive_torque(arm, still, still, still, drive=params["drive"])
    columns = []
    for j in range(arm.n):
        motors = drive_torque(arm, still, unit[:, j], still, drive=params["drive"]) - at_rest
        columns.append(motors + joint_torques(arm, ca.vertcat(*slopes) * at_shafts(arm, unit[:, j])))
    return ca.horzcat(*columns)


class EstimatedVelocity(Wrapped):
    """Base of wrappers that estimate velocities; their state has `qd_hat` (n,) and `seen` (1,), 0 before the first."""

    begun_states: ClassVar = ("seen",)

    @abstractmethod
    def estimate(self, params: Values, state: Values, q: Symbol, dt: Symbol) -> dict[str, Symbol]:
        """The estimator's state at this sample, among it `qd_hat`."""

    @abstractmethod
    def begin(self, q: Symbol) -> dict[str, Symbol]:
        """The rest of that state at the first sample, or the first after a loss, which leaves `qd_hat` as it was."""

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; the measured velocity plays no role."""
        first, now = {"qd_hat": state["qd_hat"], **self.begin(q)}, self.estimate(params, state, q, dt)
        estimator = {name: ca.if_else(state["seen"] > 0.5, now[name], first[name]) for name in now}
        tau, after = self.inner(params, state, q, estimator["qd_hat"], ref, dt)
        after |= {**estimator, "seen": ca.SX(1), **dict.fromkeys(self.torque_states, tau)}
        return tau, after


@dataclass(frozen=True, eq=False)
class FilteredDerivative(EstimatedVelocity):
    """Differences of positions behind a first-order low-pass: qd_hat' = 2 pi cutoff (dq/dt - qd_hat).

    Parameters
    ----------
    law : Law
    cutoff : array_like, shape (n,)
        [Hz]; well above the loop's bandwidth, and below where noise / dt matters.
    """

    own_shapes: ClassVar = {"cutoff": "n"}
    positive: ClassVar = {"cutoff": "frequencies"}
    state_shapes: ClassVar = {"qd_hat": "n", "q_before": "n", "seen": "1"}
    law: Law
    cutoff: ArrayLike = 50.0

    def begin(self, q: Symbol) -> dict[str, Symbol]:
        """The position."""
        return {"q_before": q}

    def estimate(self, params: Values, state: Values, q: Symbol, dt: Symbol) -> dict[str, Symbol]:
        """The low-pass of the period's slope."""
        slope = (q - state["q_before"]) / dt
        return {"qd_hat": low_pass(self.arm, state["qd_hat"], slope, params["cutoff"], dt), "q_before": q}


@dataclass(frozen=True, eq=False)
class KalmanVelocity(EstimatedVelocity):
    """The steady Kalman filter of a triple integrator driven by white jerk, joint by joint (Kapadia 1995).

    Its poles over a period are those designed for, also at a rate that is not the designed one.

    Parameters
    ----------
    law : Law
    rate : float
        Rate of the controller [Hz].
    noise : float
        Standard deviation of positions [rad or m].
    jerk : float
        Root of the density of jerk [rad/s³ per root hertz]: how lively the motion is.

    References
    ----------
    Kapadia (1995); Anderson and Moore (1979), section 4.4, for the steady gains.
    """

    own_shapes: ClassVar = {"correction": "3"}
    state_shapes: ClassVar = {"qd_hat": "n", "q_hat": "n", "qdd_hat": "n", "seen": "1"}
    law: Law
    rate: float
    noise: float = 1e-5
    jerk: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rate", "noise", "jerk"):
            one_number(getattr(self, name), f"KalmanVelocity: {name}", "a number > 0")

    @property
    def kalman_gain(self) -> NDArray:
        """Gains (3,) of position, velocity, acceleration on the innovation."""
        h = 1 / self.rate
        A = np.array([[1, h, h * h / 2], [0, 1, h], [0, 0, 1]])
        # White jerk of unit density over a period; in units of the noise, which keeps the equation well scaled.
        Q = np.array([[h**5 / 20, h**4 / 8, h**3 / 6], [h**4 / 8, h**3 / 3, h**2 / 2], [h**3 / 6, h**2 / 2, h]])
        scale = np.diag([1.0, h, h * h])  # of positions, so that the three states are alike
        back = np.linalg.inv(scale)
        A_s, Q_s = scale @ A @ back, scale @ Q @ scale * (self.jerk / self.noise) ** 2
        C = np.array([[1.0, 0, 0]])
        P = discrete_lqr(A_s.T, C.T, Q_s, np.eye(1)).P
        return np.asarray(back @ (P @ C.T / (C @ P @ C.T + 1)).ravel())

    @property
    def correction(self) -> NDArray:
        """The gains (3,) in units of periods."""
        return self.kalman_gain / self.rate ** np.arange(3)

    def begin(self, q: Symbol) -> dict[str, Symbol]:
        """The position, without acceleration."""
        return {"q_hat": q, "qdd_hat": 0 * q}

    def estimate(self, params: Values, state: Values, q: Symbol, dt: Symbol) -> dict[str, Symbol]:
        """Prediction, then correction."""
        a, gain = state["qdd_hat"], params["correction"]
        v = state["qd_hat"] + dt * a
        x = state["q_hat"] + dt * state["qd_hat"] + dt * dt / 2 * a
        wrong = q - x
        return {
            "qd_hat": v + gain[1] / dt * wrong, "q_hat": x + gain[0] * wrong, "qdd_hat": a + gain[2] / dt**2 * wrong
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class ObservedVelocity(EstimatedVelocity):
    """An observer with the model: accelerations come from torques, measurements correct the model's error.

        q_hat' = qd_hat + 2 w (q - q_hat),   qd_hat' = M^-1 (tau - C qd_hat - g - friction) + w² (q - q_hat)

    w = 2 pi cutoff. Less late than filters of the same bandwidth, as far as model and torques are right. Errors of the
    estimate have both poles at exp(-w dt), the exact ones of a period; friction and damping of the motors are solved
    for implicitly, as their time constants may be far below a period.

    Parameters
    ----------
    law : Law
        Its model is used.
    cutoff : array_like, shape (n,)
        Corner frequency for what the model does not explain [Hz].

    References
    ----------
    Nicosia and Tomei (1990), Robot control by using only joint position measurements.
    """

    own_shapes: ClassVar = {"cutoff": "n", **MODEL_SHAPES, **FRICTION_SHAPE}
    positive: ClassVar = {"cutoff": "frequencies"}
    state_shapes: ClassVar = {"qd_hat": "n", "q_hat": "n", "tau_given": "n", "seen": "1"}
    torque_states: ClassVar = ("tau_given",)
    law: Law
    cutoff: ArrayLike = 20.0

    def begin(self, q: Symbol) -> dict[str, Symbol]:
        """The position."""
        return {"q_hat": q}

    def estimate(self, params: Values, state: Values, q: Symbol, dt: Symbol) -> dict[str, Symbol]:
        """A period of the model under the torque given, then correction by the position."""
        before, pole = state["qd_hat"], ca.exp(-2 * np.pi * params["cutoff"] * dt)
        M = augmented_mass_matrix(self.arm, q, theta=params["theta"], drive=params["drive"])
        rest = model_torque(self.arm, q, before, 0 * q, **model_data(params))
        rest = rest + friction_torque(self.arm, q, before, width=FRICTION_WIDTH, friction=params["friction"])
        D = secant_damping(self.arm, q, before, params)
        # (M + dt D) (v - before) = dt (tau - rest): linearly implicit
        v = before + dt * factorize(M + dt * D).solve(state["tau_given"] - rest)
        x = state["q_hat"] + dt / 2 * (before + v)
        wrong = q - x
        return {"qd_hat": v + (1 - pole) ** 2 / dt * wrong, "q_hat": x + (1 - pole**2) * wrong}
