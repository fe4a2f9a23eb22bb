"""What motions that exist already tell about the parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError, expect
from armdyn.lowpass import lowpass
from armdyn.trajectory.protocol import GRID_RATE_HZ, Trajectory

if TYPE_CHECKING:
    from armdyn.trajectory.excitation.objective import ExcitationObjective
    from armdyn.trajectory.excitation.series_space import SeriesSpace

CUTOFF_HZ = 8.0  # of the low-pass before differentiation [Hz]


def held_information(space: SeriesSpace, objective: ExcitationObjective, logs: Any) -> NDArray | None:
    """Sum of W' W (c, c) of one or more logs or trajectories, per second of motion as the space's samples are."""
    motions = tuple(logs) if isinstance(logs, Iterable) and not _is_motion(logs) else (logs,)
    if not motions:
        return None
    total: NDArray | float = 0.0
    for k, motion in enumerate(motions, 1):
        t, states = _states(motion, objective.base.source.n, f"prior_logs: motion {k}")
        W = objective.rows(states)
        share = (t[-1] - t[0]) / len(t) * space.samples / space.duration
        total = total + share * (W.T @ W)
    return np.asarray(total)


def _is_motion(value: Any) -> bool:
    return isinstance(value, Trajectory) or (hasattr(value, "t") and hasattr(value, "q"))


def _states(motion: Any, n: int, what: str) -> tuple[NDArray, tuple[NDArray, ...]]:
    """Times (N,) and states (N, n), differentiated where they were not given."""
    expect(_is_motion(motion), what, "a log with t and q, or a trajectory", got=type(motion).__name__)
    if isinstance(motion, Trajectory):
        t = np.linspace(0.0, motion.duration, max(2, int(motion.duration * GRID_RATE_HZ)))
        states: tuple[NDArray, ...] = tuple(motion(t))
    else:
        t, q = np.asarray(motion.t, float), np.asarray(motion.q, float)
        if t.ndim != 1 or q.ndim != 2 or len(t) != len(q) or len(t) < 50:
            expected = "at least 50 times (N,) and positions (N, n)"
            raise ShapeError(where=what, expected=expected, got=f"{t.shape}, {q.shape}")
        t, states = _differentiate(t, q)
    if states[0].shape[1] != n:
        raise ShapeError(where=what, expected=f"{n} joints", got=states[0].shape[1])
    return t, states


def _differentiate(t: NDArray, q: NDArray) -> tuple[NDArray, tuple[NDArray, ...]]:
    """Positions on even times through a zero-phase low-pass, and their central differences."""
    even = np.linspace(t[0], t[-1], len(t))
    h = even[1] - even[0]
    q = np.column_stack([np.interp(even, t, column) for column in q.T])
    if 0.4 / h > CUTOFF_HZ:
        q = lowpass(q, h, CUTOFF_HZ)
    qd = np.gradient(q, h, axis=0)
    return even, (q, qd, np.gradient(qd, h, axis=0))
