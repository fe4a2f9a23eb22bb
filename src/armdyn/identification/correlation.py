"""How much residuals resemble their neighbours: as many samples say less than as many independent ones would."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def count_lags(n: int) -> int:
    """Lags over which n samples show their autocorrelation: twice the root, as Bartlett's and Parzen's windows take."""
    return min(n, max(4, int(2 * np.sqrt(n))))


def correlate(x: NDArray, y: NDArray) -> NDArray:
    """Sums over t of x(t + lag) y(t), for lags from zero on, column by column."""
    size = 1 << (2 * len(x)).bit_length()  # products do not wrap around
    spectrum = np.fft.rfft(x, size, axis=0) * np.fft.rfft(y, size, axis=0).conj()
    return np.fft.irfft(spectrum, size, axis=0)[: len(x)]


def correlation_times(residual: NDArray) -> NDArray:
    """After how many samples (n,) residuals say something new."""
    e, lags = residual - residual.mean(axis=0), count_lags(len(residual))
    correlation = correlate(e, e)[:lags]
    correlation = correlation / np.maximum(correlation[0], 1e-300)
    ended = np.cumsum(correlation < 0.05, axis=0) > 0
    return np.maximum(1.0, 1 + 2 * np.where(ended, 0, correlation)[1:].sum(axis=0))


def correlations(a: NDArray, b: NDArray) -> NDArray:
    """Correlation (n, n) of every column of a with every column of b; zero for constants."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.outer(np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0))
    return np.divide(a.T @ b, size, out=np.zeros_like(size), where=size > 0)
