"""Keeping what a run computes, and noticing when it leaves all bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError
from armdyn.simulation.schedule import Schedule

# No joint of any arm is this fast [rad/s or m/s].
RUNAWAY = 1e5
LARGEST_BYTES = 4 * 2**30


@dataclass
class Record:
    """Arrays (lanes, rows, ...) filled as a run goes on; a row is kept every `stride` steps."""

    stride: int
    arrays: dict[str, NDArray]
    diverged_step: NDArray  # (lanes,), -1: not
    diverged_joint: NDArray
    rows: int = 0  # rows filled
    notes: list[str] = field(default_factory=list)
    complete: bool = True

    @classmethod
    def empty(cls, schedule: Schedule, lanes: int, every: int, shapes: dict[str, tuple[int, ...]]) -> Record:
        """A record for all outputs of a run."""
        rows = schedule.clock.samples // every + 1
        size = 8 * lanes * rows * sum(int(np.prod(shape)) for shape in shapes.values())
        if size > LARGEST_BYTES:
            raise ShapeError(
                f"simulate: {lanes} runs of {rows} samples would take {size / 2**30:.1f} GiB; "
                f"keep fewer samples with every={max(2, every * int(np.ceil(size / LARGEST_BYTES)))}"
            )
        arrays = {name: np.empty((lanes, rows, *shape)) for name, shape in shapes.items()}
        return cls(every * schedule.clock.substeps, arrays, np.full(lanes, -1), np.zeros(lanes, int))

    def keep(self, first: int, buffers: dict[str, NDArray], count: int) -> None:
        """Copy what is wanted of `count` steps from step `first`."""
        start = -first % self.stride
        if start < count:
            rows = slice((first + start) // self.stride, (first + count - 1) // self.stride + 1)
            for name, array in self.arrays.items():
                array[:, rows] = buffers[name][:, start : count : self.stride]
            self.rows = rows.stop

    def finish(self, steps: int, last: dict[str, NDArray]) -> None:
        """Add the state (lanes, ...) after the last step, if its row is kept; torques are held."""
        if steps % self.stride == 0:
            for name, array in self.arrays.items():
                array[:, self.rows] = array[:, self.rows - 1] if name == "tau" else last[name]
            self.rows += 1

    def watch(self, first: int, qd: NDArray) -> bool:
        """Note the runs whose velocities (lanes, steps, n) leave all bounds; False if none is left."""
        with np.errstate(invalid="ignore"):
            if max(qd.max(), -qd.min()) < RUNAWAY:
                return True
            bad = ~(np.abs(qd) < RUNAWAY)
        for lane in np.flatnonzero(bad.any((1, 2)) & (self.diverged_step < 0)):
            step = int(np.argmax(bad[lane].any(1)))
            self.diverged_step[lane], self.diverged_joint[lane] = first + step, int(np.argmax(bad[lane, step]))
        return bool((self.diverged_step < 0).any())

    def stop(self, why: str) -> None:
        """End the run before its time."""
        self.complete = False
        self.notes.append(why)

    def divergence(self, h: float, joint_names: Sequence[str]) -> str | None:
        """One sentence about the first run that diverged."""
        bad = np.flatnonzero(self.diverged_step >= 0)
        if not len(bad):
            return None
        lane = bad[np.argmin(self.diverged_step[bad])]
        t, joint = self.diverged_step[lane] * h, joint_names[self.diverged_joint[lane]]
        count = f"{len(bad)} of {len(self.diverged_step)} runs" if len(self.diverged_step) > 1 else "the run"
        return f"{count} diverged, first at t = {t:.4g} s in joint '{joint}'"


def outputs_of(rollout: Any) -> dict[str, tuple[int, ...]]:
    """Names and shapes of what a rollout computes."""
    return {port.name: port.shape for port in rollout.outputs}
