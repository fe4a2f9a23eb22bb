"""Nominal torques of the reference, and PD about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.laws.model import MODEL, MODEL_SHAPES, model_torque
from armdyn.control.laws.pd import pd_torque
from armdyn.control.protocol import Answer, Law, Reference, Values, checked
from armdyn.model.arm import Arm


@dataclass(frozen=True, eq=False)
class FeedforwardPD(Law):
    """The model's torques of the reference motion, and PD for what is left.

        tau = M(q_ref) qdd_ref + C(q_ref, qd_ref) qd_ref + g(q_ref) + kp e + kd ed

    The nominal torques do not depend on measurements, so noise and delay act through kp and kd alone. Stable near
    the reference if kp outweighs how gravity and velocity torques change with position.

    Parameters
    ----------
    arm : Arm
        The model.
    kp, kd : array_like, shape (..., n)
        Gains >= 0 [N m/rad, N m s/rad or N/m, N s/m].

    References
    ----------
    Eindhoven (1987), chapter 5; Kapadia, section 6.3.
    """

    shapes: ClassVar = {"kp": "n", "kd": "n", **MODEL_SHAPES}
    arm: Arm
    kp: ArrayLike
    kd: ArrayLike

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            checked(self, name)

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `pd_torque` and `model_torque`."""
        tau = pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"])
        return tau + model_torque(arm, ref.q, ref.qd, ref.qdd, **{name: params[name] for name in MODEL}), state
