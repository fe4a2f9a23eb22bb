"""A law behind a guard: measurements that are no numbers, references that jump, torques that are too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.control.formula import Answer, Arm, Law, Reference, SaturationExcess, Symbol, Values, ca, traced_step
from armdyn.control.laws.model import MODEL_SHAPES, model_data, model_torque
from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.settings import one_number
from armdyn.errors import ShapeError, check_choice, expect
from armdyn.frozen import PartOf

FALLBACKS = ("zero", "gravity")


def _finite(*vectors: Symbol) -> Symbol:
    """Whether all numbers are; NaN is not."""
    return ca.logic_all(ca.fabs(ca.vertcat(*vectors)) < np.inf)


def hold_measurement(q: Symbol, qd: Symbol, state: Values) -> tuple[Symbol, Symbol, Symbol]:
    """The measurement if all its numbers are finite, else the last good one, and how many were lost in a row."""
    good, lost = _finite(q, qd), state["lost"]
    held = ca.if_else(good, q, state["q_held"]), ca.if_else(good, qd, state["qd_held"])
    return *held, ca.if_else(good, 0, ca.if_else(lost < 0, lost, lost + 1))


def hold_reference(ref: Reference, state: Values, jump: Symbol, dt: Symbol) -> tuple[Reference, Symbol]:
    """The reference if it goes on from the last one, else the last position at rest, and for how many samples so.

    It goes on if the position lies no farther than `jump` [rad or m] from what the last one and the velocity lead to.
    """
    q_kept, jumped = state["q_kept"], state["jumped"]
    near = ca.logic_all(ca.fabs(ref.q - q_kept) - jump - ca.fabs(ref.qd) * dt <= 0)
    good = ca.logic_and(_finite(ref.q, ref.qd, ref.qdd), ca.logic_or(near, jumped < 0))
    none = ca.SX.zeros(q_kept.shape)
    used = ca.if_else(good, ref.q, q_kept), ca.if_else(good, ref.qd, none), ca.if_else(good, ref.qdd, none)
    return Reference(*used, ref.channels), ca.if_else(good, 0, ca.if_else(jumped < 0, jumped, jumped + 1))


def within(tau: Symbol, largest: Symbol) -> Symbol:
    """Torques within limits."""
    return ca.fmax(ca.fmin(tau, largest), -largest)


@dataclass(frozen=True, eq=False)
class Guarded(Wrapped):
    """Any law with defined behaviour when measurements fail, references jump or torques are beyond the drives.

    * Torques are limited to `limit`. The state `limited` counts for how many samples in a row some joint was; estimates
      of adaptive laws rest meanwhile, integrals unwind, and observers are told of the torques exerted.
    * A sample with NaN or infinity counts as lost: the law sees the last good measurement instead. The state `lost`
      counts how many were lost in a row, 0 while all is well. The law's own state rests meanwhile.
    * After more than `patience` lost samples, and before the first good one, the torques are zero: an arm without
      brakes falls under its own weight. With `fallback="gravity"` they are those of gravity and springs at the last
      good position (zero before the first good one): the arm floats, and goes on coasting if it moved. With `ramp`
      the last torque fades into either within that time instead of at once, so that brakes or friction take over
      gently. None of this is a safe stop by itself: measurements are gone, so nothing is controlled.
    * A reference that jumps by more than `jump`, or is no number, is rejected: the law rests at the last good
      one until the reference comes back to it. The state `jumped` counts the samples rejected in a row. Before the
      first good reference the torques are zero. Channels (gain tables) are passed on as they are.

    Parameters
    ----------
    law : Law
    patience : int
        Samples in a row that may be lost.
    limit : array_like, shape (n,), optional
        Largest torques; default the joints' effort limits.
    jump : array_like, shape (n,)
        How far a reference may be from where the last one led, between two samples [rad or m]; default any distance.
    fallback : {"zero", "gravity"}
        Torques without measurements.
    ramp : float
        Time in which the last torque fades into them [s].
    """

    positive: ClassVar = {"limit": "torques", "jump": "distances"}
    formula_options: ClassVar = ("fallback", "ramp")
    law: Law
    patience: ArrayLike = 5
    limit: ArrayLike | None = None
    jump: ArrayLike = np.inf
    fallback: str = "zero"
    ramp: float = 0.0

    def __post_init__(self) -> None:
        patience = as_floats(self.patience).reshape(-1)
        fits = patience.shape == (1,) and patience[0] >= 0
        expect(fits, "Guarded: patience", "a number of samples >= 0", self.patience)
        self._set(patience=patience)
        super().__post_init__()
        check_choice("Guarded", "fallback", self.fallback, FALLBACKS, ShapeError)
        one_number(self.ramp, "Guarded: ramp", "a time >= 0 in seconds", zero=True)

    @property
    def own_shapes(self) -> dict[str, str]:  # type: ignore[override]
        """The guard's numbers, and what gravity needs."""
        model = MODEL_SHAPES if self.fallback == "gravity" else {}
        return {"patience": "1", "largest": "n", "jump": "n", **model}

    largest = PartOf[NDArray]("limit", "The limit, under a name of its own among the parameters.")

    @property
    def own_state(self) -> dict[str, NDArray]:
        """The last good measurement and reference, how many of each were lost since, and for how long limits act."""
        n = self.arm.n
        measured = {"q_held": np.zeros(n), "qd_held": np.zeros(n), "lost": np.full(1, -1.0)}
        fading = {"tau_kept": np.zeros(n), "fading": np.zeros(1)} if self.ramp else {}
        return {**measured, "q_kept": np.zeros(n), "jumped": np.full(1, -1.0), "limited": np.zeros(1), **fading}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: measurement and reference held, the law inside, limits, and what follows a loss."""
        q, qd, lost = hold_measurement(q, qd, state)
        ref, jumped = hold_reference(ref, state, params["jump"], dt)
        tau, after = self.inner(params, state, q, qd, ref, dt)
        # No torques where they are no numbers, or once too many measurements are lost in a row.
        measured = ca.logic_and(ca.logic_and(lost >= 0, lost <= params["patience"]), jumped >= 0)
        use = ca.logic_and(measured, ca.fabs(tau) < np.inf)
        exerted = ca.if_else(use, within(tau, params["largest"]), 0)
        missing = ca.if_else(use, exerted - tau, 0)
        limited = ca.if_else(ca.logic_any(missing != 0), state["limited"] + 1, 0)
        learning = ca.logic_and(ca.logic_and(lost == 0, jumped >= 0), _finite(tau))
        resting = self.law.after_loss(state)
        working = self.law.after_limits(params, state, after, SaturationExcess(missing, limited), dt)
        memory = {name: ca.if_else(learning, working[name], resting[name]) for name in self.law.init()}
        supervisor = {"q_held": q, "qd_held": qd, "lost": lost, "q_kept": ref.q, "jumped": jumped, "limited": limited}
        tau, fading = self._without_measurement(params, state, exerted, q, lost, dt)
        return tau, {**memory, **supervisor, **fading}

    def _without_measurement(
        self, params: Values, state: Values, tau: Symbol, q: Symbol, lost: Symbol, dt: Symbol
    ) -> tuple[Symbol, dict[str, Symbol]]:
        """Torques, and what is kept of them: once too many measurements are lost in a row, the last ones fade out."""
        if self.fallback == "zero" and not self.ramp:
            return tau, {}
        target = still = 0 * tau
        if self.fallback == "gravity":  # that of the last good position, zero before there was one
            weight = model_torque(self.arm, q, still, still, **model_data(params))
            target = ca.if_else(lost < 0, still, within(weight, params["largest"]))
        gone = ca.logic_or(lost < 0, lost > params["patience"])
        if not self.ramp:
            return ca.if_else(gone, target, tau), {}
        since, tau_kept = ca.if_else(gone, state["fading"] + dt, 0), state["tau_kept"]
        faded = target + ca.fmax(1 - since / self.ramp, 0) * (tau_kept - target)
        return ca.if_else(gone, faded, tau), {"tau_kept": ca.if_else(gone, tau_kept, tau), "fading": since}
