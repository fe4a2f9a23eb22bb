"""Bounds of masses that are known beforehand: of every link, or of all together, as a data sheet tells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError
from armdyn.spatial import inertia as inertial


class MassBounds(NamedTuple):
    """Masses of links lie between `lower` and `upper`, or their sum between those of `whole` [kg]."""

    lower: NDArray  # (n,)
    upper: NDArray  # (n,)
    whole: tuple[float, float]

    @classmethod
    def of(cls, mass: ArrayLike, n: int) -> MassBounds:
        """Build bounds from a pair (least, most) for the whole of n links, or pairs (n, 2) for each."""
        try:
            bounds = np.asarray(mass, float)
        except (TypeError, ValueError):
            bounds = np.empty(0)
        if bounds.shape not in ((2,), (n, 2)):
            expected = f"mass (least, most) of all links, or one pair for each of {n} links"
            raise ArmdynError(where="identify", expected=expected)
        if not ((bounds[..., 0] >= 0) & (bounds[..., 0] < bounds[..., 1])).all():
            raise ArmdynError(where="identify", expected="mass with 0 <= least < most", got=bounds.tolist())
        if bounds.ndim == 1:
            return cls(np.zeros(n), np.full(n, np.inf), (float(bounds[0]), float(bounds[1])))
        return cls(bounds[:, 0], bounds[:, 1], (0.0, np.inf))

    def rows(self, size: int) -> tuple[NDArray, NDArray]:
        """G (k, size) and h (k,) of G theta > h; those of infinite bounds are left out."""
        each = np.eye(size)[:: inertial.SIZE]
        both = np.vstack([each, each.sum(axis=0)])
        lower, upper = np.append(self.lower, self.whole[0]), np.append(self.upper, self.whole[1])
        low, high = lower > 0, np.isfinite(upper)  # positive they are anyway
        return np.vstack([both[low], -both[high]]), np.concatenate([lower[low], -upper[high]])

    def inside(self, theta: NDArray) -> NDArray:
        """The bodies theta (10 n,), those outside the bounds scaled to masses in the middle of them."""
        before = theta[:: inertial.SIZE]
        mass = np.where((self.lower < before) & (before < self.upper), before, _middle(self.lower, self.upper))
        if not self.whole[0] < mass.sum() < self.whole[1]:
            mass = mass * _middle(*self.whole) / mass.sum()
        return np.asarray(theta * np.repeat(mass / before, inertial.SIZE))


def _middle(lower: ArrayLike, upper: ArrayLike) -> NDArray:
    """The middle of bounds; twice the lower one where there is no upper one."""
    return np.where(np.isfinite(upper), np.add(lower, upper) / 2, 2 * np.asarray(lower))
