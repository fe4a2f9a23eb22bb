"""Lyapunov functions along a run: whether theory held in practice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import MAX_LISTED


class Lyapunov(NamedTuple):
    """V, the rate that theory gives it, and the smallest eigenvalue of what makes it fall, each (..., T)."""

    V: NDArray
    rate: NDArray
    margin: NDArray  # where it is not positive, nothing is proven

    @classmethod
    def of(cls, V: NDArray, rate: NDArray, K: NDArray) -> Lyapunov:
        """With the least eigenvalue of the symmetric part of gains (..., n, n) as margin."""
        margin = np.linalg.eigvalsh((K + K.swapaxes(-1, -2)) / 2)[..., 0]
        return cls(V, rate, np.broadcast_to(margin, V.shape))

    @property
    def unproven(self) -> float:
        """Part of the run during which theory does not promise that V falls."""
        return float((self.margin <= 0).mean())

    def open_intervals(self, t: ArrayLike) -> NDArray:
        """Begin and end (k, 2) of the intervals of a run of times t (T,) during which nothing is proven."""
        times, failing = np.asarray(t, float), np.concatenate([[False], self.margin <= 0, [False]])
        edges = np.flatnonzero(failing[1:] != failing[:-1]).reshape(-1, 2)
        return np.column_stack([times[edges[:, 0]], times[edges[:, 1] - 1]])

    def report(self, t: ArrayLike) -> str:
        """Return what became of V in one run of times t (T,), and where theory does not promise that it falls."""
        lines = [f"V: {self.V[0]:.3g} at first, {self.V[-1]:.3g} at last, largest rise {self._rise:.2g}"]
        intervals = self.open_intervals(t)
        if not len(intervals):
            return f"{lines[0]}; theory promises that it falls all along"
        lines.append(f"nothing is proven in {self.unproven:.1%} of the run (margin down to {self.margin.min():.3g}):")
        lines += [f"  {begin:.4g} s to {end:.4g} s" for begin, end in intervals[:MAX_LISTED]]
        if len(intervals) > MAX_LISTED:
            lines.append(f"  and {len(intervals) - MAX_LISTED} more intervals")
        return "\n".join(lines)

    @property
    def _rise(self) -> float:
        """Largest rise of V above its least value before."""
        return float((self.V - np.minimum.accumulate(self.V)).max())


def surface(run: Any, lam: NDArray) -> NDArray:
    """The distance s = e' + Lambda e from the sliding surface along a run, (..., T, n)."""
    return np.asarray(run.qd_ref - run.qd + (run.q_ref - run.q) @ np.asarray(lam).T)


def quadratic(A: NDArray, x: NDArray) -> NDArray:
    """The quadratic form x' A x, sample by sample."""
    return np.einsum("...i,...ij,...j->...", x, A, x)


def parameter_energy(phi: NDArray, truth: ArrayLike, gain: ArrayLike) -> NDArray:
    """Half the squared error of the estimate, measured by the inverse gain; what is not adapted adds nothing."""
    gain = np.asarray(gain, float)
    weight = np.divide(1.0, gain, out=np.zeros_like(gain), where=gain > 0)
    return (weight * (phi - np.asarray(truth)) ** 2).sum(-1) / 2
