"""What every control law is: named parameters, a state, and a step over arrays or symbols.

    tau, state = law.step(arm, params, state, q, qd, ref, dt)

`step` calls traced formulas only, so that it computes with numbers, and a whole closed loop with it becomes
one kernel. `arm` is the law's own model, which need not be the plant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.settings import as_numbers
from armdyn.errors import ShapeError, expect, quote
from armdyn.frozen import Frozen, PartOf
from armdyn.model.arm import Arm
from armdyn.trace.shapes import evaluate, text
from armdyn.trace.symbols import ca
from armdyn.trajectory.protocol import JointMotion

Values = Mapping[str, Any]
Answer = tuple[Any, Values]  # torques, and the state after the sample


class Reference(NamedTuple):
    """The desired motion at one instant, each (..., n), and the channels that a law asked for."""

    q: Any
    qd: Any
    qdd: Any
    channels: Values = {}  # noqa: RUF012 - never written to


class SaturationExcess(NamedTuple):
    """Torque that saturation removed (n,), and whether it did for some joint, as symbols."""

    torque: Any
    any: Any


class Law(Frozen, ABC):
    """Base of control laws; a law is a frozen dataclass with the field `arm`, its model.

    Attributes
    ----------
    shapes : mapping of str to str
        Names and shapes (such as `"n"`) of the parameters; each is an attribute of the law, or bound from its
        model (`theta`, `gravity`, `friction`, `drive`). Values may have leading batch axes.
    """

    shapes: ClassVar[Mapping[str, str]] = {}
    state_shapes: ClassVar[Mapping[str, str]] = {}  # of the state, which is zero at the start
    senses: ClassVar[tuple[str, ...]] = ()  # channels that sensors fill: "wrench"
    formula_options: ClassVar[tuple[str, ...]] = ()  # fields that decide the formula of `step`
    learnt_states: ClassVar[tuple[str, ...]] = ()  # rest while limits act: errors that limits leave teach nothing
    torque_states: ClassVar[tuple[str, ...]] = ()  # torques asked for, which limits make those exerted
    impulse_states: ClassVar[tuple[str, ...]] = ()  # the same times the period
    begun_states: ClassVar[tuple[str, ...]] = ()  # flags of a sample before, cleared when a measurement is lost
    arm: Arm

    subject = PartOf[Any]("arm", "Owner of the sizes and data of the formula: the arm, or what is known of it.")
    trace_sizes = PartOf[Mapping[str, int]]("subject.trace_sizes", "Sizes that the parameters' shapes may mention.")
    models_friction = PartOf[bool]("compensates_friction", "Whether torques compensate friction, known or estimated.")

    @property
    def params(self) -> dict[str, NDArray]:
        """The parameters by name, leading axes being batches of rollouts."""
        return {
            name: np.asarray(getattr(self, name), float) if hasattr(self, name) else self.subject.trace_data(name)
            for name in self.shapes
        }

    def core_shape(self, name: str) -> tuple[int, ...]:
        """Shape of one parameter without batch axes."""
        return evaluate(self.shapes[name], self.trace_sizes)

    @property
    def trace_key(self) -> str:
        """Key of what decides the formula of `step` besides the law's type and its shapes; kernels are keyed by it."""
        return f"{self.subject.trace_key}{self.option_key}"

    @property
    def option_key(self) -> str:
        """The options that decide the formula, with their values."""
        return "".join(f" {name} {getattr(self, name)!r}" for name in self.formula_options)

    @property
    def is_known(self) -> bool:
        """Whether armdyn's own text is all that `step` runs, so that kernels need not be keyed by their graph."""
        return type(self).__module__.split(".")[0] == "armdyn"

    @property
    def compensates_friction(self) -> bool:
        """Whether the torques compensate friction of the model's joints."""
        return False

    def without_friction(self) -> Law:
        """The same law, with friction left to others; an error if it cannot be."""
        if self.compensates_friction:
            cause = f"{type(self).__name__} compensates friction already"
            raise ShapeError(cause, remedy="leave FrictionFeedforward out")
        return self

    def friction_part(self, params: Values, tau: Any, q: Any, qd: Any, ref: Reference) -> Any:
        """The friction that is part of the torques tau (symbols), for wrappers that must not count it twice."""
        return ca.SX.zeros(self.arm.n)

    def init(self) -> dict[str, NDArray]:
        """The state at the start of a run, by name: zeros of `state_shapes`, unless the law begins otherwise."""
        return {name: np.zeros(evaluate(shape, self.trace_sizes)) for name, shape in self.state_shapes.items()}

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """Inputs that the law needs computed beforehand for all samples of a reference, each (T, ...)."""
        return {}

    @abstractmethod
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """Torques (..., n) for the next period and the state after it.

        Parameters
        ----------
        arm : Arm
            The law's model.
        params, state : mapping
            As `params` and `init()` give them.
        q, qd : array_like or symbol, shape (..., n)
            What the sensors show [rad or m, /s].
        ref : Reference
        dt : float or symbol
            Period of the controller [s].
        """

    def after_loss(self, state: Values) -> Values:
        """The state after a sample without a measurement: as it was, but for memories of the sample before."""
        return {**state, **{name: 0 * state[name] for name in self.begun_states}}

    def after_limits(self, params: Values, before: Values, after: Values, short: SaturationExcess, dt: Any) -> Values:
        """The state after a sample whose torques were not exerted in full; `before` and `after` as without limits."""
        limited = short.any > 0.5
        resting = {name: ca.if_else(limited, before[name], after[name]) for name in self.learnt_states}
        exerted = {name: after[name] + short.torque for name in self.torque_states}
        impulses = {name: after[name] + short.torque * dt for name in self.impulse_states}
        return {**after, **resting, **exerted, **impulses}

    def __call__(self, t: float, q: ArrayLike, qd: ArrayLike, ref: Reference) -> NDArray:
        """Torques of a law without state at one instant, for laws used as plain functions."""
        if self.init():
            raise ShapeError(f"{type(self).__name__} has a state", remedy="call its step")
        return self.step(self.arm, self.params, {}, q, qd, ref, 0.0)[0]


def nested_laws(law: Law) -> list[Law]:
    """A law and the laws inside it, the outermost first."""
    inner = getattr(law, "law", None)
    return [law, *nested_laws(inner)] if isinstance(inner, Law) else [law]


def check_setting(law: Law, name: str, positive: bool = True, finite: bool = True) -> None:
    """Make a parameter of a frozen law a read-only array of its shape; one number serves all joints."""
    where = f"{type(law).__name__}: {name}"
    expect(isinstance(law.arm, Arm), type(law).__name__, "an arm", law.arm)
    array, core = as_numbers(getattr(law, name), where), law.core_shape(name)
    if array.ndim == 0:
        array = np.full(core, float(array))
    if array.shape[max(array.ndim - len(core), 0) :] != core:
        raise ShapeError(where=where, expected=f"shape {text(core)} for arm '{law.arm.name}'", got=array.shape)
    if np.isnan(array).any() or (finite and np.isinf(array).any()):
        raise ShapeError(where=where, expected=f"{'finite ' if finite else ''}numbers", got=quote(getattr(law, name)))
    if positive and (array < 0).any():
        joint = law.arm.coordinate_names[int(np.argwhere(array < 0)[0][-1])] if core == (law.arm.n,) else "?"
        raise ShapeError(where=where, expected="gains >= 0", got=f"{array.min():g} for joint '{joint}'")
    law._set(**{name: array})
