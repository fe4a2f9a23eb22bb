"""A law's step as one traced function of its declared parameters and state.

`@traced_step` above a law's `step` is all that a law needs to compute with numbers: the step is written over symbols,
and arrays run a kernel of the whole of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, wraps
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Answer, Law, Reference, Values
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca, is_symbol
from armdyn.trace.traced import Traced
from armdyn.trajectory.protocol import JointMotion

MOTION = ("q", "qd", "q_ref", "qd_ref", "qdd_ref")


class StepSubject:
    """Subject of the function of a law's step: the law's numbers by name, and the period [s]."""

    trace_sizes: ClassVar[Mapping[str, int]] = {}  # all shapes are numbers already

    def __init__(self, law: Law, period: float = 0.0) -> None:
        self.law, self.period, self.name = law, period, law.arm.name
        self.state = law.init()
        self.channels = _channel_shapes(law, period)
        self.bound = (*law.shapes, "dt")

    @cached_property
    def trace_key(self) -> str:
        """Key of what decides the formula."""
        return f"{type(self.law).__qualname__} {self.law.trace_key} {self.shapes}"

    @cached_property
    def params(self) -> dict[str, NDArray]:
        """The law's own parameters."""
        return self.law.params

    def is_own(self, params: Values) -> bool:
        """Whether parameters are the law's own ones, and no batch: then the function knows them already."""
        parameters = self.params
        return all(params[name] is value and value.shape == self.shapes[name] for name, value in parameters.items())

    def trace_data(self, name: str) -> NDArray:
        """A parameter of the law, or the period."""
        return np.asarray(self.period) if name == "dt" else self.params[name]

    def __repr__(self) -> str:
        return f"{type(self.law).__name__} at {1 / self.period:g} Hz of {self.law.arm!r}"

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all inputs: state, motion, channels, parameters, period."""
        motion = {name: (self.law.arm.n,) for name in MOTION}
        params = {name: self.law.core_shape(name) for name in self.law.shapes}
        return {**{name: x.shape for name, x in self.state.items()}, **motion, **self.channels, **params, "dt": ()}


def _channel_shapes(law: Law, period: float) -> dict[str, tuple[int, ...]]:
    """Return the shapes of what the law wants computed beforehand; it is asked about an arm at rest to find out."""
    still = np.zeros((2, law.arm.n))
    return {
        name: rows.shape[1:]
        for name, rows in law.channels(np.arange(2) * period, JointMotion(still, still, still)).items()
    }


def step_function(subject: StepSubject) -> Callable[..., Any]:
    """The law's step as a traced function of state, motion and channels, its parameters bound."""
    law, state, channels = subject.law, tuple(subject.state), tuple(subject.channels)
    params = tuple(law.shapes)

    def update(subject: Any, **values: Any) -> Any:
        channel_values = {name: values[name] for name in channels}
        ref = Reference(values["q_ref"], values["qd_ref"], values["qdd_ref"], channel_values)
        memory = {name: values[name] for name in state}
        gains = {name: values[name] for name in params}
        tau, after = law.step(law.arm, gains, memory, values["q"], values["qd"], ref, values["dt"])
        return (tau, *(after[name] for name in state)) if state else tau

    update.__doc__ = _describe(subject)
    # Kernels of a user's law are keyed by their graph.
    update.__module__ = __name__ if law.is_known else type(law).__module__
    kinds = inspect.Parameter
    parameters = [kinds("subject", kinds.POSITIONAL_OR_KEYWORD)]
    parameters += [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in (*state, *MOTION, *channels)]
    parameters += [kinds(name, kinds.KEYWORD_ONLY) for name in subject.bound]
    update.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    shapes = {name: ", ".join(map(str, shape)) for name, shape in subject.shapes.items()}
    returns = {"tau": shapes["q"], **{name: shapes[name] for name in state}}
    return Traced(update, shapes, returns).public()


def _describe(subject: StepSubject) -> str:
    """The text above the formula in C."""
    law = subject.law
    summary = inspect.cleandoc(type(law).__doc__ or "").split("\n")[0]
    return f"""One sample of {type(law).__name__}: {summary}

    Parameters
    ----------
    q, qd : array
        Measured positions and velocities [rad or m, /s].
    q_ref, qd_ref, qdd_ref : array
        Desired motion.
    {", ".join(subject.state) or "none"} : array
        State of the law before the sample, or after it.
    {", ".join((*subject.channels, *subject.bound))} : array
        See the law's description.

    Returns
    -------
    tau : array
        Torques for the next period.
    """


# -- numbers -------------------------------------------------------------------------------------------------


@lru_cache
def _function_of(law: Law, period: float) -> tuple[StepSubject, Callable[..., Any]]:
    subject = StepSubject(law, period)
    return subject, step_function(subject)


def _rest_if_lost(law: Law, state: Values, after: Values) -> Values:
    """The state after a sample: where it is no number, that after a loss, so that one bad sample does no lasting harm.

    A wrapper looks at what it adds alone: the law inside did so before.
    """
    added = getattr(law, "own_state", after)
    added_state = {name: ca.SX(after[name]) for name in after if name in added}
    varying = [ca.sum1(ca.vec(value)) for value in added_state.values() if not value.is_constant()]
    if not varying:
        return after
    is_finite = ca.fabs(ca.sum1(ca.vertcat(*varying))) < np.inf
    rest = law.after_loss(state)
    return {**after, **{name: ca.if_else(is_finite, value, rest[name]) for name, value in added_state.items()}}


def traced_step(step: Callable[..., Answer]) -> Callable[..., Answer]:
    """Let a law's `step` over symbols be called with arrays, leading axes being batches.

    A state that a sample would leave without numbers (a measurement that is NaN) rests instead, see `Law.after_loss`.
    """

    @wraps(step)
    def stepped(self: Law, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        if is_symbol(q):
            tau, after = step(self, arm, params, state, q, qd, ref, dt)
            return tau, _rest_if_lost(self, state, after)
        fixed = isinstance(dt, float)
        subject, function = _function_of(self, dt if fixed else 0.0)
        memory = [state[name] for name in subject.state]
        channels = [ref.channels[name] for name in subject.channels]
        parameters = (
            {} if fixed and subject.is_own(params) else {name: params[name] for name in subject.params} | {"dt": dt}
        )
        results = function(subject, *memory, q, qd, ref.q, ref.qd, ref.qdd, *channels, **parameters)
        if not memory:
            return results, {}
        return results[0], dict(zip(subject.state, results[1:], strict=True))

    return stepped
