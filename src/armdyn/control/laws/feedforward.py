"""Nominal torques of the reference, and PD about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.laws.model import MODEL, ModelLaw, model_torque
from armdyn.control.laws.pd import pd_torque
from armdyn.control.protocol import Answer, Reference, Values
from armdyn.control.step import traced_step
from armdyn.model.arm import Arm


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
        nominal = model_torque(arm, ref.q, ref.qd, ref.qdd, **{name: params[name] for name in MODEL})
        nominal = self.compensated(params, nominal, ref.q, ref.qd, ref)
        return pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"]) + nominal, state

    def friction_part(self, params: Values, tau: Any, q: Any, qd: Any, ref: Reference) -> Any:
        """Friction of the desired motion."""
        return super().friction_part(params, tau, ref.q, ref.qd, ref)
