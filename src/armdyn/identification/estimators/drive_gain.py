"""Drive gains from currents: two logs of one motion programme, without and with a payload of known mass.

Currents alone fix torques only up to a factor per joint. A payload whose mass is known sets the scale
(Gautier, Briot 2014): [Y, -diag(i)] (x, gains) = 0, and the payload's mass is on the right-hand side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError


class Gains(NamedTuple):
    """Torque a unit of current, for each joint."""

    gains: NDArray  # (n,)
    std: NDArray  # (n,), for independent residuals
    x: NDArray  # (p,) parameters of the arm


def drive_gains(free: tuple[NDArray, NDArray], loaded: tuple[NDArray, NDArray], load: tuple[NDArray, NDArray]) -> Gains:
    """Gains and parameters that agree with both logs.

    Parameters
    ----------
    free, loaded : (Y, current)
        Regressors (N, n, p) of the arm and measured currents (N, n), without and with the payload.
    load : (Y, known)
        Regressor (N, n, k) of the payload along the loaded log, and torque (N, n) of what is known of it; unknown
        parameters of the payload have columns in the former, the known mass's torque is the latter.
    """
    (Yf, cf), (Yl, cl), (Yp, known) = free, loaded, load
    n, p, k = Yf.shape[1], Yf.shape[2], Yp.shape[2]
    if Yl.shape[1:] != (n, p) or Yp.shape[:2] != Yl.shape[:2] or known.shape != cl.shape:
        raise ShapeError(where="drive_gains", expected="regressors and currents of matching shapes")
    rows = []
    for Y, current, extra in ((Yf, cf, np.zeros((*cf.shape, k))), (Yl, cl, Yp)):
        rows.append(np.concatenate([Y, -current[..., None] * np.eye(n), extra], axis=2).reshape(-1, p + n + k))
    A = np.vstack(rows)
    b = np.concatenate([np.zeros(cf.size), -known.ravel()])
    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    x = np.linalg.lstsq(A / scale, b, rcond=None)[0] / scale
    e = b - A @ x
    covariance = float(e @ e) / max(len(e) - len(x), 1) * np.linalg.pinv((A / scale).T @ (A / scale), hermitian=True)
    std = np.sqrt(np.maximum(np.diag(covariance), 0.0)) / scale
    return Gains(x[p : p + n], std[p : p + n], x[:p])
