"""Computed torque: the model's inverse makes every joint a double integrator, which PD then controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.formula import Answer, Arm, Array, Reference, Values, traced, traced_step
from armdyn.control.laws.model import ModelLaw, model_data, model_torque
from armdyn.control.theory.gains import gains_from_bandwidth
from armdyn.model.quantities import DriveData, Gravity, Q, Qd, Theta, Vec


@traced(returns={"tau": "n"})
def computed_torque(
    arm: Arm, q: Q, qd: Qd, q_ref: Vec, qd_ref: Vec, qdd_ref: Vec, kp: Vec, kd: Vec, *,
    theta: Theta = None, gravity: Gravity = None, drive: DriveData = None,
) -> Array:  # fmt: skip
    """Torques M (qdd_ref + kp e + kd ed) + C qd + g with e = q_ref - q, rotors included, by Newton-Euler.

    Parameters
    ----------
    arm : Arm
        The model.
    q, qd
        Measured positions and velocities [rad or m, /s].
    q_ref, qd_ref, qdd_ref
        Desired motion.
    kp, kd
        Gains [1/s², 1/s].
    theta, gravity, drive
        Instead of the model's.

    References
    ----------
    ECE470 (2019), feedback linearisation; Siciliano et al. (2009), section 8.5.2.
    """
    qdd = qdd_ref + kp * (q_ref - q) + kd * (qd_ref - qd)
    return model_torque(arm, q, qd, qdd, theta=theta, gravity=gravity, drive=drive)


@dataclass(frozen=True, eq=False)
class ComputedTorque(ModelLaw):
    """Feedback linearisation: under a perfect model every joint's error obeys e'' + kd e' + kp e = 0.

    All that the arm has is compensated, its friction too: viscous at the measured velocity, dry at the desired one.
    Needs an accurate model: an error of M acts as an error of gain.

    Parameters
    ----------
    arm : Arm
        The model that the controller believes in.
    kp, kd : array_like, shape (..., n)
        Gains >= 0 [1/s², 1/s], one number for all joints or one per joint; leading axes are batches.
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    >>> run = armdyn.simulate(arm, law, [0.4, 0.2], 2.0, 500, q0=[0.0, 0.0], qd0=[0.0, 0.0])
    >>> bool(np.abs(run.error[-1]).max() < 1e-6)  # rad
    True
    """

    gain_shapes: ClassVar = {"kp": "n", "kd": "n"}
    arm: Arm
    kp: ArrayLike
    kd: ArrayLike
    model: str = "full"

    @classmethod
    def from_bandwidth(
        cls, arm: Arm, bandwidth: ArrayLike, damping: ArrayLike = 1.0, model: str = "full"
    ) -> ComputedTorque:
        """Gains kp = (2 pi f)², kd = 2 damping (2 pi f) for a bandwidth f [Hz] of each joint."""
        kp, kd, _ = gains_from_bandwidth(bandwidth, damping)
        return cls(arm, kp, kd, model)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `computed_torque` and `law_friction`."""
        gains = params["kp"], params["kd"]
        tau = computed_torque(arm, q, qd, ref.q, ref.qd, ref.qdd, *gains, **model_data(params))
        return self.add_friction(params, tau, q, qd, ref), state
