"""What all records of joint positions over time have in common."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

# Stamps further apart than this many sample periods and seconds are a gap: nothing is invented there.
GAP, GAP_SECONDS = 8.0, 0.05


class Stamped:
    """A record with times and positions."""

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
        """From first to last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @cached_property
    def gaps(self) -> NDArray:
        """Positions of the samples after which some are missing."""
        return np.flatnonzero(np.diff(self.t) > max(GAP * self.dt, GAP_SECONDS))
