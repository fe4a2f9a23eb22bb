"""A first guess: the equations of servos are linear in ratios to the stiffness, once the delay is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.identification.logs.log import interpolate
from armdyn.servo.log import ServoSegment, smooth
from armdyn.servo.parameters import (
    FLOORS,
    MAX_DELAY_S,
    MAX_VALUES,
    MIN_VALUES,
    NAMES,
    ROWS,
    STRIBECK_VELOCITY,
    ParameterLayout,
)

DELAYS_S = np.linspace(0.0, 0.75 * MAX_DELAY_S, 19)


def first_guess(space: ParameterLayout, pieces: Sequence[ServoSegment], moving: NDArray) -> NDArray:
    """A vector of parameters from the regression of each joint that moves; the others are as those are on average."""
    from scipy.optimize import nnls

    n = space.arm.n
    columns, errors = _equations(space, pieces)
    table = np.zeros((ROWS, n))
    for j in np.flatnonzero(moving):
        fits = [nnls(columns[:, :, j].T, error[:, j]) for error in errors]  # ratios >= 0, and the error left
        best = int(np.argmin([cost for _, cost in fits]))
        table[:4, j] = fits[best][0]
        table[NAMES.index("delay"), j] = DELAYS_S[best]
    good = table[:4, moving]
    usual = np.median(np.where(good > 0, good, np.nan), axis=1) if good.size else np.zeros(4)
    usual = np.where(np.isnan(usual), FLOORS[:4], usual)
    if not np.isfinite(usual[0]) or usual[0] <= 0:
        usual[0] = 0.05
    # What gravity hardly shows comes out anywhere: no further from the usual than a factor of four.
    table[0] = np.clip(np.where(moving, table[0], usual[0]), usual[0] / 4, usual[0] * 4)
    table[1:4, ~moving] = usual[1:, None]
    table[4] = np.where(moving, table[4], np.median(table[4, moving]) if moving.any() else 0.0)
    table[1:5] = np.maximum(table[1:5], FLOORS[1:5, None])  # from zero a search takes long
    return space.vector(np.clip(table, MIN_VALUES[:, None], MAX_VALUES[:, None]))


def _equations(space: ParameterLayout, pieces: Sequence[ServoSegment]) -> tuple[NDArray, list[NDArray]]:
    """Columns (4, N, n) of 1/kp, Ia/kp, (kd + fv)/kp and fc/kp, and the errors of position (N, n) for every delay."""
    columns: list[NDArray] = []
    errors: list[list[NDArray]] = [[] for _ in DELAYS_S]
    for piece in pieces:
        t = np.arange(piece.t[0], piece.t[-1], piece.dt)
        q, qd, qdd = smooth(t, interpolate(t, piece.t, piece.q))
        theta = space.theta + (0.0 if piece.payload is None else piece.payload)
        tau = inverse_dynamics(space.arm, q, qd, qdd, theta=theta)
        columns.append(np.stack([tau, qdd, qd, np.tanh(qd / STRIBECK_VELOCITY)]))
        for rows, delay in zip(errors, DELAYS_S, strict=True):
            sent, _, _ = smooth(t, piece.sent_at(t - delay))
            rows.append(sent - q)
    return np.concatenate(columns, axis=1), [np.concatenate(rows) for rows in errors]
