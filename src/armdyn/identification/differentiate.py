"""Velocities and accelerations from measured positions.

Zero-phase Butterworth low-pass and central differences are the default; how hard to smooth is found from the
data by generalised cross-validation. `kalman.py` holds the filter of Kapadia's thesis.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ShapeError

ORDER = 4
MOST_JUDGED = 4_000  # samples by which smoothing is judged, from the middle
METHODS = ("butterworth", "kalman", "savgol", "spline")


class Motion(NamedTuple):
    """Smoothed positions and their derivatives."""

    q: NDArray  # (N, n)
    qd: NDArray
    qdd: NDArray
    cutoff: float  # where positions are halved (-6 dB) [Hz]


def differentiate(
    q: ArrayLike, dt: float, *, method: str = "butterworth", cutoff: float | None = None, lowest: float = 0.0
) -> Motion:
    """Smoothed positions, velocities and accelerations, without delay.

    Parameters
    ----------
    q : array_like, shape (N, n)
        Positions at even times [rad or m].
    dt : float
        Time between samples [s].
    method : {"butterworth", "kalman", "savgol", "spline"}
        Zero-phase low-pass and central differences, a fixed-interval Kalman smoother, local cubics, or a smoothing
        spline.
    cutoff : float, optional
        Where positions are halved [Hz]; default by cross-validation.
    lowest : float
        The least cutoff that may be chosen [Hz].

    Returns
    -------
    Motion
    """
    q = np.asarray(q, float)
    if q.ndim != 2 or len(q) < 12:
        raise ShapeError(f"differentiate: expected positions of shape (N >= 12, n), got {q.shape}")
    if method not in METHODS:
        raise ArmdynError(f"differentiate: expected method one of {', '.join(METHODS)}, got {method!r}")
    highest = 0.4 / dt
    if cutoff is None:
        cutoff = best_cutoff(q, dt, lowest)
    cutoff = float(np.clip(cutoff, min(lowest, highest), highest))
    if method == "kalman":
        from armdyn.identification.kalman import smooth

        return smooth(q, dt, cutoff)
    return {"savgol": _savgol, "spline": _spline, "butterworth": _butterworth}[method](q, dt, cutoff)


def best_cutoff(q: NDArray, dt: float, lowest: float = 0.0) -> float:
    """The cutoff that predicts left-out positions best (generalised cross-validation) [Hz].

    For a linear smoother with centre tap h the left-out residual is the residual over 1 - h. Joints vote by
    their residuals relative to their own noise; at equal merit the lower cutoff wins.
    """
    lowest = max(lowest, 4.0 / (len(q) * dt), 0.5)
    first = max(0, (len(q) - MOST_JUDGED) // 2)
    q = q[first : first + MOST_JUDGED]
    candidates = np.geomspace(lowest, max(0.4 / dt, 1.01 * lowest), 16)
    moving = np.ptp(q, axis=0) > 0
    if not moving.any():
        return float(lowest)
    scores = []
    for cutoff in candidates:
        if cutoff > 0.45 / dt:
            break
        residual = q[:, moving] - lowpass(q[:, moving], dt, cutoff)
        # The ends of a zero-phase filter are guesses.
        margin = min(len(q) // 4, int(1 / (cutoff * dt)))
        left_out = residual[margin : len(q) - margin] / (1 - _centre_tap(dt, cutoff))
        scores.append(np.log(np.mean(left_out**2, axis=0) + 1e-30).mean())
    return float(candidates[int(np.argmin(scores))])


def lowpass(x: NDArray, dt: float, cutoff: float) -> NDArray:
    """Zero-phase Butterworth low-pass along the first axis, halving (-6 dB) at `cutoff` [Hz]."""
    from scipy.signal import sosfiltfilt

    return sosfiltfilt(_sections(min(2 * cutoff * dt, 0.95)), x, axis=0, padlen=min(len(x) - 1, int(3 / (cutoff * dt))))


@lru_cache(maxsize=64)
def _sections(corner: float) -> NDArray:
    from scipy.signal import butter

    return butter(ORDER, corner, output="sos")


def impulse(dt: float, cutoff: float) -> NDArray:
    """The response of `lowpass` to a unit impulse, as long as it matters; symmetric, sum 1, fading to zero."""
    half = max(2, int(np.ceil(2.0 / (cutoff * dt))))
    unit = np.zeros(4 * half + 1)
    unit[2 * half] = 1.0
    taps = lowpass(unit[:, None], dt, cutoff)[half : 3 * half + 1, 0]
    # A sudden end would spoil the slope of what passes.
    taps *= np.minimum(1.0, 1 - np.cos(np.pi * np.minimum(np.arange(2 * half + 1), np.arange(2 * half, -1, -1)) / half))
    return taps / taps.sum()


def _centre_tap(dt: float, cutoff: float) -> float:
    # The mean of the squared magnitude response 1 / (1 + (f / fc)^2k) over all frequencies.
    f = np.linspace(0, 0.5 / dt, 2001)
    return float(np.mean(1 / (1 + (f / cutoff) ** (2 * ORDER))))


def _butterworth(q: NDArray, dt: float, cutoff: float) -> Motion:
    smooth = lowpass(q, dt, cutoff)
    qd = np.gradient(smooth, dt, axis=0)
    # The second difference of neighbours, not of every other sample: half the bandwidth is not lost.
    qdd = np.empty_like(smooth)
    qdd[1:-1] = (smooth[2:] - 2 * smooth[1:-1] + smooth[:-2]) / dt**2
    qdd[0], qdd[-1] = qdd[1], qdd[-2]
    return Motion(smooth, qd, qdd, cutoff)


def _savgol(q: NDArray, dt: float, cutoff: float) -> Motion:
    """Local cubics; the window has its -6 dB point near `cutoff` (Schafer 2011: f = 3.2 M - 4.6 in periods)."""
    from scipy.signal import savgol_filter

    # Half-width M of a cubic with cutoff f: f dt / 0.5 = 4 / (3.2 M - 4.6).
    M = int(np.ceil((4 * 0.5 / (cutoff * dt) / 1.0 + 4.6) / 3.2))
    window = int(np.clip(2 * M + 1, 5, len(q) - 1 + len(q) % 2))
    parts = [savgol_filter(q, window, 3, deriv=d, delta=dt, axis=0) for d in range(3)]
    return Motion(parts[0], parts[1], parts[2], cutoff)


def _spline(q: NDArray, dt: float, cutoff: float) -> Motion:
    """Cubic smoothing splines: the least sum of (q - f)² + weight * integral of f''²; gain 1 / (1 + (f / cutoff)^4)."""
    from scipy.interpolate import make_smoothing_spline

    t = dt * np.arange(len(q))
    weight = 1 / (dt * (2 * np.pi * cutoff) ** 4)
    splines = [make_smoothing_spline(t, column, lam=weight) for column in q.T]
    parts = [np.stack([spline(t, d) for spline in splines], axis=1) for d in range(3)]
    return Motion(parts[0], parts[1], parts[2], cutoff)
