"""PD control: springs and dampers between the arm and its reference; alone, with gravity, with nominal torques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.formula import Answer, Arm, Array, Law, Reference, Values, check_setting, traced, traced_step
from armdyn.control.laws.model import ModelLaw, model_data, model_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.model.quantities import Q, Qd, Vec


@traced(returns={"tau": "n"})
def pd_torque(arm: Arm, q: Q, qd: Qd, q_ref: Vec, qd_ref: Vec, kp: Vec, kd: Vec) -> Array:
    """Torques kp (q_ref - q) + kd (qd_ref - qd).

    Parameters
    ----------
    q, qd, q_ref, qd_ref
        Measured and desired positions and velocities [rad or m, /s].
    kp, kd
        Stiffness and damping of each joint [N m/rad, N m s/rad or N/m, N s/m].
    """
    return kp * (q_ref - q) + kd * (qd_ref - qd)


@dataclass(frozen=True, eq=False)
class PD(Law):
    """Proportional and derivative control of each joint by itself.

        tau = kp (q_ref - q) + kd (qd_ref - qd)

    Stable in continuous time for any positive gains; gravity and friction leave a steady error. Sampled
    control is stable only below some kd dt, which `simulate` checks.

    Parameters
    ----------
    arm : Arm
    kp, kd : array_like, shape (..., n)
        Gains >= 0, one number for all joints or one per joint; leading axes are batches of rollouts.
    """

    shapes: ClassVar = {"kp": "n", "kd": "n"}
    arm: Arm
    kp: ArrayLike
    kd: ArrayLike

    def __post_init__(self) -> None:
        for name in PD.shapes:
            check_setting(self, name)

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `pd_torque`."""
        return pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"]), state


@dataclass(frozen=True, eq=False)
class GravityPD(PD):
    """PD and the model's gravity torques at the measured position.

        tau = kp (q_ref - q) + kd (qd_ref - qd) + g(q)

    In continuous time and with the right g, every set point is globally asymptotically stable for any kp, kd > 0
    (Takegaki and Arimoto 1981). Sampled at periods dt, a joint of inertia J needs kd dt < 2 J and kp dt < 2 kd, an arm
    eigenvalues of M^-1 kd dt below 2 in all its poses, which `simulate` checks. Moving references leave an error, since
    inertia and friction are not compensated.

    Parameters
    ----------
    arm : Arm
        The model that gravity is computed from.
    kp, kd : array_like, shape (..., n)
        Gains >= 0 [N m/rad, N m s/rad or N/m, N s/m].

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> law = armdyn.GravityPD(arm, [400.0, 100.0], [40.0, 10.0])
    >>> run = armdyn.simulate(arm, law, [0.4, 0.2], 2.0, 500, q0=[0.0, 0.0], qd0=[0.0, 0.0])
    >>> bool(np.abs(run.error[-1]).max() < 1e-2)  # rad
    True
    """

    shapes: ClassVar = {**PD.shapes, "theta": "10*joints", "gravity": "3"}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `pd_torque` and `gravity_torque`."""
        tau = pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"])
        return tau + gravity_torque(arm, q, theta=params["theta"], gravity=params["gravity"]), state


@dataclass(frozen=True, eq=False)
class FeedforwardPD(ModelLaw):
    """The model's torques of the reference motion, and PD for the remaining error.

        tau = M(q_ref) qdd_ref + C(q_ref, qd_ref) qd_ref + g(q_ref) + friction(q_ref, qd_ref) + kp e + kd ed

    The nominal torques do not depend on measurements, so noise and delay act through kp and kd alone. Stable near
    the reference if kp outweighs how gravity and velocity torques change with position.

    Parameters
    ----------
    arm : Arm
        The model.
    kp, kd : array_like, shape (..., n)
        Gains >= 0 [N m/rad, N m s/rad or N/m, N s/m].
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.

    References
    ----------
    Eindhoven (1987), chapter 5; Kapadia, section 6.3.
    """

    gain_shapes: ClassVar = {"kp": "n", "kd": "n"}
    arm: Arm
    kp: ArrayLike
    kd: ArrayLike
    model: str = "full"

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `pd_torque`, `model_torque` and `law_friction`, which sees the desired motion alone."""
        nominal = model_torque(arm, ref.q, ref.qd, ref.qdd, **model_data(params))
        nominal = self.add_friction(params, nominal, ref.q, ref.qd, ref)
        return pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"]) + nominal, state

    def friction_part(self, params: Values, tau: Any, q: Any, qd: Any, ref: Reference) -> Any:
        """Friction of the desired motion."""
        return super().friction_part(params, tau, ref.q, ref.qd, ref)
