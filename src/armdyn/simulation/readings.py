"""A run as a log: what instruments show of it, and the files and logs made of that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.files import write_arrays, write_whole
from armdyn.trajectory.save import LINES_AT_ONCE

if TYPE_CHECKING:
    from armdyn.identification.logs.log import Log


class LogRows(NamedTuple):
    """A log as it is written: stamps may jitter, repeat and leave gaps."""

    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n)
    qd: NDArray
    tau: NDArray


class Readings(NamedTuple):
    """Sensor readings at the samples of a run; leading axes are those of a batch.

    Attributes
    ----------
    t : ndarray, shape (..., T)
        Time stamps [s].
    q, qd, tau : ndarray, shape (..., T, n)
        Positions and velocities as the controller saw them, and torques.
    copies : ndarray, shape (..., T)
        How often each sample stands in a log: 0 if it was lost, 2 if it was doubled.
    """

    t: NDArray
    q: NDArray
    qd: NDArray
    tau: NDArray
    copies: NDArray

    @property
    def rows(self) -> LogRows:
        """Rows that a log of a single run holds."""
        if self.t.ndim != 1:
            raise ArmdynError(f"a log holds one run, these are {self.t[..., 0].size}", remedy="choose one with `run`")
        at = np.repeat(np.arange(len(self.t)), self.copies)
        return LogRows(self.t[at], self.q[at], self.qd[at], self.tau[at])

    def save(self, path: str | os.PathLike[str], *, compress: bool = True) -> Path:
        """Write a log that `read_log` reads: `.csv` with columns t, q1, ..., tau<n>, every bit kept, or `.npz`.

        A `.npz` that is not compressed is written in no time.
        """
        suffix, rows = Path(path).suffix.lower(), self.rows
        if suffix == ".npz":
            return write_arrays(path, rows._asdict(), compress=compress)
        if suffix != ".csv":
            raise ArmdynError(f"cannot save a log as '{path}': expected .csv or .npz", names=(path,))
        return write_whole(path, self.lines())

    def lines(self, heading: bool = True) -> Iterator[str]:
        """A CSV file, some lines at once: long runs need no second copy of all their numbers."""
        if heading:
            names = [f"{kind}{i + 1}" for kind in ("q", "qd", "tau") for i in range(self.q.shape[-1])]
            yield ",".join(["t", *names]) + "\n"
        rows = np.column_stack(self.rows)
        for k in range(0, len(rows), LINES_AT_ONCE):
            yield "".join(",".join(map(repr, row)) + "\n" for row in rows[k : k + LINES_AT_ONCE].tolist())

    def to_log(self, name: str = "simulation", notes: tuple[str, ...] = ()) -> Log:
        """The same as `read_log` makes of the file: repeated and unusable rows dropped, and told in `notes`."""
        from armdyn.identification.logs.clock import repair
        from armdyn.identification.logs.log import Log

        t, q, qd, tau = self.rows
        fixed = repair(t, (q, tau), name)
        keep = fixed.keep
        return Log(fixed.t, q[keep], tau[keep], qd[keep], name, (*notes, *fixed.notes))
