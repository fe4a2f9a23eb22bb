"""One moment of a motion."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Moment:
    """One moment of a motion; at rest unless something plays."""

    q: NDArray  # (n,) [rad or m]
    qd: NDArray
    qdd: NDArray
    measured: NDArray | None = None  # (n,) torques [N m or N], where a log or a simulation has them
    time: float | None = None  # within what plays [s]
