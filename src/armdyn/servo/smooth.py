"""Positions, velocities and accelerations from samples, by polynomials fitted about each of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WINDOW_S = 0.16  # s: servos of low-cost arms answer within some 50 ms
FEWEST_SAMPLES = 7  # samples in a window


def smooth(t: NDArray, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Smoothed x (N, n), its rate and the rate of that, at times t (N,) that are about even."""
    dt = float(np.median(np.diff(t)))
    half = max(FEWEST_SAMPLES, 2 * round(WINDOW_S / dt / 2) + 1) // 2
    weights = np.linalg.pinv(np.vander(np.arange(-half, half + 1) * dt, 4, increasing=True))
    # Beyond its ends a motion goes on as if turned about them.
    ends = 2 * x[:1] - x[half:0:-1], 2 * x[-1:] - x[-2 : -half - 2 : -1]
    padded = np.concatenate([ends[0], x, ends[1]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0)
    position, rate, curve = (windows @ w for w in weights[:3])
    return position, rate, 2 * curve
