"""From smoothed motion to equations: filtered, decimated rows `tau = [Y_base, joint terms] x`, per drive.

Where drives are coupled, rows are those of their shafts, each of which has friction and rotor of its own.

Measured torque and every column of the regressor pass through the same zero-phase low-pass, so that what the
filter takes away is missing on both sides (parallel filtering); then most samples are redundant and are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.filtered_regressor import filter_terms
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.regressors.energy_regressor import energy_regressor
from armdyn.dynamics.regressors.joint_columns import joint_columns
from armdyn.dynamics.shafts import at_drives, measured_shafts, measured_torques, shaft_rows, shaft_torques
from armdyn.errors import DataError
from armdyn.identification.fit.passive import without_passive
from armdyn.identification.fit.terms import (
    LOAD,
    ROTOR,
    TERMS,
    MotionStatistics,
    load_column,
    term_columns,
)
from armdyn.identification.logs.log import Stretch
from armdyn.identification.motion.differentiate import impulse
from armdyn.identification.motion.track import Filters, Track
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

# Samples kept a period of the low-pass's corner: twice Nyquist's rate of what passes it.
OVERSAMPLING = 4
FORMS = ("torque", "filtered", "energy")
CHUNK_SAMPLES = 20_000  # whose regressors are held at once
MOST_ROWS = 30_000  # samples kept of all logs: of more, neighbours tell nothing new


@dataclass(frozen=True, eq=False)
class Decimator:
    """Low-pass and keep every k-th sample, as dense products: many columns at the speed of matrix multiplication.

    `low @ x` (count, columns) for x (N, columns): sample i is taps' weighted mean of x[i step : i step + width].
    """

    matrix: NDArray  # (group, window) taps of the samples made together, each shifted by a step
    step: int
    count: int

    def __matmul__(self, x: NDArray) -> NDArray:
        # Rows may lie apart in memory, numbers in them not: such matrices are multiplied without a copy.
        x = x if x.dtype == float and x.strides[1] == x.itemsize else np.ascontiguousarray(x, float)
        group, window = self.matrix.shape
        whole, rest = divmod(self.count, group)
        decimated = np.empty((self.count, x.shape[1]))
        row, column = x.strides
        windows = np.lib.stride_tricks.as_strided(
            x, (whole, window, x.shape[1]), (group * self.step * row, row, column), writeable=False
        )
        np.matmul(self.matrix, windows, out=decimated[: whole * group].reshape(whole, group, -1))
        if rest:
            width = window - (group - rest) * self.step
            first = whole * group * self.step
            decimated[whole * group :] = self.matrix[:rest, :width] @ x[first : first + width]
        return decimated


def decimator(taps: NDArray, step: int, count: int) -> Decimator:
    """The decimator that makes `count` samples from (count - 1) step + len(taps) or more."""
    # With as many samples together as a window holds steps, half of the matrix is not zero.
    group = int(np.clip(len(taps) // step, 1, count))
    matrix = np.zeros((group, (group - 1) * step + len(taps)))
    for i in range(group):
        matrix[i, i * step : i * step + len(taps)] = taps
    return Decimator(matrix, step, count)


def slope(taps: NDArray, dt: float) -> NDArray:
    """Taps that low-pass and differentiate at once: exact for constants and straight lines."""
    padded = np.pad(taps, 1)
    rate = (padded[:-2] - padded[2:]) / (2 * dt)
    return rate / (rate @ (dt * np.arange(len(taps))))


class Part(NamedTuple):
    """Equations of all joints at the samples kept of a track; `Y` has base columns, then joint terms."""

    Y: NDArray  # (n, N, base + terms); one row of all joints (1, N, base + n terms) in the form of energy
    tau: NDArray  # (n, N) or (1, N)


@dataclass(frozen=True, eq=False)
class Rows:
    """The equations of all logs: iterate over their parts, one per track."""

    base: BaseParameters
    tracks: tuple[Track, ...]
    filters: Filters
    statistics: MotionStatistics
    parts: tuple[Part, ...]
    thin: int  # samples of which one is kept beyond what the low-pass allows
    rigid_arm: Arm | None = None  # the arm whose rigid torques load the joints; None: loads are left out

    def __len__(self) -> int:
        return sum(self.sizes)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples kept of each track."""
        return tuple(part.tau.shape[1] for part in self.parts)

    @property
    def logs(self) -> list[int]:
        """Number of each track's log, counted from the first that has one."""
        numbers: dict[int, int] = {}
        return [numbers.setdefault(track.log, len(numbers)) for track in self.tracks]

    @property
    def spacing(self) -> float:
        """Time between samples that are kept, on average [s]."""
        return sum(t.dt * len(t.t) for t in self.tracks) / max(len(self), 1)

    @cached_property
    def measured(self) -> NDArray:
        """Shafts (n,) of bool whose torques were measured: the rows of others are zero, and say nothing."""
        return measured_shafts(self.base.source, self.tracks[0].tau)

    @cached_property
    def deviations(self) -> NDArray:
        """Standard deviation (n,) of each shaft's torque."""
        return np.asarray(np.concatenate([self.torques(track) for track in self.tracks]).std(axis=0))

    def positions(self) -> NDArray:
        """Positions (N, n) of the joints at the rows [rad or m]."""
        return np.concatenate([track.q[k] for track, k in zip(self.tracks, self._samples(), strict=True)])

    def times(self) -> NDArray:
        """Times (N,) of the rows on the clocks of their logs [s]."""
        return np.concatenate([track.t[k] for track, k in zip(self.tracks, self._samples(), strict=True)])

    def _samples(self) -> Iterator[NDArray]:
        """The samples of each track that rows are at."""
        for track in self.tracks:
            taps, step, count = grid(track, self.filters.band, self.thin)
            yield len(taps) // 2 + step * np.arange(count)

    def with_rigid_arm(self, arm: Arm) -> Rows:
        """The same rows with joints loaded by the rigid torque of an arm.

        Measured torques will not do: their noise would explain itself. Nor will torques with friction: then friction
        that grows with the load grows with itself.
        """
        rows = self.with_loads([_rigid_torque(arm, track) for track in self.tracks])
        return replace(rows, rigid_arm=arm)

    def with_loads(self, torques: list[NDArray]) -> Rows:
        """The same rows with joints loaded by torques (samples, n) of each track."""
        parts = []
        for track, part, torque in zip(self.tracks, self.parts, torques, strict=True):
            parts.append(Part(part.Y.copy(), part.tau))
            _fill_loads(self, track, torque, self.low(track), parts[-1].Y)
            self._silence(parts[-1].Y)
        return replace(self, parts=tuple(parts))

    def part_of(self, track: Track, wanted: NDArray | None = None) -> Part:
        """The rows of a track, or those terms (terms,) of them that are wanted, made a chunk at a time."""
        base, filters, rigid_arm = self.base, self.filters, self.rigid_arm
        taps, step, count = grid(track, filters.band, self.thin)
        Ys, taus = [], []
        for some in np.array_split(np.arange(count), max(1, len(track.t) // CHUNK_SAMPLES)):
            part = track.part(slice(some[0] * step, some[-1] * step + len(taps)))
            low = decimator(taps, step, len(some))
            rate = decimator(slope(taps, track.dt), step, len(some))
            if filters.form == "energy":
                columns = term_columns(base.source, part, self.statistics, part.temperature, filters.width, wanted)
                Y, tau = _energy_part(base, part, columns, part.tau, low, rate)
            else:
                Y, tau = np.zeros((base.source.n, len(some), base.count + len(TERMS))), (low @ self.torques(part)).T
                Y[:, :, base.count :] = _joint_columns(self, part, low, wanted)
                fill = _fill_filtered if filters.form == "filtered" else _fill
                fill(base, part, low, rate, Y)
            if rigid_arm is not None and (wanted is None or wanted[LOAD]):
                _fill_loads(self, part, _rigid_torque(rigid_arm, part), low, Y)
            self._silence(Y)
            Ys.append(Y)
            taus.append(tau)
        return Part(np.concatenate(Ys, axis=1), np.concatenate(taus, axis=1))

    def torques(self, track: Track) -> NDArray:
        """Torques (N, n) of the shafts, zero where they were not measured, without those of passive joints."""
        return measured_torques(self.base.source, without_passive(self.base.source, track, self.filters.width))

    def _silence(self, Y: NDArray) -> None:
        """Make the rows of shafts without torques zero."""
        if not self.measured.all():
            Y[~self.measured] = 0.0

    def low(self, track: Track) -> Decimator:
        """The low-pass of a track."""
        return decimator(*grid(track, self.filters.band, self.thin))

    def with_tracks(self, tracks: tuple[Track, ...], filters: Filters) -> Rows:
        """The equations of the same logs, smoothed otherwise."""
        return make_rows(self.base, tracks, filters, np.flatnonzero(self.statistics.balanced), self.rigid_arm)

    @property
    def load_columns(self) -> NDArray:
        """Places of the columns of loads, of every kind of rows."""
        return np.arange(self.base.count + LOAD, self.parts[0].Y.shape[2], len(TERMS))

    def with_delay(self, tracks: tuple[Track, ...], delay: float) -> Rows:
        """The same equations with torques of other tracks, measured later."""
        parts = tuple(
            Part(part.Y, (self.low(track) @ self.torques(track)).T)
            for track, part in zip(tracks, self.parts, strict=True)
        )
        return replace(self, tracks=tracks, parts=parts, filters=self.filters._replace(delay=delay))


def grid(s: Stretch | Track, band: float, thin: int = 1) -> tuple[NDArray, int, int]:
    """The low-pass as taps, the step between samples that are kept, and their number."""
    taps = impulse(s.dt, min(band, 0.45 / s.dt))
    step = thin * max(1, int(1 / (OVERSAMPLING * band * s.dt)))
    return taps, step, max(0, (len(s.t) - len(taps)) // step + 1)


def make_rows(
    base: BaseParameters,
    tracks: Iterable[Track],
    filters: Filters,
    balanced: Iterable[int] = (),
    rigid_arm: Arm | None = None,
) -> Rows:
    """The equations of all tracks; `balanced` are joints that have balancers, `rigid_arm` an arm that loads joints."""
    all_tracks = tuple(tracks)
    used = tuple(track for track in all_tracks if grid(track, filters.band)[2] > 0)
    if not used:
        why = "no log has a stretch without gaps that is long enough"
        if all_tracks:
            why = f"every stretch is shorter than the {4 / filters.band:.1f} s that the low-pass needs"
        remedy = f"log longer, or give a larger band (it is {filters.band:.1f} Hz)"
        raise DataError(why, where="identify", remedy=remedy)
    thin = max(1, -(-sum(grid(track, filters.band)[2] for track in used) // MOST_ROWS))
    used = tuple(track for track in used if grid(track, filters.band, thin)[2] > 0)
    rows = Rows(base, used, filters, MotionStatistics.of(base.source, used, balanced), (), thin, rigid_arm)
    return replace(rows, parts=tuple(rows.part_of(track) for track in used))


def _joint_columns(rows: Rows, part: Track, low: Decimator, wanted: NDArray | None) -> NDArray:
    """Low-passed columns (n, N, terms) of joint terms."""
    n = rows.base.source.n
    joint = term_columns(rows.base.source, part, rows.statistics, part.temperature, rows.filters.width, wanted)
    flat = joint.reshape(len(joint), -1)
    filtered = np.zeros((low.count, flat.shape[1]))
    nonzero = flat.any(axis=0)  # many are of no use: loads, unseen waves
    filtered[:, nonzero] = low @ (flat if nonzero.all() else flat.compress(nonzero, axis=1))
    return filtered.reshape(low.count, len(TERMS), n).transpose(2, 0, 1)


def _rigid_torque(arm: Arm, track: Track) -> NDArray:
    return np.asarray(inverse_dynamics(arm, track.q, track.qd, track.qdd))


def _fill_loads(rows: Rows, track: Track, torque: NDArray, low: Decimator, Y: NDArray) -> None:
    """Friction under loads by torques (samples, n), in the columns Y of a part."""
    arm, count = rows.base.source, rows.base.count
    column = load_column(arm, track, torque, rows.filters.width)
    if rows.filters.form == "energy":
        Y[0][:, count + LOAD :: len(TERMS)] = low @ (column * at_drives(arm, track.qd))
    else:
        Y[:, :, count + LOAD] = (low @ column).T


def _fill(base: BaseParameters, part: Track, low: Decimator, rate: Decimator, rows: NDArray) -> None:
    """Base columns of the rows (n, N, columns)."""
    Y = base.regressor(part.q) if base.terms == "gravity" else base.regressor(part.q, part.qd, part.qdd)
    Y = shaft_rows(base.source, Y)
    for i, active in enumerate(columns_per_joint(base)):
        rows[i][:, active] = low @ Y[:, i, active]


def _fill_filtered(base: BaseParameters, part: Track, low: Decimator, rate: Decimator, rows: NDArray) -> None:
    """Base columns from tau = d/dt(P theta) - D theta, and those of rotors, without accelerations."""
    P, D = filter_terms(base.source, part.q, part.qd)
    columns, arm = np.array(base.columns), base.source
    if base.joint_terms:
        # The momenta of coupled rotors are their torques with velocities in the place of accelerations.
        rotors = joint_columns(base.source, part.q, part.qd, part.qd, base.joint_terms)
        P, D = np.dstack([P, rotors]), np.dstack([D, np.zeros_like(rotors)])
    P, D = shaft_rows(arm, P), shaft_rows(arm, D)
    for i, active in enumerate(columns_per_joint(base)):
        rows[i][:, active] = rate @ P[:, i, columns[active]] - low @ D[:, i, columns[active]]
    rows[:, :, base.count + ROTOR] = (rate @ at_drives(arm, part.qd)).T


def columns_per_joint(base: BaseParameters) -> list[slice]:
    """The base columns that are not zero for each shaft: it does not feel the links before its joints."""
    arm = base.source
    first_links = np.arange(arm.n) if arm.G is None else (arm.G != 0).argmax(axis=0)
    firsts = np.searchsorted(base.columns, inertial.SIZE * first_links)
    moved = shaft_torques(base.source, np.eye(base.source.n)).T != 0  # of each shaft the joints
    return [slice(int(firsts[row].min()), base.count) for row in moved]


def _energy_part(
    base: BaseParameters, part: Track, columns: NDArray, tau: NDArray, low: Decimator, rate: Decimator
) -> tuple[NDArray, NDArray]:
    """Rows (1, N, base + n terms) and powers (1, N) from shafts' torques of joint terms (samples, terms, n) and tau.

    The power of all torques is the rate of the arm's energy and what friction takes; neither accelerations nor Coriolis
    terms are made. It is the energy model of Gautier and Khalil (1988), in the place of whose integrals stands the
    low-pass.
    """
    arm, n, speed = base.source, base.source.n, at_drives(base.source, part.qd)
    energies = np.add(*energy_regressor(arm, part.q, part.qd))
    if base.joint_terms:
        # Coupled rotors: their torques with velocities in the place of accelerations are momenta.
        momenta = joint_columns(arm, part.q, part.qd, part.qd, base.joint_terms)
        energies = np.hstack([energies, np.einsum("ki,kij->kj", part.qd, momenta) / 2])
    Y = np.zeros((low.count, base.count + n * len(TERMS)))
    Y[:, : base.count] = rate @ energies[:, list(base.columns)]
    taken = columns * speed[:, None, :]
    Y[:, base.count :] = low @ taken.swapaxes(1, 2).reshape(len(taken), -1)
    Y[:, base.count + ROTOR :: len(TERMS)] = rate @ (speed**2 / 2)
    return Y[None], (low @ (part.qd * tau).sum(axis=1, keepdims=True)).T
