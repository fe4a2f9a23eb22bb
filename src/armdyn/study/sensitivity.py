"""Which parameters matter: shares of a metric's variance, from the cases as they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Cases that a bin should hold, and the most bins: means must be surer than the differences between them.
CASES_PER_BIN, MAX_BINS = 25, 24


class Share(NamedTuple):
    """Effect of one factor on one metric."""

    factor: str
    share: float  # of the variance of the metric's ranks, explained by this factor alone, 0 to 1
    trend: float  # rank correlation, -1 to 1; NaN for words


def shares(factors: dict[str, NDArray], metric: NDArray) -> list[Share]:
    """The factors by their influence on a metric, the strongest first.

    The first-order index Var(E[y | x]) / Var(y) of the ranks y of the metric, estimated from means in quantile bins of
    x (Plischke, Borgonovo and Smith 2013), less what noise alone would give. Ranks, since a diverged run has no number.
    """
    y = _ranks(metric)
    effects = [
        Share(name, _explained_share(x, y), _trend(x, y)) for name, x in factors.items() if len(np.unique(x)) > 1
    ]
    return sorted(effects, key=lambda item: -item.share)


def bins(x: NDArray) -> NDArray:
    """The bin of every value, numbered from 0: one a word or distinct value if these are few, else quantiles."""
    levels, index = np.unique(x, return_inverse=True)
    count = int(np.clip(len(x) // CASES_PER_BIN, 2, MAX_BINS))
    if len(levels) <= count or x.dtype.kind not in "fiu":
        return index
    order = np.empty(len(x), int)
    order[np.argsort(x, kind="stable")] = np.arange(len(x))
    return order * count // len(x)


def _explained_share(x: NDArray, y: NDArray) -> float:
    index = bins(x)
    sizes, sums = np.bincount(index), np.bincount(index, weights=y)
    share = float((sums**2 / np.maximum(sizes, 1)).sum() / max((y**2).sum(), 1e-300))
    noise = (len(sizes) - 1) / max(len(y) - 1, 1)
    return max(0.0, (share - noise) / (1 - noise)) if noise < 1 else 0.0


def _trend(x: NDArray, y: NDArray) -> float:
    return float((_ranks(x) * y).mean()) if x.dtype.kind in "fiu" else np.nan


def _ranks(x: NDArray) -> NDArray:
    """Ranks with mean zero and standard deviation one."""
    from scipy.stats import rankdata

    ranks = rankdata(x)
    return (ranks - ranks.mean()) / (ranks.std() or 1.0)
