"""Torques predicted with the estimate, low-passed: what adaptive laws learn from besides tracking errors.

    r = low-passed (tau - known),  W = low-passed Y(q, qd, qdd),   r = W phi_true

Accelerations are not measured. The mean acceleration of a period is the difference of velocities over it and belongs
to its middle; behind the low-pass this is, up to the square of the period, what integration by parts gives
(Slotine and Li 1989, Composite adaptive control of robot manipulators).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.protocol import Values
from armdyn.kinematics.motion import Symbol
from armdyn.trace.symbols import ca


def predict(unknowns: Unknowns, params: Values, state: Values, q: Any, qd: Any, tau: Any, dt: Any) -> dict[str, Any]:
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


def predicted_estimate(phi: Symbol, before: Symbol, W: Symbol, r: Symbol, params: Values, dt: Symbol) -> Symbol:
    """The estimate after a period of d phi/dt = gain W' R (r - W phi), R = weight / diag(K); see `learnt`.

    `phi` is the estimate changed by tracking errors already, `before` that at the sample.
    """
    R = params["weight"] / ca.diag(params["k"])
    strength = ca.dot(params["gain"], ca.mtimes((W * W).T, R))
    return learnt(phi, ca.mtimes(W.T, R * (r - ca.mtimes(W, before))), strength, params, dt)


def learnt(phi: Symbol, change: Symbol, strength: Symbol, params: Values, dt: Symbol) -> Symbol:
    """The estimate after a period of d phi/dt = gain * change, kept within its bounds.

    The step is normalised by 1 + dt strength, the strength being the trace of gain W' R W, so that it is a contraction
    however strong the data and however long the period.
    """
    changed = phi + dt * params["gain"] * change / (1 + dt * strength)
    return ca.fmax(ca.fmin(changed, params["upper"]), params["lower"])


def empty_prediction(unknowns: Unknowns) -> dict[str, NDArray]:
    """The state of a prediction at the start."""
    n, u = unknowns.arm.n, unknowns.count
    past = {"q_last": np.zeros(n), "qd_last": np.zeros(n), "tau_last": np.zeros(n), "started": np.zeros(1)}
    return {"W": np.zeros((n, u)), "r": np.zeros(n), **past}
