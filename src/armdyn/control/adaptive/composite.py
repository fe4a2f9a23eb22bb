"""Composite adaptation: Slotine and Li's law that learns from its predictions of torques too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.prediction import empty_prediction, predict, predicted_estimate
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.protocol import Answer, Reference, Shortfall, Values
from armdyn.control.step import traced_step
from armdyn.control.theory.lyapunov import Lyapunov, quadratic
from armdyn.model.arm import Arm


@dataclass(frozen=True, eq=False)
class CompositeSlotineLi(SlotineLi):
    """Slotine and Li's law with an estimate that follows tracking and prediction errors.

        d phi/dt = Gamma (Y' s + W' R (r - W phi)),   R = weight / diag(K)

    W and r are the low-passed columns and torques of the motion (see `prediction`): no accelerations are measured. With
    V of `SlotineLi`, V' = -s' K s - (phi - phi_true)' W' R W (phi - phi_true): tracking as before, and smoother and
    faster learning, so that higher adaptation gains are possible. The torques asked for must be those exerted: lagging
    drives bias the estimate, and so do saturated ones unless `Guarded` limits the torques. The prediction's step is
    normalised by its strength.

    Parameters
    ----------
    unknowns, lam, k, gain, start, lower, upper, dead_zone, leak, normalize
        As in `SlotineLi`.
    weight : float
        Of predictions against tracking errors.
    smoothing : float
        Bandwidth of the low-pass [Hz].

    References
    ----------
    Slotine and Li (1989), Composite adaptive control of robot manipulators.
    """

    gain_shapes: ClassVar = {**SlotineLi.gain_shapes, "weight": "", "smoothing": ""}
    weight: ArrayLike = field(default=1.0, kw_only=True)
    smoothing: ArrayLike = field(default=5.0, kw_only=True)

    def init(self) -> dict[str, NDArray]:
        """The estimate and an empty prediction."""
        return {**super().init(), **empty_prediction(self.unknowns)}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: the torques of `SlotineLi`, and what predictions teach."""
        tau, after = super().step(arm, params, state, q, qd, ref, dt)
        new = predict(self.unknowns, params, state, q, qd, tau, dt)
        return tau, {"phi": predicted_estimate(after["phi"], state["phi"], new["W"], new["r"], params, dt), **new}

    def after_loss(self, state: Values) -> Values:
        """The next prediction has no sample before it."""
        return {**state, "started": 0 * state["started"]}

    def after_limits(self, params: Values, before: Values, after: Values, short: Shortfall, dt: Any) -> Values:
        """The estimate rests, and predictions are of the torques exerted."""
        return {**super().after_limits(params, before, after, short, dt), "tau_last": after["tau_last"] + short.torque}

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any, form: str = "standard") -> Lyapunov:
        """V and its rate along a run, as in `SlotineLi`, with what predictions add."""
        found = super().lyapunov(plant, truth, run, form)
        wrong = np.einsum("...iu,...u->...i", run.states["W"], run.states["phi"] - np.asarray(truth, float))
        R = np.diag(np.asarray(self.weight) / np.diagonal(np.asarray(self.k)))
        return found._replace(rate=found.rate - quadratic(R, wrong))
