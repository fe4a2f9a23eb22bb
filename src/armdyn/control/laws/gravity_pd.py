"""PD with gravity compensated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.laws.pd import pd_torque
from armdyn.control.protocol import Answer, Law, Reference, Values, check_setting
from armdyn.dynamics.gravity import gravity_torque
from armdyn.model.arm import Arm


@dataclass(frozen=True, eq=False)
class GravityPD(Law):
    """PD and the model's gravity torques at the measured position.

        tau = kp (q_ref - q) + kd (qd_ref - qd) + g(q)

    With the right g, every set point is globally asymptotically stable for any kp, kd > 0 (Takegaki and Arimoto
    1981); moving references leave an error, since inertia and friction are not compensated.

    Parameters
    ----------
    arm : Arm
        The model that gravity is computed from.
    kp, kd : array_like, shape (..., n)
        Gains >= 0 [N m/rad, N m s/rad or N/m, N s/m].
    """

    shapes: ClassVar = {"kp": "n", "kd": "n", "theta": "10*n", "gravity": "3"}
    arm: Arm
    kp: ArrayLike
    kd: ArrayLike

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            check_setting(self, name)

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `pd_torque` and `gravity_torque`."""
        tau = pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"])
        return tau + gravity_torque(arm, q, theta=params["theta"], gravity=params["gravity"]), state
