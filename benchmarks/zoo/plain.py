"""The reference that every figure is a ratio to: plain least squares.

Base parameters by SVD; viscous friction, Coulomb friction as tanh(v / 0.02), offset and rotor per joint; positions
low-passed at 10 Hz, equations at 5 Hz, both without phase; joints weighed by the deviation of their torque.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn import Arm
from zoo.sensors import Table

STEP = 0.005  # s
EDGE = 100  # steps cut at either end
EVERY = 6  # of the steps is an equation


class Rows(NamedTuple):
    columns: NDArray  # (N, n, p)
    tau: NDArray  # (N, n)


def low(x: NDArray, corner: float, rate: float = 1 / STEP) -> NDArray:
    from scipy.signal import butter, sosfiltfilt

    if corner >= 0.45 * rate:
        return x
    flat = x.reshape(len(x), -1)
    sos = butter(4, corner, fs=rate, output="sos")
    out = sosfiltfilt(sos, flat, axis=0, padlen=min(len(x) - 1, int(3 * rate / corner)))
    return out.reshape(x.shape)


def rising(table: Table) -> Table:
    """Without samples whose stamp does not rise or whose readings repeat those before."""
    same = (np.diff(table.q, axis=0) == 0).all(axis=1) & (np.diff(table.tau, axis=0) == 0).all(axis=1)
    keep = np.r_[True, (np.diff(table.t) > 0) & ~same]
    return Table(*(None if x is None else x[keep] for x in table))  # type: ignore[arg-type]


def equations(arm: Arm, table: Table) -> Rows:
    from scipy.interpolate import CubicSpline

    t, q, tau, _ = rising(table)
    t = t - t[0]
    period = float(np.median(np.diff(t)))
    fine = min(period, STEP)
    grid = np.arange(0, t[-1], fine)
    if period > 1.2 * STEP:
        q = CubicSpline(t, q)(grid)
    else:
        q = np.stack([np.interp(grid, t, column) for column in q.T], axis=1)
    corner = min(10.0, 0.4 / period)
    q = low(q, corner, 1 / fine)
    v = np.gradient(q, fine, axis=0)
    a = low(np.gradient(v, fine, axis=0), corner, 1 / fine)
    tau = low(np.stack([np.interp(grid, t, column) for column in tau.T], axis=1), 40.0, 1 / fine)
    every = max(1, round(STEP / fine))
    q, v, a, tau = (x[::every] for x in (q, v, a, tau))
    eye = np.eye(arm.n)
    own = [x[:, :, None] * eye for x in (v, np.tanh(v / 0.02), np.ones_like(v), a)]
    rows = np.concatenate([armdyn.regressor(arm, q, v, a), *own], axis=2)
    return Rows(*(low(x, 5.0)[EDGE:-EDGE] for x in (rows, tau)))


def plain_errors(arm: Arm, train: tuple[Table, ...], test: Table) -> tuple[float, float]:
    """norm(tau - model) / norm(tau), both through 5 Hz, on the logs fitted to and on the test."""
    made = [equations(arm, table) for table in train]
    A, y = (np.concatenate([x[k][::EVERY] for x in made]) for k in (0, 1))
    weight = 1 / np.maximum(y.std(axis=0), 1e-9 * y.std() + 1e-300)
    B, b = (A * weight[:, None]).reshape(-1, A.shape[2]), (y * weight).ravel()
    length = np.linalg.norm(B, axis=0)
    gone = length < 1e-9 * length.max()
    length[gone] = 1.0
    R = np.linalg.qr(np.c_[np.where(gone, 0, B) / length, b], mode="r")
    U, S, V = np.linalg.svd(R[:, :-1], full_matrices=False)
    rank = int((1e-8 * S[0] < S).sum())
    x = V[:rank].T @ ((U[:, :rank].T @ R[:, -1]) / S[:rank]) / length
    other = equations(arm, test)
    return _error(A, y, x), _error(*other, x)


def _error(A: NDArray, y: NDArray, x: NDArray) -> float:
    return float(np.linalg.norm(y - A @ x) / np.linalg.norm(y))


def prediction_error(table: Table, t: NDArray, model: NDArray) -> float:
    """The same measure of a model's torques at times t, against the same readings: none that was sent again."""
    from scipy.signal import butter, filtfilt

    fresh = rising(table)
    times, tau, t = fresh.t - table.t[0], fresh.tau, t - t[0]
    grid = np.arange(0, min(times[-1], t[-1]), STEP)
    b, a = butter(4, 5.0 * 2 * STEP)
    both = []
    for x, y in ((times, tau), (t, model)):
        on = np.stack([np.interp(grid, x, column) for column in y.T], axis=1)
        both.append(filtfilt(b, a, on, axis=0)[EDGE:-EDGE])
    return float(np.linalg.norm(both[0] - both[1]) / np.linalg.norm(both[0]))
