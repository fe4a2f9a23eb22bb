"""Commands of a log sent to servos in simulation, many sets of parameters at a time: the lanes of one kernel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armdyn.control.laws.position_commands import MAX_WAITING, WAITING, PositionCommands
from armdyn.servo.log import SAME_TIME_S, ServoSegment, smooth
from armdyn.servo.parameters import MAX_DELAY_S, NAMES, ParameterLayout
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion

MAX_STEP_S = 2.5e-3  # s: longest step of the integrator; servos answer within some 20 ms
SETTLING_TIME_S = 0.3  # s after which the velocity guessed for the start of a piece is forgotten


@dataclass(frozen=True, eq=False)
class Held:
    """Commands as a reference: what `simulate` shows as desired."""

    piece: ServoSegment
    duration: float

    def __call__(self, t: NDArray) -> JointMotion:
        """The command last sent at times (T,)."""
        return JointMotion(self.piece.sent_at(t), *np.zeros((2, len(t), self.piece.command.shape[1])))


@dataclass(frozen=True, eq=False)
class Replay:
    """A piece of a log, ready to be replayed."""

    space: ParameterLayout
    piece: ServoSegment
    q0: NDArray
    qd0: NDArray

    @classmethod
    def of(cls, space: ParameterLayout, piece: ServoSegment) -> Replay:
        """With a start smoothed from the first measurements."""
        q, qd, _ = smooth(piece.t, piece.q)
        return cls(space, thin_commands(piece), q[0], qd[0])

    @property
    def counted(self) -> NDArray:
        """Measurements that are compared, (N,)."""
        return self.piece.t >= SETTLING_TIME_S

    def __call__(self, x: NDArray) -> NDArray:
        """Positions (lanes, N, n) at the times of the measurements, for vectors x (lanes, size)."""
        lanes = np.concatenate([x, x]) if len(x) == 1 else x  # the kernel for single runs would be one more to compile
        piece, arm = self.piece, self.space.arm
        delay = self.space.table(lanes)[:, NAMES.index("delay")]
        steps = max(1, int(np.ceil(piece.dt / MAX_STEP_S)))
        h = piece.dt / steps
        even = bool(np.abs(piece.t - piece.dt * np.arange(len(piece.t))).max() < SAME_TIME_S)
        count = (len(piece.t) - 1) * steps if even else int(np.ceil(piece.t[-1] / h))
        result = simulate(
            self.space.plant(lanes, piece.payload),
            PositionCommands(arm, piece.command_t, piece.command, delay, MAX_DELAY_S),
            Held(piece, count * h), rate=1 / h, substeps=1, q0=self.q0, qd0=self.qd0, every=steps if even else 1,
            check=False, quiet=True, name="replay", threads=_threads(len(lanes)),
        )  # fmt: skip
        if result.interrupted:
            raise KeyboardInterrupt  # which `simulate` answers with what it has
        rows = len(piece.t) if even else count + 1
        whole = np.pad(result.q, ((0, 0), (0, rows - result.q.shape[1]), (0, 0)), constant_values=np.nan)
        q = whole if even else _between(piece.t / h, whole)
        # Runs that left all bounds are a turn away.
        return np.where(np.isfinite(q), q, piece.q + 2 * np.pi)[: len(x)]


def _threads(lanes: int) -> int:
    """Threads for so many lanes: one per free processor, none with fewer lanes than fill a vector register."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(usable, lanes // 8))


def _between(at: NDArray, q: NDArray) -> NDArray:
    """Rows of q (lanes, T, n) at positions `at` (N,) between them."""
    k = np.clip(at.astype(int), 0, q.shape[1] - 2)
    share = (at - k)[:, None]
    return q[:, k] * (1 - share) + q[:, k + 1] * share


def thin_commands(piece: ServoSegment) -> ServoSegment:
    """The piece with as many commands as may be on their way within the largest delay."""
    step = float(np.median(np.diff(piece.command_t)))
    keep = max(1, int(np.ceil(MAX_DELAY_S / (MAX_WAITING - WAITING) / step)))
    return piece._replace(command_t=piece.command_t[::keep], command=piece.command[::keep])


def residuals(replays: Sequence[Replay], x: NDArray) -> NDArray:
    """Measured less replayed positions (lanes, all samples, n)."""
    return np.concatenate([(r.piece.q - r(x))[:, r.counted] for r in replays], axis=1)
