"""Torques predicted with the estimate, low-passed: what adaptive laws learn from besides tracking errors.

    r = low-passed (tau - known),  W = low-passed Y(q, qd, qdd),   r = W phi_true

Accelerations are not measured. The mean acceleration of a period is the difference of velocities over it and belongs
to its middle; behind the low-pass this is, up to the square of the period, what integration by parts gives
(Slotine and Li 1989, Composite adaptive control of robot manipulators).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.laws.model import MODEL, MODEL_SHAPES
from armdyn.control.protocol import Values
from armdyn.kinematics.motion import Symbol
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

# Last measurement and torques, and whether there were any.
PAST = ("q_last", "qd_last", "tau_last", "started")


@traced(
    q="n", qd="n", q_last="n", qd_last="n", tau_last="n", started="1", W="n, u", r="n", smoothing="", dt="",
    **MODEL_SHAPES, returns={"W": "n, u", "r": "n"},
)  # fmt: skip
def filtered_columns(
    unknowns: Unknowns, q: Any, qd: Any, q_last: Any, qd_last: Any, tau_last: Any, started: Any, W: Any, r: Any,
    smoothing: Any, dt: Any, *, theta: Any, gravity: Any, drive: Any,
) -> Any:  # fmt: skip
    """Low-passed columns of the unknowns, and low-passed torques less what is known, at this sample.

    Parameters
    ----------
    unknowns : Unknowns
    q, qd, q_last, qd_last : array_like, shape (..., n)
        This measurement and the last [rad or m, /s].
    tau_last : array_like, shape (..., n)
        Torques exerted in between.
    started : array_like, shape (..., 1)
        0 at the first sample.
    W : array_like, shape (..., n, u)
    r : array_like, shape (..., n)
        At the last sample; zero at the start.
    smoothing : float
        Bandwidth of the low-pass [rad/s].
    dt : float
        Period [s].
    theta, gravity, drive : array_like, optional
        The known part of the model.

    Returns
    -------
    W : ndarray, shape (..., n, u)
    r : ndarray, shape (..., n)
    """
    data = {"theta": theta, "gravity": gravity, "drive": drive}
    Y, known = unknowns.torque((q + q_last) / 2, (qd + qd_last) / 2, (qd - qd_last) / dt, data)
    W = where_other(W, Y)
    new = ca.if_else(started > 0.5, 1 - ca.exp(-smoothing * dt), 0)
    return W + new * (Y - W), r + new * (tau_last - known - r)


def where_other(X: Symbol, other: Symbol) -> Symbol:
    """X, known to be zero where another matrix is (friction of a joint shows in that joint alone): fewer operations."""
    return ca.densify(ca.project(X, ca.sparsify(other).sparsity()))


@traced(
    phi="u", before="u", W="n, u", r="n", k="n, n", weight="", gain="u", lower="u", upper="u", dt="",
    returns={"phi": "u"},
)  # fmt: skip
def predicted_estimate(
    unknowns: Unknowns, phi: Any, before: Any, W: Any, r: Any, k: Any, weight: Any, gain: Any, lower: Any, upper: Any,
    dt: Any,
) -> Any:  # fmt: skip
    """The estimate after a period of d phi/dt = gain W' R (r - W phi), R = weight / diag(K); see `learnt`.

    Parameters
    ----------
    unknowns : Unknowns
    phi : array_like, shape (..., u)
        The estimate, changed by tracking errors already.
    before : array_like, shape (..., u)
        The estimate at the sample.
    W : array_like, shape (..., n, u)
    r : array_like, shape (..., n)
    k : array_like, shape (..., n, n)
    weight : float
    gain, lower, upper : array_like, shape (..., u)
    dt : float
        Period [s].

    Returns
    -------
    phi : ndarray, shape (..., u)
    """
    R = weight / ca.diag(k)
    strength = ca.dot(gain, ca.mtimes((W * W).T, R))
    return learnt(phi, ca.mtimes(W.T, R * (r - ca.mtimes(W, before))), strength, (gain, lower, upper), dt)


def learnt(phi: Symbol, change: Symbol, strength: Symbol, rules: tuple[Symbol, Symbol, Symbol], dt: Symbol) -> Symbol:
    """The estimate after a period of d phi/dt = gain * change, kept within its bounds.

    The step is normalised by 1 + dt strength, the strength being the trace of gain W' R W, so that it is a contraction
    however strong the data and however long the period.
    """
    gain, lower, upper = rules
    return ca.fmax(ca.fmin(phi + dt * gain * change / (1 + dt * strength), upper), lower)


def empty_prediction(unknowns: Unknowns) -> dict[str, NDArray]:
    """The state of a prediction at the start."""
    n, u = unknowns.arm.n, unknowns.count
    past = {"q_last": np.zeros(n), "qd_last": np.zeros(n), "tau_last": np.zeros(n), "started": np.zeros(1)}
    return {"W": np.zeros((n, u)), "r": np.zeros(n), **past}


def predict(unknowns: Unknowns, params: Values, state: Values, q: Any, qd: Any, tau: Any, dt: Any) -> Mapping[str, Any]:
    """The state of a prediction after a sample at which the torques tau are asked for."""
    model = {name: params[name] for name in MODEL}
    past = {name: state[name] for name in PAST}
    smoothing = 2 * np.pi * params["smoothing"]
    W, r = filtered_columns(unknowns, q, qd, W=state["W"], r=state["r"], smoothing=smoothing, dt=dt, **past, **model)
    return {"W": W, "r": r, "q_last": q, "qd_last": qd, "tau_last": tau, "started": 0 * state["started"] + 1}
