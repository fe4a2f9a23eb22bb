"""Velocities and accelerations from measured positions.

Which smoother, and how hard it smooths, is found from the data by leaving positions out one at a time.
`kalman.py` holds the filter of Kapadia's thesis.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ShapeError, quote
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.lowpass import lowpass
from armdyn.precision import SIX_DIGITS

MAX_JUDGED = 4_000  # samples by which cutoffs and methods are judged
METHODS = ("butterworth", "kalman", "savgol", "spline")
TWO_STAGE = "two-stage"  # Kapadia's recipe, which lags: never chosen by itself
AUTO = "auto"
CUTOFF_RATIO = 1.28  # of cutoffs that are tried, unless there would be too many


class SmoothedMotion(NamedTuple):
    """Smoothed positions and their derivatives."""

    q: NDArray  # (N, n)
    qd: NDArray
    qdd: NDArray
    cutoff: float  # where positions are halved (-6 dB) [Hz]
    method: str = METHODS[0]


class Smoother(NamedTuple):
    """Method and bandwidth of smoothing."""

    method: str
    cutoff: float  # [Hz]
    score: float  # log of the squared error on positions left out, mean over joints


def differentiate(
    q: ArrayLike, dt: float, *, method: str = AUTO, cutoff: float | None = None, lowest: float = 0.0
) -> SmoothedMotion:
    """Smoothed positions, velocities and accelerations, without delay.

    Parameters
    ----------
    q : array_like, shape (N, n)
        Positions at even times [rad or m].
    dt : float
        Time between samples [s].
    method : {"auto", "butterworth", "kalman", "savgol", "spline", "two-stage"}
        Zero-phase low-pass and central differences, a fixed-interval Kalman smoother, local cubics (Savitzky-Golay),
        a smoothing spline, or the one of them that predicts positions left out best. "two-stage" is the causal filter
        of Kapadia's section 7.2.1, for comparison: positions filtered, differenced, and filtered again; it lags, so
        that the others are to be preferred wherever the log is complete.
    cutoff : float, optional
        Frequency at which positions are halved [Hz]; default by cross-validation.
    lowest : float
        The least cutoff that may be chosen [Hz].

    Returns
    -------
    Motion
    """
    q = require_positions(q, dt, "differentiate")
    if cutoff is not None and not cutoff > 0:
        raise ArmdynError(where="differentiate", expected="a cutoff > 0 Hz", got=cutoff)
    if method not in (known := (AUTO, *METHODS, TWO_STAGE)):
        raise ArmdynError(where="differentiate", expected=f"method one of {', '.join(known)}", got=f"{method!r}")
    highest = 0.4 / dt
    if method == AUTO:
        bounds = (lowest, highest) if cutoff is None else (cutoff, cutoff)
        method, cutoff, _ = min(smoothers(q, dt, *bounds), key=lambda s: s.score)
    elif cutoff is None:
        cutoff = best_cutoff(q, dt, lowest, "kalman" if method == TWO_STAGE else method)
    cutoff = float(np.clip(cutoff, min(lowest, highest), highest))
    return _smooth(q, dt, method, cutoff)


def require_positions(q: ArrayLike, dt: float, where: str, fewest: int = 12) -> NDArray:
    """Positions (N, n) that are finite, at least `fewest`, and a time > 0 between them."""
    try:
        positions = np.asarray(q, float)
    except (TypeError, ValueError):
        raise ShapeError(where=where, expected="positions of shape (N, n)", got=quote(q)) from None
    if positions.ndim != 2 or len(positions) < fewest:
        raise ShapeError(where=where, expected=f"positions of shape (N >= {fewest}, n)", got=positions.shape)
    if not np.isfinite(positions).all():
        raise ShapeError("positions have values that are not finite numbers", where=where)
    if not 0 < dt < np.inf:
        raise ShapeError(where=where, expected="a time between samples > 0 s", got=dt)
    return positions


def _smooth(q: NDArray, dt: float, method: str, cutoff: float) -> SmoothedMotion:
    from armdyn.identification.motion.kalman import smooth, two_stage

    ways = {
        "butterworth": _butterworth, "kalman": smooth, "savgol": _savgol, "spline": _spline, TWO_STAGE: two_stage
    }  # fmt: skip
    return ways[method](q, dt, cutoff)


def smoothers(q: NDArray, dt: float, lowest: float, highest: float) -> list[Smoother]:
    """Each method with its best cutoff between two [Hz], and its error on positions left out.

    Cutoffs are sought around that of the Butterworth filter, which has a head start: where nothing is to be gained it
    stays.
    """
    lowest, highest = min(lowest, 0.4 / dt), min(highest, 0.4 / dt)
    best = float(np.clip(best_cutoff(q, dt, lowest, highest=highest) if lowest < highest else lowest, lowest, highest))
    # The others fall off more slowly than the Butterworth filter.
    near = np.unique(np.clip(best * CUTOFF_RATIO ** np.arange(-2, 7, 2), lowest, highest)).tolist()
    samples, chosen = _middle_samples(q, MAX_JUDGED), []
    for method in METHODS:
        start = 2 * SMALL_SHARE if method == METHODS[0] else 0.0
        tried = [Smoother(method, cutoff, _score(samples, dt, method, cutoff) - start) for cutoff in near]
        chosen.append(min(tried, key=lambda s: s.score))
    return chosen


def best_cutoff(q: NDArray, dt: float, lowest: float = 0.0, method: str = METHODS[0], highest: float = np.inf) -> float:
    """The cutoff with which a method predicts left-out positions best [Hz]; of equals the lower one."""
    lowest = max(lowest, 4.0 / (len(q) * dt), 0.5)
    highest = max(min(highest, 0.4 / dt), 1.01 * lowest)
    count = int(np.clip(1 + np.ceil(np.log(highest / lowest) / np.log(CUTOFF_RATIO)), 2, 16))
    candidates = [c for c in np.geomspace(lowest, highest, count) if c <= 0.45 / dt]
    samples = _middle_samples(q, MAX_JUDGED)
    if not candidates or not samples.q.size:
        return float(lowest)
    scores = [_score(samples, dt, method, float(cutoff)) for cutoff in candidates]
    return float(candidates[int(np.argmin(scores))])


class _Samples(NamedTuple):
    """Samples by which smoothing is judged, of joints that move."""

    q: NDArray
    travel: NDArray


def _middle_samples(q: NDArray, most: int) -> _Samples:
    """At most so many samples, from the middle."""
    first = max(0, (len(q) - most) // 2)
    q = q[first : first + most]
    travel = np.ptp(q, axis=0)
    return _Samples(q[:, travel > 0], travel[travel > 0])


def _score(samples: _Samples, dt: float, method: str, cutoff: float) -> float:
    """Log of the mean square of left-out residuals; joints vote by their residuals relative to their own noise.

    For a linear smoother with centre tap h the left-out residual is the residual over 1 - h.
    """
    q = samples.q
    if not q.size:
        return 0.0
    residual = q - (lowpass(q, dt, cutoff) if method == METHODS[0] else _smooth(q, dt, method, cutoff).q)
    # The ends of a zero-phase filter are guesses.
    margin = min(len(q) // 4, int(3 / (cutoff * dt)))
    left_out = residual[margin : len(q) - margin] / (1 - _centre_tap(dt, method, cutoff))
    return float(np.log(np.mean(left_out**2, axis=0) + (SIX_DIGITS * samples.travel) ** 2).mean())


@lru_cache(maxsize=64)
def impulse(dt: float, cutoff: float) -> NDArray:
    """The response of `lowpass` to a unit impulse, as long as it matters; symmetric, sum 1, fading to zero."""
    half = max(2, int(np.ceil(2.0 / (cutoff * dt))))
    unit = np.zeros(4 * half + 1)
    unit[2 * half] = 1.0
    taps = lowpass(unit[:, None], dt, cutoff)[half : 3 * half + 1, 0]
    # A sudden end would spoil the slope of what passes.
    taps *= np.minimum(1.0, 1 - np.cos(np.pi * np.minimum(np.arange(2 * half + 1), np.arange(2 * half, -1, -1)) / half))
    taps /= taps.sum()
    taps.flags.writeable = False
    return taps


@lru_cache(maxsize=256)
def _centre_tap(dt: float, method: str, cutoff: float) -> float:
    """Return a smoother's response to a unit impulse, where it is."""
    half = max(20, int(np.ceil(4.0 / (cutoff * dt))))
    unit = np.zeros((2 * half + 1, 1))
    unit[half] = 1.0
    return float(_smooth(unit, dt, method, cutoff).q[half, 0])


