"""Friction compensated by the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.protocol import Answer, Law, Reference, Values
from armdyn.control.settings import one_number
from armdyn.dynamics.friction import friction_torque
from armdyn.model.arm import Arm
from armdyn.model.quantities import FRICTION_NUMBERS


@dataclass(frozen=True, eq=False)
class FrictionFeedforward(Wrapped):
    """Any law with the model's friction of the desired motion added to its torques.

        tau = tau_law + friction(q_ref, qd_ref),  tanh(qd_ref / width) standing for the sign of velocities

    What is added depends on no measurement, so it closes no loop and cannot cause a limit cycle, however wrong the
    model; compensating with the sign of measured velocities can. A joint that shall rest gets the offset alone.
    Friction is compensated once: a law inside that would do it itself leaves it to this one.

    Parameters
    ----------
    law : Law
        Its model's friction is used.
    width : float
        Velocity below which dry friction fades out [rad/s or m/s].
    """

    own_shapes: ClassVar = {"friction": FRICTION_NUMBERS}
    formula_options: ClassVar = ("width",)
    law: Law
    width: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "law", self.law.without_friction())
        one_number(self.width, "FrictionFeedforward: width", "a velocity > 0")

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `friction_torque`."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        return tau + friction_torque(arm, ref.q, ref.qd, width=self.width, friction=params["friction"]), after
