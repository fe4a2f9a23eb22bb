"""A zero-phase low-pass of columns of samples."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FILTER_ORDER = 4  # how steeply it falls off


def lowpass(x: NDArray, dt: float, cutoff: float) -> NDArray:
    """Zero-phase Butterworth low-pass along the first axis, halving (-6 dB) at `cutoff` [Hz].

    It is SciPy's `sosfiltfilt` with odd extensions, to rounding.
    """
    x = np.asarray(x, float)
    more, columns = min(len(x) - 1, int(3 / (cutoff * dt))), x.reshape(len(x), -1).T
    ends = 2 * columns[:, :1] - columns[:, more:0:-1], 2 * columns[:, -1:] - columns[:, -2 : -more - 2 : -1]
    y = np.concatenate([ends[0], columns, ends[1]], axis=1)
    blocks = _block_filter(min(2 * cutoff * dt, 0.95), round(y.shape[1] ** 0.4))  # products cost as much as the rest
    for _ in range(2):  # forward, then backward
        y = blocks.run(y)[:, ::-1]
    return np.ascontiguousarray(y[:, more : y.shape[1] - more].T).reshape(x.shape)


class _BlockFilter(NamedTuple):
    """A low-pass, the sum of resonances s(k) = p s(k-1) + x(k), as dense products with blocks of samples."""

    within: NDArray  # (size, size) response to the samples of a block
    states: NDArray  # (size, 2 modes) resonances at its end, as pairs of real and imaginary parts
    after: NDArray  # (2 modes, size) response to resonances at the end of the block before
    step: NDArray  # (modes,) of the resonances over a block

    def run(self, x: NDArray) -> NDArray:
        """Filter rows (k, N) that were constant before the first sample."""
        (rows, samples), size = x.shape, len(self.within)
        padded = np.zeros((rows, -(-samples // size) * size))
        np.subtract(x, x[:, :1], out=padded[:, :samples])
        blocks = padded.reshape(-1, size)
        ends, step, k = (blocks @ self.states).view(complex).reshape(rows, -1, len(self.step)), self.step, 1
        while k < ends.shape[1]:  # of the block before, then of two, of four: all that came before
            ends[:, k:] += step * ends[:, :-k]
            step, k = step**2, 2 * k
        y = (blocks @ self.within).reshape(rows, -1, size)
        y[:, 1:] += ends[:, :-1].view(float) @ self.after
        return np.asarray(y.reshape(rows, -1)[:, :samples] + x[:, :1])


@lru_cache(maxsize=64)
def _block_filter(corner: float, size: int) -> _BlockFilter:
    """Return the Butterworth low-pass by partial fractions of its bilinear transform; corner 1 is half the rate."""
    angles, k = np.pi * (np.arange(1, FILTER_ORDER, 2) + FILTER_ORDER) / (2 * FILTER_ORDER), np.arange(size + 1)
    analogue = np.tan(np.pi * corner / 2) * np.exp(1j * angles)
    half = (1 + analogue) / (1 - analogue)
    poles = np.concatenate([half, half.conj()])
    gain = np.prod(1 - poles).real / 2**FILTER_ORDER
    others = [np.prod(1 - np.delete(poles, i) / p) for i, p in enumerate(half)]
    residues = gain * (1 + 1 / half) ** FILTER_ORDER / np.array(others)
    powers = half[:, None] ** k
    after = 2 * residues[:, None] * powers
    response = after[:, :size].sum(axis=0).real
    response[0] += (gain / np.prod(poles)).real
    within = np.where(k[:size] >= k[:size, None], response[k[:size] - k[:size, None]], 0.0)
    pairs = np.stack([after.real, -after.imag], axis=1).reshape(-1, size + 1)
    return _BlockFilter(within, np.ascontiguousarray(powers[:, size - 1 :: -1].T).view(float), pairs[:, 1:], half**size)
