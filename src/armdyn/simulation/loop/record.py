"""Keeping what a run computes, and noticing when it leaves all bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError
from armdyn.simulation.loop.schedule import Schedule

# No joint of any arm is this fast [rad/s or m/s].
RUNAWAY_VELOCITY = 1e5
MAX_BYTES = 4 * 2**30


class Runaway(Exception):
    """A plant that is stepped from Python left all bounds in a step; the rows after that step are filled."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


@dataclass
class RunRecord:
    """Arrays (lanes, rows, ...) filled as a run goes on; a row is kept every `stride` steps."""

    stride: int
    arrays: dict[str, NDArray]
    diverged_step: NDArray  # (lanes,), -1: not
    diverged_joint: NDArray
    faulty: NDArray  # (lanes,): whether it was a torque that was no number
    rows: int = 0  # rows filled
    notes: list[str] = field(default_factory=list)
    complete: bool = True

    @classmethod
    def empty(cls, schedule: Schedule, lanes: int, every: int, shapes: dict[str, tuple[int, ...]]) -> RunRecord:
        """A record for all outputs of a run."""
        rows = schedule.clock.samples // every + 1
        size = 8 * lanes * rows * sum(int(np.prod(shape)) for shape in shapes.values())
        if size > MAX_BYTES:
            cause = f"{lanes} runs of {rows} samples would take {size / 2**30:.1f} GiB"
            remedy = f"keep fewer samples with every={max(2, every * int(np.ceil(size / MAX_BYTES)))}"
            raise ShapeError(cause, where="simulate", remedy=remedy)
        arrays = {name: np.empty((lanes, rows, *shape)) for name, shape in shapes.items()}
        none = np.zeros(lanes, int)
        return cls(every * schedule.clock.substeps, arrays, none - 1, none.copy(), none.astype(bool))

    def keep(self, first: int, buffers: dict[str, NDArray], count: int) -> None:
        """Copy what is wanted of `count` steps from step `first`."""
        start = -first % self.stride
        if start < count:
            rows = slice((first + start) // self.stride, (first + count - 1) // self.stride + 1)
            for name, array in self.arrays.items():
                array[:, rows] = buffers[name][:, start : count : self.stride]
            self.rows = rows.stop

    def finish(self, steps: int, last: dict[str, NDArray]) -> None:
        """Add the state (lanes, ...) after the last step, and what was seen and exerted there, if its row is kept."""
        if steps % self.stride == 0:
            for name, array in self.arrays.items():
                array[:, self.rows] = last[name] if name in last else array[:, self.rows - 1]
            self.rows += 1

    def watch(self, first: int, qd: NDArray, tau: NDArray) -> bool:
        """Note the runs whose velocities leave all bounds; False if none is left.

        `qd` and `tau` (lanes, steps, n) are the velocities after the steps from `first`, and the torques in them.
        """
        with np.errstate(invalid="ignore"):
            if max(qd.max(), -qd.min()) < RUNAWAY_VELOCITY:
                return True
            bad = ~(np.abs(qd) < RUNAWAY_VELOCITY)
        for lane in np.flatnonzero(bad.any((1, 2)) & (self.diverged_step < 0)):
            step = int(np.argmax(bad[lane].any(1)))
            fault = ~np.isfinite(tau[lane, step])
            self.diverged_step[lane], self.faulty[lane] = first + step, fault.any()
            self.diverged_joint[lane] = np.argmax(fault) if fault.any() else _fastest(qd[lane, : step + 1])
        return bool((self.diverged_step < 0).any())

    @property
    def good_rows(self) -> NDArray:
        """For every run that diverged, how many rows came before, (lanes,), without torques that are no numbers."""
        return (self.diverged_step - self.faulty) // self.stride + 1

    def forget_after_divergence(self) -> None:
        """Fill what follows the divergence of a run with NaN: it means nothing."""
        for lane in np.flatnonzero(self.diverged_step >= 0):
            for array in self.arrays.values():
                array[lane, self.good_rows[lane] : self.rows] = np.nan

    def stop(self, why: str) -> None:
        """End the run before its time."""
        self.complete = False
        self.notes.append(why)

    def divergence(self, h: float, joint_names: Sequence[str]) -> list[str]:
        """A sentence about the first run that diverged, and one about the first whose torques were no numbers."""
        stopped, messages = self.diverged_step >= 0, []
        for bad, what in (
            (stopped & ~self.faulty, "diverged, first at t = {t:.4g} s in joint '{joint}'"),
            (stopped & self.faulty, "ended: the controller gave no finite torque for joint '{joint}' at t = {t:.4g} s"),
        ):
            if bad.any():
                lane = np.flatnonzero(bad)[np.argmin(self.diverged_step[bad])]
                t, joint = self.diverged_step[lane] * h, joint_names[self.diverged_joint[lane]]
                who = f"{bad.sum()} of {len(bad)} runs" if len(bad) > 1 else "the run"
                messages.append(f"{who} {what.format(t=t, joint=joint)}")
        return messages


def _fastest(qd: NDArray) -> int:
    """The joint that was fastest at the last of the rows (steps, n) that holds numbers alone."""
    rows = qd[np.isfinite(qd).all(-1)]
    return int(np.argmax(np.abs(rows[-1]))) if len(rows) else 0


def outputs_of(rollout: Any) -> dict[str, tuple[int, ...]]:
    """Names and shapes of what a rollout computes."""
    return {port.name: port.shape for port in rollout.outputs}
