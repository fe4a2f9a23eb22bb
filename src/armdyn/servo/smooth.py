"""Positions, velocities and accelerations from samples, by polynomials fitted about each of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WINDOW_S = 0.16  # s: servos of low-cost arms answer within some 50 ms
FEWEST_SAMPLES = 7  # samples in a window


def smooth(t: NDArray, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Smoothed x (N, n), its rate and the rate of that, at times t (N,) that are about even."""
    from scipy.signal import savgol_filter

    dt = float(np.median(np.diff(t)))
    half = max(FEWEST_SAMPLES, 2 * round(WINDOW_S / dt / 2) + 1) // 2
    # Beyond its ends a motion goes on as if turned about them.
    padded = np.pad(x, ((half, half), (0, 0)), mode="reflect", reflect_type="odd")
    q, qd, qdd = (savgol_filter(padded, 2 * half + 1, 3, k, dt, axis=0)[half:-half] for k in range(3))
    return q, qd, qdd
