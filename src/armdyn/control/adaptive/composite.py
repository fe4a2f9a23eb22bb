"""Composite adaptation: Slotine and Li's law that learns from its predictions of torques too.

    r = low-passed (tau - known),  W = low-passed Y(q, qd, qdd),   r = W phi_true

Accelerations are not measured. The mean acceleration of a period is the difference of velocities over it and belongs
to its middle; behind the low-pass this is, up to the square of the period, what integration by parts gives
(Slotine and Li 1989, Composite adaptive control of robot manipulators).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.adaptive.unknowns import AdaptiveParameters
from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.theory.lyapunov import Lyapunov, quadratic


def predict(
    unknowns: AdaptiveParameters, params: Values, state: Values, q: Any, qd: Any, tau: Any, dt: Any
) -> dict[str, Any]:
    """The state of a prediction after a sample at which the torques tau are asked for.

    Columns W and torques r are low-passed with the bandwidth `smoothing` [Hz]; at the first sample they rest.
    """
    q_last, qd_last = state["q_last"], state["qd_last"]
    Y, known = unknowns.torque((q + q_last) / 2, (qd + qd_last) / 2, (qd - qd_last) / dt, params)
    W, r = where_other(state["W"], Y), state["r"]
    new = ca.if_else(state["started"] > 0.5, 1 - ca.exp(-2 * np.pi * params["smoothing"] * dt), 0)
    W, r = W + new * (Y - W), r + new * (state["tau_last"] - known - r)
    return {"W": W, "r": r, "q_last": q, "qd_last": qd, "tau_last": tau, "started": ca.SX(1)}


def where_other(X: Symbol, other: Symbol) -> Symbol:
    """X, known to be zero where another matrix is (friction of a joint shows in that joint alone): fewer operations."""
    return ca.densify(ca.project(X, ca.sparsify(other).sparsity()))


def learning_step(phi: Symbol, change: Symbol, strength: Symbol, params: Values, dt: Symbol) -> Symbol:
    """The estimate after a period of d phi/dt = gain * change, kept within its bounds.

    The step is normalised by 1 + dt strength, the strength being the trace of gain W' R W, so that it is a contraction
    however strong the data and however long the period.
    """
    changed = phi + dt * params["gain"] * change / (1 + dt * strength)
    return ca.fmax(ca.fmin(changed, params["upper"]), params["lower"])


@dataclass(frozen=True, eq=False)
class CompositeSlotineLi(SlotineLi):
    """Slotine and Li's law with an estimate that follows tracking and prediction errors.

        d phi/dt = Gamma (Y' s + W' R (r - W phi)),   R = weight / diag(K)

    W and r are the low-passed columns and torques of the motion (see `predict`): no accelerations are measured. With
    V of `SlotineLi`, V' = -s' K s - (phi - phi_true)' W' R W (phi - phi_true): tracking as before, and smoother and
    faster learning, so that higher adaptation gains are possible. The torques asked for must be those exerted: lagging
    drives bias the estimate, and so do saturated ones unless `Guarded` limits the torques. The prediction's step is
    normalised by its strength.

    Parameters
    ----------
    unknowns, lam, k, gain, start, lower, upper, dead_zone, leak, normalize
        As in `SlotineLi`.
    weight : float
        Weight of predictions against tracking errors.
    smoothing : float
        Bandwidth of the low-pass [Hz].

    References
    ----------
    Slotine and Li (1989), Composite adaptive control of robot manipulators.
    """

    gain_shapes: ClassVar = {**SlotineLi.gain_shapes, "weight": "", "smoothing": ""}
    state_shapes: ClassVar = {
        "W": "n, u", "r": "n", "q_last": "n", "qd_last": "n", "tau_last": "n", "started": "1"
    }  # fmt: skip
    torque_states: ClassVar = ("tau_last",)
    begun_states: ClassVar = ("started",)
    weight: ArrayLike = field(default=1.0, kw_only=True)
    smoothing: ArrayLike = field(default=5.0, kw_only=True)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: the torques of `SlotineLi`, and what predictions teach."""
        tau, after = super().step(arm, params, state, q, qd, ref, dt)
        new = predict(self.unknowns, params, state, q, qd, tau, dt)
        # d phi/dt = gain W' R (r - W phi), R = weight / diag(K)
        W, R = new["W"], params["weight"] / ca.diag(params["k"])
        strength = ca.dot(params["gain"], ca.mtimes((W * W).T, R))
        change = ca.mtimes(W.T, R * (new["r"] - ca.mtimes(W, state["phi"])))
        return tau, {"phi": learning_step(after["phi"], change, strength, params, dt), **new}

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any, form: str = "standard") -> Lyapunov:
        """V and its rate along a run, as in `SlotineLi`, with what predictions add."""
        function = super().lyapunov(plant, truth, run, form)
        wrong = np.einsum("...iu,...u->...i", run.states["W"], run.states["phi"] - np.asarray(truth, float))
        R = np.diag(np.asarray(self.weight) / np.diagonal(np.asarray(self.k)))
        return function._replace(rate=function.rate - quadratic(R, wrong))