def _butterworth(q: NDArray, dt: float, cutoff: float) -> SmoothedMotion:
    smooth = lowpass(q, dt, cutoff)
    qd = np.gradient(smooth, dt, axis=0)
    # The second difference of neighbours, not of every other sample: half the bandwidth is not lost.
    qdd = np.empty_like(smooth)
    qdd[1:-1] = (smooth[2:] - 2 * smooth[1:-1] + smooth[:-2]) / dt**2
    qdd[0], qdd[-1] = qdd[1], qdd[-2]
    return SmoothedMotion(smooth, qd, qdd, cutoff)


def _savgol(q: NDArray, dt: float, cutoff: float) -> SmoothedMotion:
    """Local cubics: a window of W samples halves positions at 1.28 / (W dt), within 1 % from 11 samples on."""
    from scipy.signal import savgol_filter

    longest = len(q) - 1 + len(q) % 2
    # Fewer than seven samples are hardly more than a cubic has numbers.
    window = int(np.clip(2 * round((1.28 / (cutoff * dt) - 1) / 2) + 1, 7, longest))
    parts = [savgol_filter(q, window, 3, deriv=d, delta=dt, axis=0) for d in range(3)]
    return SmoothedMotion(parts[0], parts[1], parts[2], cutoff, "savgol")


def _spline(q: NDArray, dt: float, cutoff: float) -> SmoothedMotion:
    """Natural cubic smoothing splines: the least sum of (q - f)² + weight * integral of f''²; gain 1 / (1 + (f/fc)^4).

    Reinsch 1967: with second differences Q' of samples and the Gram matrix R of hat functions,
    (R + weight Q'Q) f'' = Q'q and f = q - weight Q f''.
    """
    from scipy.linalg import solveh_banded

    weight = 1 / (dt * (2 * np.pi * cutoff) ** 4)
    bands = np.outer([1.0, -4.0, 6.0], np.full(len(q) - 2, weight / dt**2))
    bands += dt / 6 * np.array([[0.0], [1.0], [4.0]])
    qdd = np.zeros_like(q)
    qdd[1:-1] = solveh_banded(bands, np.diff(q, 2, axis=0) / dt)
    smooth = q - weight / dt * np.diff(np.pad(qdd[1:-1], ((2, 2), (0, 0))), 2, axis=0)
    qd = np.empty_like(q)
    qd[:-1] = np.diff(smooth, axis=0) / dt - dt / 6 * (2 * qdd[:-1] + qdd[1:])
    qd[-1] = qd[-2] + dt / 2 * (qdd[-2] + qdd[-1])
    return SmoothedMotion(smooth, qd, qdd, cutoff, "spline")
