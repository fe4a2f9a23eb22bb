"""The cascade of industrial drives: position by P, velocity by PI, torque with the drive's lag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_vector
from armdyn.control.formula import Answer, Arm, Reference, Values, traced_step
from armdyn.control.laws.model import ModelLaw, model_data, model_torque
from armdyn.control.settings import one_number
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ShapeError, check_choice

FEEDFORWARD = ("none", "velocity", "model")
# Velocity loop over position loop, and corner of its integral over its bandwidth: the three poles are then well damped.
VELOCITY_LOOP_RATIO, INTEGRAL_CORNER_RATIO = 4.0, 0.25
# Largest lag of torques, in units of the velocity loop's time, that the cascade is tuned for.
MAX_LAG_RATIO = 0.5


@dataclass(frozen=True, eq=False)
class Cascade(ModelLaw):
    """Position by P, velocity by PI, joint by joint, as the drives of industrial arms have them.

        v = kv (q_ref - q) + qd_ref,   tau = kp (v - qd) + integral + feedforward,   integral' = ki (v - qd)

    Without feedforward a motion lags by 1 / kv; with that of velocity errors come from accelerations, gravity's changes
    and friction; with that of the model (torques of the desired motion) from the model's errors alone. For a joint of
    inertia J the loop's poles are those of J s³ + kp s² + (ki + kv kp) s + kv ki. The integral is that of errors held
    over each period (Euler's rule). Torques follow commands with the drive's lag: `Plant(motor_lag=...)`.

    Parameters
    ----------
    arm : Arm
        Its model serves the feedforward alone.
    kv : array_like, shape (..., n)
        Gain of the position loop [1/s].
    kp, ki : array_like, shape (..., n)
        Gains of the velocity loop [N m s/rad, N m/rad].
    feedforward : {"none", "velocity", "model"}
    model : {"full", "rigid"}
        Whether the model's friction is part of the feedforward.

    References
    ----------
    Leonhard (2001), Control of electrical drives, chapter 15; Siciliano et al. (2009), section 8.3.
    """

    gain_shapes: ClassVar = {"kv": "n", "kp": "n", "ki": "n"}
    formula_options: ClassVar = ("feedforward",)
    state_shapes: ClassVar = {"velocity_integral": "n"}  # of the velocity's error [N m]
    learnt_states: ClassVar = ("velocity_integral",)
    arm: Arm
    kv: ArrayLike
    kp: ArrayLike
    ki: ArrayLike
    feedforward: str = "model"
    model: str = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("Cascade", "feedforward", self.feedforward, FEEDFORWARD, ShapeError)

    @classmethod
    def from_bandwidth(
        cls, arm: Arm, bandwidth: float, q: ArrayLike | None = None, lag: float = 0.0, **options: Any
    ) -> Cascade:
        """Gains of a position loop of `bandwidth` [Hz], a velocity loop four times as fast, for inertias at a pose.

        Parameters
        ----------
        arm : Arm
        bandwidth : float
            [Hz]
        q : array_like, shape (n,), optional
            Positions at which inertias are taken, default all zero.
        lag : float
            Time constant of the drives' torques [s]; a loop that it would make ring is rejected.
        **options
            `feedforward` and `model`.
        """
        w = 2 * np.pi * one_number(bandwidth, "Cascade", "a bandwidth > 0 in Hz")
        lag = one_number(lag, "Cascade: lag", "a time >= 0 in seconds", zero=True)
        if lag * VELOCITY_LOOP_RATIO * w > MAX_LAG_RATIO:
            most = MAX_LAG_RATIO / (VELOCITY_LOOP_RATIO * 2 * np.pi * lag)
            cause = f"a torque lag of {lag:g} s is too slow for {bandwidth:g} Hz"
            raise ShapeError(cause, where="Cascade", remedy=f"take at most {most:.3g} Hz")
        pose = np.zeros(arm.n) if q is None else finite_vector(q, arm.n, "Cascade: q", ShapeError)
        return cls.for_inertia(arm, w, np.diagonal(augmented_mass_matrix(arm, pose)), **options)

    @classmethod
    def for_inertia(cls, arm: Arm, w: float, inertia: NDArray, **options: Any) -> Cascade:
        """Gains of a position loop of w [rad/s] for the joints' inertias (n,)."""
        kp = VELOCITY_LOOP_RATIO * w * inertia
        return cls(arm, w, kp, INTEGRAL_CORNER_RATIO * VELOCITY_LOOP_RATIO * w * kp, **options)

    @property
    def compensates_friction(self) -> bool:
        """Whether the model's friction is part of the feedforward."""
        return self.feedforward == "model" and super().compensates_friction

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        v = params["kv"] * (ref.q - q) + (0 if self.feedforward == "none" else ref.qd)
        integral = state["velocity_integral"]
        tau = params["kp"] * (v - qd) + integral
        if self.feedforward == "model":
            nominal = model_torque(arm, ref.q, ref.qd, ref.qdd, **model_data(params))
            tau = tau + self.add_friction(params, nominal, ref.q, ref.qd, ref)
        return tau, {"velocity_integral": integral + dt * params["ki"] * (v - qd)}

    def friction_part(self, params: Values, tau: Any, q: Any, qd: Any, ref: Reference) -> Any:
        """Friction of the desired motion that is part of the torques."""
        return super().friction_part(params, tau, ref.q, ref.qd, ref)
