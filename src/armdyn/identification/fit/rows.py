"""From logs to equations: filtered, decimated rows `tau = [Y_base, joint terms] x`, a joint at a time.

Measured torque and every column of the regressor pass through the same zero-phase low-pass, so that what the
filter takes away is missing on both sides (parallel filtering); then most samples are redundant and are dropped.

Logs are taken in pieces. Rows are made once and kept, those of logs larger than memory in a temporary file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.regressors.filtered_regressor import filter_terms
from armdyn.dynamics.regressors.joint_columns import joint_columns
from armdyn.errors import ArmdynError
from armdyn.identification.fit.decimate import Decimator, decimator, slope
from armdyn.identification.fit.energy_rows import energy_part, with_loads
from armdyn.identification.fit.parts import Part, Parts
from armdyn.identification.fit.terms import LOAD, ROTOR, TERMS, Reach, load_column, term_columns, whole_torque
from armdyn.identification.logs.log import Log, Stretch
from armdyn.identification.motion.differentiate import (
    AUTO,
    METHODS,
    Motion,
    best_cutoff,
    differentiate,
    impulse,
    smoothers,
)
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

# Samples kept a period of the low-pass's corner: twice Nyquist's rate of what passes it.
OVERSAMPLING = 4
FORMS = ("torque", "filtered", "energy")
CHUNK = 20_000  # samples whose regressors are held at once
PIECE = 100_000  # samples of a log that are smoothed at once


class Filters(NamedTuple):
    """How the data were smoothed."""

    band: float  # corner of the low-pass on both sides of the equations [Hz]
    cutoff: float | None  # corner of the low-pass on positions [Hz]; None: by cross-validation
    method: str
    form: str = "torque"  # "filtered" or "energy": momenta or energies are low-passed and differentiated at once


class Piece(NamedTuple):
    """Samples of a log that are smoothed together."""

    log: Log
    part: slice

    @property
    def stretch(self) -> Stretch:
        """On even times."""
        return self.log.even(self.part)


@dataclass(frozen=True, eq=False)
class Rows:
    """The equations of all logs: iterate over their parts, one a piece."""

    base: BaseParameters
    pieces: tuple[Piece, ...]
    filters: Filters
    reach: Reach
    sizes: tuple[int, ...]  # samples kept of each piece
    carrier: Arm | None = None  # the arm whose torques load the joints; None: loads are left out
    _loads: dict[int, NDArray] = field(default_factory=dict, repr=False)  # columns (n, N) of pieces

    def __len__(self) -> int:
        return sum(self.sizes)

    def __iter__(self) -> Iterator[Part]:
        for k, piece in enumerate(self.pieces):
            part = self._parts.get(k)
            if part is None:
                part = self.made(piece.stretch)
                self._parts.put(k, part)
            yield part if self.carrier is None else self._with_loads(k, part)

    @property
    def logs(self) -> list[int]:
        """Of each piece the number of its log, counted from the first that has a piece."""
        numbers: dict[int, int] = {}
        return [numbers.setdefault(id(piece.log), len(numbers)) for piece in self.pieces]

    @cached_property
    def _parts(self) -> Parts:
        return Parts(len(self) * self.base.source.n * (self.base.count + len(TERMS)))

    def loaded(self, carrier: Arm) -> Rows:
        """The same rows with joints loaded by all torque that the drives of an arm give, friction's too.

        Measured torques will not do: their noise would explain itself.
        """
        rows = dataclasses.replace(self, carrier=carrier, _loads={})
        rows.__dict__["_parts"] = self._parts  # all but the loads is the same
        return rows

    def _with_loads(self, k: int, part: Part) -> Part:
        if k not in self._loads:
            self._loads[k] = self._made_loads(self.pieces[k].stretch)
        if self.filters.form == "energy":
            return with_loads(self.base, part, self._loads[k])
        Y = part.Y.copy()
        Y[:, :, self.base.count + LOAD] = self._loads[k]
        return Part(Y, part.tau)

    def _made_loads(self, s: Stretch) -> NDArray:
        """The column (n, N) of load-dependent friction."""
        assert self.carrier is not None
        motion = smoothed(s, self.filters)
        column = load_column(self.base.source, motion, whole_torque(self.carrier, motion, s.temperature))
        column = column * motion.qd if self.filters.form == "energy" else column
        return (decimator(*grid(s, self.filters.band)) @ column).T

    def made(self, s: Stretch) -> Part:
        """The rows of a stretch without loads, a chunk at a time."""
        motion = smoothed(s, self.filters)
        taps, step, count = grid(s, self.filters.band)
        Ys, taus = [], []
        for some in np.array_split(np.arange(count), max(1, len(s.t) // CHUNK)):
            k = slice(some[0] * step, some[-1] * step + len(taps))
            part = Motion(motion.q[k], motion.qd[k], motion.qdd[k], motion.cutoff)
            low = decimator(taps, step, len(some))
            warmth = None if s.temperature is None else s.temperature[k]
            rate = decimator(slope(taps, s.dt), step, len(some))
            if self.filters.form == "energy":
                columns = term_columns(self.base.source, part, self.reach, warmth)
                energy = energy_part(self.base, part, columns, s.tau[k], low, rate)
                Ys.append(energy.Y)
                taus.append(energy.tau)
                continue
            Y = _joint_columns(self.base, part, self.reach, warmth, low)
            if self.filters.form == "filtered":
                _fill_filtered(self.base, part, low, rate, Y)
            else:
                _fill(self.base, part, low, Y)
            Ys.append(Y)
            taus.append((low @ s.tau[k]).T)
        return Part(np.concatenate(Ys, axis=1), np.concatenate(taus, axis=1))


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


def smoothed(s: Stretch, filters: Filters) -> Motion:
    """The motion of a stretch."""
    cutoff = chosen_cutoff(s, filters) if filters.cutoff is None else filters.cutoff
    return differentiate(s.q, s.dt, method=filters.method, cutoff=cutoff)


def chosen_cutoff(s: Stretch, filters: Filters) -> float:
    """Corner of the low-pass on positions [Hz], by cross-validation; at least twice the band of the equations."""
    method = METHODS[0] if filters.method == AUTO else filters.method
    # Noise above five times the band would pass into products of velocities, where no later filter reaches it.
    return min(best_cutoff(s.q, s.dt, 2 * filters.band, method, 5 * filters.band), 5 * filters.band)


def settled(filters: Filters, stretches: list[Stretch]) -> Filters:
    """The filters with the method and the corner that predict positions left out of the stretches best."""
    band, cutoff = filters.band, filters.cutoff
    if filters.method != AUTO:
        return filters._replace(cutoff=max(chosen_cutoff(s, filters) for s in stretches))
    bounds = (2 * band, 5 * band) if cutoff is None else (cutoff, cutoff)
    tried = [smoothers(s.q, s.dt, *bounds) for s in stretches]
    best = min(range(len(METHODS)), key=lambda k: sum(some[k].score for some in tried))
    return filters._replace(method=METHODS[best], cutoff=max(some[best].cutoff for some in tried))


def pieces(logs: Iterable[Log]) -> tuple[Piece, ...]:
    """All parts without gaps of logs, none longer than is smoothed at once."""
    return tuple(Piece(log, part) for log in logs for part in log.parts(PIECE))


def make_rows(base: BaseParameters, logs: list[Log], filters: Filters, balanced: Iterable[int] = ()) -> Rows:
    """The equations of all logs, loads of joints left out; `balanced` are joints that have balancers."""
    found = pieces(logs)
    if not found:
        raise ArmdynError("identify: no log has a stretch without gaps that is long enough")
    if filters.cutoff is None or filters.method == AUTO:
        first = {id(piece.log): piece for piece in reversed(found)}
        filters = settled(filters, [piece.stretch for piece in first.values()])
    used, sizes, speeds, lowest, highest, squares = [], [], [], [], [], []
    for piece in found:
        s = piece.stretch
        taps, step, count = grid(s, filters.band)
        if count <= 0:
            continue
        motion = smoothed(s, filters)
        used.append(piece)
        sizes.append(count)
        speeds.append(np.abs(motion.qd[len(taps) // 2 :: step]))
        lowest.append(motion.q.min(axis=0))
        highest.append(motion.q.max(axis=0))
        squares.append(np.mean(s.tau**2, axis=0))
    if not used:
        raise ArmdynError(
            f"identify: every stretch is shorter than the {4 / filters.band:.1f} s that the low-pass at "
            f"{filters.band:.1f} Hz needs; log longer or give a larger band"
        )
    # Speeds that each joint exceeds for one hundredth of the time, and how far it goes.
    top = np.percentile(np.concatenate(speeds), 99, axis=0)
    span = np.max(highest, axis=0) - np.min(lowest, axis=0)
    torque = np.sqrt(np.average(squares, axis=0, weights=sizes))
    reach = Reach(np.maximum(top, 1e-9), span, np.isin(np.arange(base.source.n), list(balanced)), torque)
    return Rows(base, tuple(used), filters, reach, tuple(sizes))


def grid(s: Stretch, band: float) -> tuple[NDArray, int, int]:
    """The low-pass as taps, the step between samples that are kept, and their number."""
    taps = impulse(s.dt, min(band, 0.45 / s.dt))
    step = max(1, int(1 / (OVERSAMPLING * band * s.dt)))
    return taps, step, max(0, (len(s.t) - len(taps)) // step + 1)


def _joint_columns(base: BaseParameters, part: Motion, reach: Reach, warmth: NDArray | None, low: Decimator) -> NDArray:
    """Rows (n, N, columns) in which the base columns are still zero."""
    n = base.source.n
    rows, joint = np.zeros((n, low.count, base.count + len(TERMS))), term_columns(base.source, part, reach, warmth)
    flat = joint.reshape(len(joint), -1)
    filtered, felt = np.zeros((low.count, flat.shape[1])), flat.any(axis=0)  # many are of no use: loads, unseen waves
    filtered[:, felt] = low @ flat[:, felt]
    rows[:, :, base.count :] = filtered.reshape(low.count, len(TERMS), n).transpose(2, 0, 1)
    return rows


def _fill(base: BaseParameters, part: Motion, low: Decimator, rows: NDArray) -> None:
    """Base columns of the rows (n, N, columns)."""
    Y = base.regressor(part.q) if base.terms == "gravity" else base.regressor(part.q, part.qd, part.qdd)
    for i, felt in enumerate(_felt(base)):
        rows[i][:, felt] = low @ Y[:, i, felt]


def _fill_filtered(base: BaseParameters, part: Motion, low: Decimator, rate: Decimator, rows: NDArray) -> None:
    """Base columns from tau = d/dt(P theta) - D theta, and those of rotors, without accelerations."""
    P, D = filter_terms(base.source, part.q, part.qd)
    kept = np.array(base.kept)
    if base.joint_terms:
        # The momenta of coupled rotors are their torques with velocities in the place of accelerations.
        rotors = joint_columns(base.source, part.q, part.qd, part.qd, base.joint_terms)
        P, D = np.dstack([P, rotors]), np.dstack([D, np.zeros_like(rotors)])
    for i, felt in enumerate(_felt(base)):
        rows[i][:, felt] = rate @ P[:, i, kept[felt]] - low @ D[:, i, kept[felt]]
    rows[:, :, base.count + ROTOR] = (rate @ part.qd).T


def _felt(base: BaseParameters) -> list[slice]:
    """The base columns that are not zero for each joint: it does not feel the links before it."""
    firsts = np.searchsorted(base.kept, inertial.SIZE * np.arange(base.source.n))
    return [slice(int(first), base.count) for first in firsts]
