"""PD control: springs and dampers between the arm and its reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.protocol import Answer, Law, Reference, Values, check_setting
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd, Vec
from armdyn.trace.shapes import Array
from armdyn.trace.traced import traced


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
        for name in self.shapes:
            check_setting(self, name)

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `pd_torque`."""
        return pd_torque(arm, q, qd, ref.q, ref.qd, params["kp"], params["kd"]), state
