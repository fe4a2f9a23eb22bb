"""One smoothed motion for every piece of a log, on an even grid of at most 5 ms: everything that follows uses it.

Positions are low-passed without delay and differentiated, or measured velocities are low-passed in their place.
Torques follow by interpolation, earlier by the delay with which they were measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.logs.log import PIECE_SAMPLES, SMALL_SHARE, Log, Stretch, interpolate
from armdyn.identification.motion.differentiate import SmoothedMotion, best_cutoff, differentiate, impulse
from armdyn.lowpass import lowpass
from armdyn.model.preprocessing import Preprocessing

GRID_SECONDS = 0.005  # between samples of a track: friction changes its sign within less than a sample of slow logs
CUTOFF_HZ, BAND_HZ = Preprocessing.cutoff, Preprocessing.band
MAX_SAMPLES = 250_000  # of the grid that are fitted to: 21 minutes of motion
WINDOW_SECONDS = 5.0  # the shortest part of a piece that is fitted to where not all of it is
DIRECTION_WIDTH = 0.005  # rad/s or m/s: speed within which smoothed velocities do not tell the direction of a joint


class Filters(NamedTuple):
    """Settings of the smoothing."""

    band: float  # corner of the low-pass on both sides of the equations [Hz]
    cutoff: float | None  # corner of the low-pass on positions [Hz]; None: by cross-validation
    method: str
    form: str = "torque"  # "filtered" or "energy": momenta or energies are low-passed and differentiated at once
    velocity: bool = False  # whether measured velocities are used, where a log has them
    width: float = 0.0  # speed over which a joint's direction changes its sign [rad/s or m/s]
    delay: float = 0.0  # by which torques were measured later than positions [s]

    @classmethod
    def of(cls, choice: Preprocessing) -> Filters:
        """Take the treatment of logs that an arm was identified with."""
        velocity = choice.measured_velocities
        return cls(choice.band, choice.cutoff, choice.method, "torque", velocity, DIRECTION_WIDTH, choice.delay)

    @property
    def smoothing(self) -> tuple[float | None, str, bool, float]:
        """The part that tracks depend on."""
        return self.cutoff, self.method, self.velocity, self.delay

    @property
    def preprocessing(self) -> Preprocessing:
        """The part that logs are compared with, too, which travels with the arm."""
        return Preprocessing(self.band, self.cutoff or CUTOFF_HZ, self.method, self.velocity, self.delay)


class Track(NamedTuple):
    """The smoothed motion of a piece of log, with the torques measured along it."""

    log: int  # number of the log
    t: NDArray  # (N,) even times [s]
    dt: float  # [s]
    q: NDArray  # (N, n)
    qd: NDArray
    qdd: NDArray
    tau: NDArray
    temperature: NDArray | None  # (N, n) [K]
    noise: NDArray  # (n,) standard deviation of what smoothing took from positions, for one sample of the grid

    def part(self, k: slice) -> Track:
        """Some of the samples."""
        warmth = None if self.temperature is None else self.temperature[k]
        return self._replace(
            t=self.t[k], q=self.q[k], qd=self.qd[k], qdd=self.qdd[k], tau=self.tau[k], temperature=warmth
        )

    def torques_later(self, delay: float) -> NDArray:
        """Torques (N, n) if they were measured later by a delay [s]: at such times, between samples linearly."""
        whole, share = divmod(round(delay / self.dt, 9), 1.0)
        at = np.arange(len(self.t)) + int(whole)
        before = self.tau.take(at, axis=0, mode="clip")
        return before + share * (self.tau.take(at + 1, axis=0, mode="clip") - before) if share else before


def stretches(logs: Iterable[Log]) -> Iterator[Stretch]:
    """All parts without gaps of logs, none longer than is smoothed at once, on even times."""
    return (log.even(part) for log in logs for part in log.parts(PIECE_SAMPLES))


def tracks_of(logs: Iterable[Log], filters: Filters) -> tuple[Track, ...]:
    """The motion of logs to fit to, all of it or, of very long ones, windows that are spread over them."""
    return tuple(track(log, part, filters, number) for number, log, part in windows(logs))


def all_tracks(logs: Iterable[Log], filters: Filters) -> Iterator[Track]:
    """The motion of all pieces of logs, one after the other."""
    for number, log in enumerate(logs):
        for part in log.parts(PIECE_SAMPLES):
            yield track(log, part, filters, number)


def moving_parts(tracks: Sequence[Track]) -> Iterator[Track]:
    """Parts of tracks in which some joint moves: while all stand still, friction may be anything up to breakaway."""
    from scipy.ndimage import maximum_filter1d

    top = np.max([np.abs(track.qd).max(axis=0) for track in tracks], axis=0, initial=0.0)
    for track in tracks:
        moves = (np.abs(track.qd) > SMALL_SHARE * top).any(axis=1).astype(np.int8)
        # Rests shorter than the low-pass stay: the ends of parts, which it reaches beyond, have no rows.
        half = len(impulse(track.dt, BAND_HZ)) // 2
        wide = maximum_filter1d(moves, 2 * half + 1)
        for first, last in np.flatnonzero(np.diff(wide, prepend=0, append=0)).reshape(-1, 2).tolist():
            # Of a long rest half of that remains.
            end = last if last == len(moves) else last - half // 2
            yield track.part(slice(first and first + half // 2, end))


def windows(logs: Iterable[Log]) -> list[tuple[int, Log, slice]]:
    """Pieces of logs, by the log's number: all, or where that is more than is fitted to the same share of each."""
    parts = [(number, log, part) for number, log in enumerate(logs) for part in log.parts(PIECE_SAMPLES)]
    share = -(-sum(_seconds(log, part) for _, log, part in parts) // (MAX_SAMPLES * GRID_SECONDS))
    if share <= 1:
        return parts
    some = [(number, log, slice(part.start, part.start + int((part.stop - part.start) / share)))
            for number, log, part in parts]  # fmt: skip
    long = [piece for piece in some if _seconds(*piece[1:]) >= WINDOW_SECONDS]
    return long or parts[:: int(share)]


def _seconds(log: Log, part: slice) -> float:
    return (part.stop - part.start) * log.dt


def track(log: Log, part: slice, filters: Filters, number: int = 0) -> Track:
    """The motion of a run of samples without gaps."""
    t, dt = log.t[part], log.dt
    step = min(dt, GRID_SECONDS)
    grid = t[0] + step * np.arange(int((t[-1] - t[0]) / step * (1 + 1e-9)) + 1)
    fresh = log.fresh(part)
    q = _positions(log, part, grid, fresh.q)
    cutoff = min(filters.cutoff or CUTOFF_HZ, 0.4 / dt)
    motion = differentiate(q, step, method=filters.method, cutoff=cutoff)
    noise = (q - motion.q).std(axis=0)
    tau = _torques(log, part, grid + filters.delay, fresh.tau)
    thin = max(1, round(GRID_SECONDS / step))
    if thin > 1:
        tau = lowpass(tau, step, 0.4 / (thin * step))
    warmth = None if log.temperature is None else _on(grid[::thin], t, log.temperature[part])
    # Copies, for slices would keep all samples alive.
    t, q, qd, qdd, tau = (np.array(x[::thin]) for x in (grid, motion.q, motion.qd, motion.qdd, tau))
    along = Track(number, t, step * thin, q, qd, qdd, tau, warmth, noise / np.sqrt(thin))
    return by_velocity(along, log, filters) if filters.velocity else along


def by_velocity(along: Track, log: Log, filters: Filters) -> Track:
    """The motion with measured velocities, low-passed, where the log has them."""
    if log.qd is None:
        return along
    step, first, last = min(log.dt, GRID_SECONDS), float(along.t[0]), float(along.t[-1])
    thin = max(1, round(GRID_SECONDS / step))
    part = slice(*np.searchsorted(log.t, [first - 1e-9, last + step * thin - 1e-9]).tolist())
    grid = first + step * np.arange((len(along.t) - 1) * thin + 1)
    cutoff = min(filters.cutoff or CUTOFF_HZ, 0.4 / log.dt)
    qd = lowpass(_on(grid, log.t[part], log.qd[part]), step, cutoff)
    qdd = lowpass(np.gradient(qd, step, axis=0), step, cutoff)
    return along._replace(qd=np.array(qd[::thin]), qdd=np.array(qdd[::thin]))


def _positions(log: Log, part: slice, grid: NDArray, fresh: NDArray) -> NDArray:
    """Positions on the grid; readings sent again are left out, for the joints moved on meanwhile."""
    t, q = log.t[part], log.q[part]
    if fresh.all() and len(grid) == len(t) and np.abs(grid - t).max() < 1e-3 * log.dt:
        return q
    return _curve(grid, t[fresh], q[fresh])


def _torques(log: Log, part: slice, grid: NDArray, fresh: NDArray) -> NDArray:
    """Torques on the grid, without those sent again with the positions."""
    t, tau = log.t[part], log.tau[part]
    return _on(grid, t, tau) if fresh.all() else _on(grid, t[fresh], tau[fresh])


def _curve(grid: NDArray, t: NDArray, q: NDArray) -> NDArray:
    """Smooth curves through positions; where stamps are close by chance, none that would overshoot."""
    from scipy.interpolate import CubicSpline, PchipInterpolator

    steps = np.diff(t)
    even = steps.min() > 0.3 * np.median(steps) and steps.max() < 12 * np.median(steps)
    slow = np.median(steps) > 1.2 * GRID_SECONDS
    curve = CubicSpline(t, q) if slow and even else PchipInterpolator(t, q)
    return np.asarray(curve(np.clip(grid, t[0], t[-1])))


def _on(grid: NDArray, t: NDArray, x: NDArray) -> NDArray:
    """Columns interpolated linearly."""
    if len(grid) == len(t) and np.abs(grid - t).max() < 1e-9:
        return x
    return interpolate(grid, t, x)


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
    weights, corner_frequencies = np.array(corners).T
    return float(np.clip(10 * np.average(corner_frequencies, weights=weights), 5.0, 20.0))


def smooth_stretch(s: Stretch, filters: Filters) -> SmoothedMotion:
    """The motion of a stretch at its own rate, with a corner by cross-validation where none is given."""
    cutoff = choose_cutoff(s, filters) if filters.cutoff is None else filters.cutoff
    return differentiate(s.q, s.dt, method=filters.method, cutoff=cutoff)


def choose_cutoff(s: Stretch, filters: Filters) -> float:
    """Corner of the low-pass on positions [Hz], by cross-validation; at least twice the band of the equations."""
    # Noise above five times the band would pass into products of velocities, where no later filter reaches it.
    return min(best_cutoff(s.q, s.dt, 2 * filters.band, filters.method, 5 * filters.band), 5 * filters.band)
