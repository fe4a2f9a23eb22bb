"""Laws that add something to another law: its torques changed, its parameters and state kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import as_floats
from armdyn.control.formula import Answer, Arm, Law, Reference, SaturationExcess, Values, check_setting
from armdyn.control.settings import one_number
from armdyn.dynamics.friction import friction_torque
from armdyn.errors import ShapeError, expect
from armdyn.frozen import PartOf
from armdyn.model.quantities import FRICTION_NUMBERS
from armdyn.trajectory.protocol import JointMotion


class Wrapped(Law):
    """Base of laws with a field `law`; names of parameters and state must differ from the inner law's."""

    own_shapes: ClassVar[Mapping[str, str]] = {}
    positive: ClassVar[Mapping[str, str]] = {}  # fields that are numbers > 0 of all joints, and what these are
    law: Law

    def __post_init__(self) -> None:
        expect(isinstance(self.law, Law), type(self).__name__, "a control law", self.law)
        if shared := sorted(set(self.own_state) & set(self.law.init())):
            cause = f"the law inside adds this already (both keep {', '.join(shared)})"
            raise ShapeError(cause, where=type(self).__name__, remedy="wrap it once", names=shared)
        for name, what in self.positive.items():
            _check_positive(self, name, what)
        for name in self.own_shapes:
            if name in vars(self) and name not in self.positive:
                check_setting(self, name)

    arm = PartOf[Arm]("law.arm", "The inner law's model.")

    @property
    def shapes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Those of the inner law and those added."""
        return {**self.law.shapes, **self.own_shapes}

    senses = PartOf[tuple[str, ...]]("law.senses", "Sensors that the inner law needs.")

    @property
    def params(self) -> dict[str, NDArray]:
        """Those of the inner law and those added."""
        added = {k: getattr(self, k) if hasattr(self, k) else self.arm.trace_data(k) for k in self.own_shapes}
        return {**added, **self.law.params}

    trace_sizes = PartOf[Mapping[str, int]]("law.trace_sizes", "The inner law's.")

    @property
    def trace_key(self) -> str:
        """The inner law's, its kind, and what is added."""
        return f"{type(self.law).__qualname__} {self.law.trace_key}{self.option_key}"

    @property
    def is_known(self) -> bool:
        """Whether both are armdyn's own."""
        return super().is_known and self.law.is_known

    compensates_friction = PartOf[bool]("law.compensates_friction", "Whether the inner law does.")
    models_friction = PartOf[bool]("law.models_friction", "Whether the inner law does.")

    def without_friction(self) -> Law:
        """The same around the inner law without friction."""
        return replace(self, law=self.law.without_friction())  # type: ignore[type-var]

    def friction_part(self, params: Values, tau: Any, q: Any, qd: Any, ref: Any) -> Any:
        """The inner law's."""
        return self.law.friction_part(params, tau, q, qd, ref)

    @property
    def own_state(self) -> dict[str, NDArray]:
        """State that is added to the inner law's."""
        return super().init()

    def init(self) -> dict[str, NDArray]:
        """State of the inner law, and what is added."""
        return {**self.law.init(), **self.own_state}

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """The inner law's."""
        return self.law.channels(t, motion)

    def after_loss(self, state: Values) -> Values:
        """The inner law's; what is added rests, but for its own memories of the sample before."""
        return super().after_loss(self.law.after_loss(state))

    def after_limits(self, params: Values, before: Values, after: Values, short: SaturationExcess, dt: Any) -> Values:
        """The inner law's; of what is added, only what learns rests."""
        return super().after_limits(params, before, self.law.after_limits(params, before, after, short, dt), short, dt)

    def inner(self, params: Values, state: Values, q: Any, qd: Any, ref: Any, dt: Any) -> tuple[Any, dict[str, Any]]:
        """The inner law's answer, with a state that may be added to."""
        names = self.law.init()
        tau, after = self.law.step(self.law.arm, params, {name: state[name] for name in names}, q, qd, ref, dt)
        return tau, dict(after)


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


def _check_positive(law: Wrapped, name: str, what: str) -> None:
    """Make a field n numbers > 0, perhaps infinite; one serves all joints, None means their largest torques."""
    value, n = getattr(law, name), law.arm.n
    array = as_floats(law.arm.effort_limits if value is None else value)
    fits = array.shape in ((), (n,)) and (array > 0).all()
    expect(fits, f"{type(law).__name__}: {name}", f"{what} > 0, one number or {n}", value)
    law._set(**{name: np.array(np.broadcast_to(array, n))})
