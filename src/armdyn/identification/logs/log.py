"""A log: what was measured while an arm moved."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import DataError, ReadError
from armdyn.names import HintedAttributes
from armdyn.numerals import pluralize
from armdyn.presentation import draw_figure, present

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from armdyn.identification.logs.corrections import LogCorrection
    from armdyn.model.arm import Arm

MIN_SAMPLES = 50  # fewer tell nothing
MIN_POSES = 4  # held still: base and tool of an instrument need three, one more shows whether they agree
STILL_TRAVEL = 1e-4  # rad or m: a joint that stays within did not move
# Of the largest travel, speed or torque: a joint with less does not count. Of a torque: models of arms miss as much. Of
# an error: changes by less decide nothing.
SMALL_SHARE = 0.02
PIECE_SAMPLES = 100_000  # of a log that are worked on at once
MAX_ANGLE = 4 * np.pi  # rad: no joint with limits turns further; such numbers are degrees
MAX_DELAY_SECONDS = 1.0  # by which torques, and messages of bags, may be late
DYNAMICS_SECONDS = 0.5  # shorter logs, and samples further apart, show no dynamics
# Stamps further apart than this many sample periods and seconds are a gap: nothing is invented there.
GAP_PERIODS, GAP_SECONDS = 8.0, 0.05
GOING_SHARE = 0.4  # of the speed before and after, from which on an arm did not rest while a reading repeats


class Record:
    """Joint positions over time."""

    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n) [rad or m]

    def __len__(self) -> int:
        return len(self.t)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[1]

    @cached_property
    def dt(self) -> float:
        """The usual time between samples [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def duration(self) -> float:
        """Time from first to last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @cached_property
    def gaps(self) -> NDArray:
        """Positions of the samples after which some are missing."""
        return np.flatnonzero(np.diff(self.t) > max(GAP_PERIODS * self.dt, GAP_SECONDS))


class Stretch(NamedTuple):
    """A part of a log without gaps, on evenly spaced times."""

    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n)
    tau: NDArray  # (N, n)
    dt: float  # [s]
    temperature: NDArray | None = None  # (N, n) [K]


class Fresh(NamedTuple):
    """Samples (N,) of bool that are not readings sent again."""

    q: NDArray
    tau: NDArray  # those sent again alone are kept: coarse torques repeat


def turns_too_far(arm: Arm, q: NDArray) -> bool:
    """Whether joints turn further than any does, by those with limits, or by all where nobody wrote down limits."""
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    limited = turns & np.isfinite(arm.position_limits).all(axis=0)
    largest = np.abs([q.min(axis=0), q.max(axis=0)]).max(axis=0, initial=0.0)
    return bool((largest > MAX_ANGLE)[limited if limited.any() else turns].any())


def require_all_torques(log: Log, what: str) -> None:
    """Raise where torques of some joints were not measured; `what` needs them."""
    if not log.measured.all():
        numbers = ", ".join(str(j + 1) for j in np.flatnonzero(~log.measured))
        cause = f"no torques of joint {numbers}, but {what} needs those of all"
        raise DataError(cause, where=log.name, remedy="use a log that has them")


def require_torques(log: Log) -> None:
    """Raise where currents stand in the place of torques, by the names of their columns."""
    if log.currents:
        several = f"columns {log.currents[0]} .. {log.currents[-1]} are" if len(log.currents) > 1 else "a column is"
        remedy = (
            "give drive_gain, the N m of the joint per ampere, one or a number per joint ('armdyn "
            "drive-gains' measures it with a known payload; 1 if they are torques after all)"
        )
        raise DataError(f"{several} motor currents by name, not torques", where=log.name, remedy=remedy)


@dataclass(frozen=True)
class LogFormat:
    """Format of a file: how `read_log` was asked to read it, so that it can be read again in the same way."""

    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names of columns by role
    angle: str | None = None
    gear_ratio: tuple[float, ...] = ()
    drive_gain: tuple[float, ...] = ()
    offset: tuple[float, ...] = ()
    rate: float | None = None
    topic: str | None = None
    joined: tuple[Path, ...] = ()  # further files of the same run
    named_unit: bool = False  # whether the file itself says the unit of positions
    repairs: tuple[str, ...] = ()  # rows that were dropped, gaps, times that were changed
    guess: str = ""  # roles of columns without names, in words

    @property
    def knows_unit(self) -> bool:
        """Whether the unit of positions was given, by the file or by whoever reads it."""
        return self.named_unit or self.angle is not None


@dataclass(frozen=True, eq=False)
class Log(HintedAttributes, Record):
    """Measured joint positions and torques; times strictly rise.

    Torques of joints without a sensor are NaN throughout, those of at least one joint are numbers. `notes` say how the
    columns were read and what was repaired. Where `still`, each row is a pose held still instead
    of a sample of a motion, and determines gravity alone.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> len(log), log.n, round(float(log.dt), 3)
    (2000, 2, 0.005)
    """

    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n) [rad or m]
    tau: NDArray  # (N, n) [N m or N]
    qd: NDArray | None = None  # (N, n), where the source has velocities
    name: str = "log"
    notes: tuple[str, ...] = ()
    temperature: NDArray | None = None  # (N, n) of the joints, above the one at which their friction holds [K]
    still: bool = False
    path: Path | None = None  # of the file it was read from
    format: LogFormat = LogFormat()  # of the file it was read from
    currents: tuple[str, ...] = ()  # columns of currents that stand, as they are, in the place of torques
    corrections: tuple[LogCorrection, ...] = ()  # that were applied, in this order

    def __post_init__(self) -> None:
        for name in ("t", "q", "tau", "qd", "temperature"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name), float))
        if self.t.ndim != 1 or self.q.ndim != 2:
            expected = "t (N,) and q (N, n)"
            raise ReadError(where=self.name, expected=expected, got=f"shapes {self.t.shape} and {self.q.shape}")
        for name in ("q", "tau", "qd", "temperature"):
            array = getattr(self, name)
            if array is None:
                continue
            if array.shape != (len(self.t), self.n):
                raise ReadError(where=self.name, expected=f"{name} of shape {(len(self.t), self.n)}", got=array.shape)
            known = array if name != "tau" else array[:, self.measured]
            if not np.isfinite(known).all():
                raise ReadError(f"{name} has values that are not finite numbers", where=self.name)
        if not self.measured.any():
            raise ReadError(where=self.name, expected="torques of at least one joint", got="none")
        fewest = MIN_POSES if self.still else MIN_SAMPLES
        if len(self.t) < fewest:
            what = "poses" if self.still else "samples"
            raise ReadError(where=self.name, expected=f"at least {fewest} {what}", got=len(self.t))
        if not (np.diff(self.t) > 0).all():
            raise ReadError(where=self.name, expected="times that rise from sample to sample")

    @cached_property
    def measured(self) -> NDArray:
        """Joints (n,) of bool whose torques were measured."""
        return np.asarray(~np.isnan(self.tau).all(axis=0))

    @property
    def extent(self) -> str:
        """Description of its size."""
        if self.still:
            return f"{pluralize(len(self), 'pose')} of {pluralize(self.n, 'joint')}"
        return f"{len(self)} samples of {self.n} joints, {self.duration:.1f} s at {1 / self.dt:.0f} Hz"

    def __repr__(self) -> str:
        return f"<Log '{self.name}': {self.extent}>"

    def __str__(self) -> str:
        """Size of the log, and how it was read."""
        return "\n".join([f"{self.name}: {self.extent}", *(f"  {note}" for note in self.notes)])

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Positions and torques over time, written to `path` if one is given (.png, .svg, .pdf)."""
        return draw_figure(self, path)

    def _repr_html_(self) -> str:
        return present(self, "html")

    def corrected(self, correction: LogCorrection) -> Log:
        """The log with a correction, such as that of a finding, applied to it."""
        from armdyn.identification.logs.corrections import correct

        return correct(self, correction)

    def part(self, first: float, last: float) -> Log:
        """The samples between two times [s]."""
        k = (self.t >= first) & (self.t <= last)
        qd, warmth = (None if x is None else x[k] for x in (self.qd, self.temperature))
        return replace(self, t=self.t[k], q=self.q[k], tau=self.tau[k], qd=qd, temperature=warmth)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The parts between gaps, resampled on the stamps to even times."""
        return tuple(self.even(part) for part in self.parts(len(self)))

    def parts(self, most: int) -> list[slice]:
        """The samples between gaps, in runs of at most about `most`."""
        if self.still:
            raise DataError(
                where=self.name,
                expected="a motion",
                got=f"a table of {pluralize(len(self), 'pose')}, which tells of gravity alone",
                remedy="use terms='gravity'",
            )
        ends = [0, *(self.gaps + 1).tolist(), len(self)]
        runs = [(a, b, -(-(b - a) // most)) for a, b in pairwise(ends) if b - a >= MIN_SAMPLES]
        cuts = [np.linspace(a, b, count + 1).astype(int).tolist() for a, b, count in runs]
        return [slice(a, b) for cut in cuts for a, b in pairwise(cut) if b - a >= MIN_SAMPLES]

    def fresh(self, part: slice) -> Fresh:
        """Return which samples of a run are new readings."""
        q, tau = self.q[part], self.tau[part]
        fresh = _fresh(self.t[part], q)
        return Fresh(fresh, fresh | np.r_[True, (tau[1:] != tau[:-1])[:, self.measured].any(axis=1)])

    def even(self, part: slice) -> Stretch:
        """A run of samples without gaps, resampled on the stamps to even times."""
        t, q, tau = self.t[part], self.q[part], self.tau[part]
        dt, fresh = self.dt, self.fresh(part)
        grid = t[0] + dt * np.arange(int((t[-1] - t[0]) / dt * (1 + 1e-9)) + 1)
        if fresh.q.all() and len(grid) == len(t) and np.abs(grid - t).max() < 1e-3 * dt:
            return Stretch(grid, q, tau, dt, None if self.temperature is None else self.temperature[part])
        from scipy.interpolate import PchipInterpolator

        # Splines would overshoot between stamps that are close by chance.
        warmth = None if self.temperature is None else interpolate(grid, t, self.temperature[part])
        positions = PchipInterpolator(t[fresh.q], q[fresh.q])(np.clip(grid, t[0], t[fresh.q][-1]))
        return Stretch(grid, positions, interpolate(grid, t[fresh.tau], tau[fresh.tau]), dt, warmth)


def _fresh(t: NDArray, q: NDArray) -> NDArray:
    """Samples (N,) whose positions are not those of the sample before, but for those of an arm at rest.

    Over a reading that was sent again the joints move on as before and after; an arm at rest leaves it slowly.
    """
    same = np.r_[False, (q[1:] == q[:-1]).all(axis=1)]
    first = np.flatnonzero(~same)
    if len(first) == len(q) or len(first) < 4:
        return np.ones(len(q), bool)
    # How fast the arm leaves the first sample of each run, and how fast it is before and after.
    rate = np.linalg.norm(np.diff(q[first], axis=0), axis=1) / np.diff(t[first])
    around = np.minimum(np.r_[rate[0], rate[:-1]], np.r_[rate[1:], rate[-1]])
    again = np.r_[rate >= GOING_SHARE * around, False]
    return ~same | ~np.repeat(again, np.diff(np.r_[first, len(q)]))


def interpolate(grid: NDArray, t: NDArray, x: NDArray) -> NDArray:
    """Columns (N, n) at times t, linearly at those of a grid."""
    return np.stack([np.interp(grid, t, column) for column in x.T], axis=1)
