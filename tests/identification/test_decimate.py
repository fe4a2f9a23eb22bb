"""Decimation by dense products is a plain convolution, of which some samples are kept."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.identification.decimate import decimator


@pytest.mark.parametrize(("width", "step", "count"), [(41, 5, 23), (41, 5, 1), (7, 9, 12), (11, 1, 50), (20, 20, 3)])
def test_is_a_convolution(width, step, count):
    rng = np.random.default_rng(width)
    taps, x = rng.normal(size=width), rng.normal(size=((count - 1) * step + width + 3, 4))
    found = decimator(taps, step, count) @ x
    wanted = np.array([taps @ x[i * step : i * step + width] for i in range(count)])
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_takes_columns_that_are_not_contiguous():
    x = np.random.default_rng(0).normal(size=(60, 3, 8))
    low = decimator(np.ones(10) / 10, 5, 11)
    np.testing.assert_allclose(low @ x[:, 1, ::2], low @ x[:, 1, ::2].copy(), atol=1e-14)
