"""Low-pass and keep every k-th sample, as dense products: many columns at the speed of matrix multiplication."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Decimator:
    """`low @ x` (count, columns) for x (N, columns): sample i is taps' weighted mean of x[i step : i step + width]."""

    matrix: NDArray  # (group, window) taps of the samples made together, each shifted by a step
    step: int
    count: int

    def __matmul__(self, x: NDArray) -> NDArray:
        # Rows may lie apart in memory, numbers in them not: such matrices are multiplied without a copy.
        x = x if x.dtype == float and x.strides[1] == x.itemsize else np.ascontiguousarray(x, float)
        group, window = self.matrix.shape
        whole, rest = divmod(self.count, group)
        found = np.empty((self.count, x.shape[1]))
        row, column = x.strides
        windows = np.lib.stride_tricks.as_strided(
            x, (whole, window, x.shape[1]), (group * self.step * row, row, column), writeable=False
        )
        np.matmul(self.matrix, windows, out=found[: whole * group].reshape(whole, group, -1))
        if rest:
            width = window - (group - rest) * self.step
            first = whole * group * self.step
            found[whole * group :] = self.matrix[:rest, :width] @ x[first : first + width]
        return found


def decimator(taps: NDArray, step: int, count: int) -> Decimator:
    """The decimator that makes `count` samples from (count - 1) step + len(taps) or more."""
    # With as many samples together as a window holds steps, half of the matrix is not zero.
    group = int(np.clip(len(taps) // step, 1, count))
    matrix = np.zeros((group, (group - 1) * step + len(taps)))
    for i in range(group):
        matrix[i, i * step : i * step + len(taps)] = taps
    return Decimator(matrix, step, count)


def slope(taps: NDArray, dt: float) -> NDArray:
    """Taps that low-pass and differentiate at once: exact for constants and straight lines."""
    padded = np.pad(taps, 1)
    rate = (padded[:-2] - padded[2:]) / (2 * dt)
    return rate / (rate @ (dt * np.arange(len(taps))))
