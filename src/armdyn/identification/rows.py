"""From logs to equations: filtered, decimated rows `tau = [Y_base, joint terms] x`, a joint at a time.

Measured torque and every column of the regressor pass through the same zero-phase low-pass, so that what the
filter takes away is missing on both sides (parallel filtering); then most samples are redundant and are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base_parameters import BaseParameters
from armdyn.errors import ArmdynError
from armdyn.identification.differentiate import Motion, best_cutoff, differentiate, impulse, lowpass
from armdyn.identification.log import Log, Stretch
from armdyn.identification.terms import TERMS, Reach, term_columns
from armdyn.spatial import inertia as inertial

# Samples kept a period of the low-pass's corner: twice Nyquist's rate of what passes it.
OVERSAMPLING = 4
CHUNK = 20_000  # samples whose regressors are held at once


class Filters(NamedTuple):
    """How the data were smoothed."""

    band: float  # corner of the low-pass on both sides of the equations [Hz]
    cutoff: float | None  # corner of the low-pass on positions [Hz]; None: by cross-validation, a stretch at a time
    method: str


class Rows(NamedTuple):
    """Equations of all joints at the samples kept; the last axis of `Y` holds base columns, then joint terms."""

    Y: NDArray  # (n, N, base + terms)
    tau: NDArray  # (n, N)
    stretch: NDArray  # (N,) number of the stretch each sample is from
    reach: Reach
    filters: Filters  # with the largest cutoff that was used
    dt: float  # between the samples kept [s]


def choose_band(stretches: Iterable[Stretch]) -> float:
    """Corner of the parallel low-pass [Hz]: ten times the frequency below which 99 % of the motion's power lies.

    Friction reverses, and centrifugal torques beat, well above the motion's own frequencies.
    """
    corners = []
    for s in stretches:
        qd = np.gradient(s.q, s.dt, axis=0)
        qd = (qd - qd.mean(axis=0)) * np.hanning(len(qd))[:, None]
        power = (np.abs(np.fft.rfft(qd, axis=0)) ** 2 / max(np.sum(qd**2), 1e-300)).sum(axis=1)
        # Differences of noisy positions have most power at the top of the spectrum: there is no motion above 20 Hz.
        f = np.fft.rfftfreq(len(qd), s.dt)
        power = power[f <= 20.0]
        share = np.cumsum(power) / max(power.sum(), 1e-300)
        corners.append((len(qd), f[min(int(np.searchsorted(share, 0.99)), len(power) - 1)]))
    weights, found = np.array(corners).T
    return float(np.clip(10 * np.average(found, weights=weights), 5.0, 20.0))


def joint_reach(motions: list[Motion]) -> Reach:
    """Speeds that each joint exceeds for one hundredth of the time, and how far it goes."""
    top = np.percentile(np.abs(np.vstack([m.qd for m in motions])), 99, axis=0)
    q = np.vstack([m.q for m in motions])
    return Reach(np.maximum(top, 1e-9), np.ptp(q, axis=0))


def smoothed(s: Stretch, filters: Filters) -> Motion:
    """The motion of a stretch; positions keep at least twice the band of the equations."""
    cutoff = filters.cutoff
    if cutoff is None:
        # Noise above five times the band would pass into products of velocities, where no later filter reaches it.
        cutoff = min(_cutoff(_Whole(s.q), s.dt, 2 * filters.band), 5 * filters.band)
    return differentiate(s.q, s.dt, method=filters.method, cutoff=cutoff)


class _Whole:
    """An array known by its identity, so that what was found out about it need not be found out again."""

    def __init__(self, array: NDArray) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and other.array is self.array


@lru_cache(maxsize=8)
def _cutoff(q: _Whole, dt: float, lowest: float) -> float:
    return best_cutoff(q.array, dt, lowest)


def make_rows(base: BaseParameters, logs: list[Log], filters: Filters) -> Rows:
    """The equations of all logs."""
    stretches = [s for log in logs for s in log.stretches]
    if not stretches:
        raise ArmdynError("identify: no log has a stretch without gaps that is long enough")
    motions = [smoothed(s, filters) for s in stretches]
    reach = joint_reach(motions)
    parts, numbers = [], []
    for k, (s, motion) in enumerate(zip(stretches, motions, strict=True)):
        Y, tau = _filtered(base, s, motion, reach, filters.band)
        if Y.shape[1]:
            parts.append((Y, tau))
            numbers.append(np.full(Y.shape[1], k))
    if not parts:
        raise ArmdynError(
            f"identify: every stretch is shorter than the {4 / filters.band:.1f} s that the low-pass at "
            f"{filters.band:.1f} Hz needs; log longer or give a larger band"
        )
    step = max(1, int(1 / (OVERSAMPLING * filters.band * stretches[0].dt)))
    return Rows(
        np.concatenate([p[0] for p in parts], axis=1),
        np.concatenate([p[1] for p in parts], axis=1),
        np.concatenate(numbers),
        reach,
        filters._replace(cutoff=max(m.cutoff for m in motions)),
        step * stretches[0].dt,
    )


def _filtered(base: BaseParameters, s: Stretch, motion: Motion, reach: Reach, band: float) -> tuple[NDArray, NDArray]:
    """Rows (n, N, columns) and torques (n, N) of a stretch, a chunk at a time."""
    n = base.source.n
    taps = impulse(s.dt, min(band, 0.45 / s.dt))
    half = len(taps) // 2
    step = max(1, int(1 / (OVERSAMPLING * band * s.dt)))
    centres = np.arange(half, len(s.t) - half, step)
    if not len(centres):
        return np.empty((n, 0, base.count + len(TERMS))), np.empty((n, 0))
    load = lowpass(s.tau, s.dt, min(2 * band, 0.4 / s.dt))
    Ys, taus = [], []
    for some in np.array_split(centres, max(1, len(s.t) // CHUNK)):
        k = slice(some[0] - half, some[-1] + half + 1)
        part = Motion(motion.q[k], motion.qd[k], motion.qdd[k], motion.cutoff)
        low = decimator(taps, len(part.q), some - some[0])
        Ys.append(_columns(base, part, load[k], reach, low))
        taus.append((low @ s.tau[k]).T)
    return np.concatenate(Ys, axis=1), np.concatenate(taus, axis=1)


def decimator(taps: NDArray, length: int, starts: NDArray) -> NDArray:
    """A sparse matrix that low-passes and keeps the samples `starts + half`."""
    from scipy.sparse import csr_array

    width = len(taps)
    columns = (starts[:, None] + np.arange(width)).ravel()
    pointers = width * np.arange(len(starts) + 1)
    return csr_array((np.tile(taps, len(starts)), columns, pointers), shape=(len(starts), length))


def _columns(base: BaseParameters, part: Motion, load: NDArray, reach: Reach, low: NDArray) -> NDArray:
    arm = base.source
    Y = base.regressor(part.q) if base.terms == "gravity" else base.regressor(part.q, part.qd, part.qdd)
    joint = term_columns(arm, part, load, reach)
    rows = np.zeros((arm.n, low.shape[0], base.count + len(TERMS)))
    kept = np.array(base.kept)
    for i in range(arm.n):
        # Joint i does not feel the links before it.
        felt = np.flatnonzero(kept >= inertial.SIZE * i)
        rows[i][:, felt] = low @ Y[:, i, felt]
        rows[i][:, base.count :] = low @ joint[:, i]
    return rows
