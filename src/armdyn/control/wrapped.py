"""Laws that add something to another law: its torques changed, its parameters and state kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray

from armdyn.control.protocol import Law, Values
from armdyn.errors import ShapeError, shown
from armdyn.model.arm import Arm
from armdyn.trajectory.protocol import JointMotion


class Wrapped(Law):
    """Base of laws with a field `law`; names of parameters and state must differ from the inner law's."""

    own_shapes: ClassVar[Mapping[str, str]] = {}
    law: Law

    def __post_init__(self) -> None:
        if not isinstance(self.law, Law):
            raise ShapeError(f"{type(self).__name__}: expected a control law, got {shown(self.law)}")
        if set(self.own_state) & set(self.law.init()):
            raise ShapeError(f"{type(self).__name__}: the law inside is one already")

    @property
    def arm(self) -> Arm:  # type: ignore[override]
        """The inner law's model."""
        return self.law.arm

    @property
    def shapes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Those of the inner law and those added."""
        return {**self.law.shapes, **self.own_shapes}

    @property
    def params(self) -> dict[str, NDArray]:
        """Those of the inner law and those added."""
        own = {k: getattr(self, k) if hasattr(self, k) else self.arm.trace_data(k) for k in self.own_shapes}
        return {**own, **self.law.params}

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """The inner law's."""
        return self.law.trace_sizes

    @property
    def trace_key(self) -> str:
        """The inner law's, and its kind."""
        return f"{type(self.law).__qualname__} {self.law.trace_key}"

    @property
    def is_known(self) -> bool:
        """Whether both are armdyn's own."""
        return super().is_known and self.law.is_known

    @property
    def own_state(self) -> dict[str, NDArray]:
        """What is added to the inner law's state."""
        return {}

    def init(self) -> dict[str, NDArray]:
        """State of the inner law, and what is added."""
        return {**self.law.init(), **self.own_state}

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """The inner law's."""
        return self.law.channels(t, motion)

    def inner(self, params: Values, state: Values, q: Any, qd: Any, ref: Any, dt: Any) -> tuple[Any, dict[str, Any]]:
        """The inner law's answer, with a state that may be added to."""
        names = self.law.init()
        tau, after = self.law.step(self.law.arm, params, {name: state[name] for name in names}, q, qd, ref, dt)
        return tau, dict(after)
