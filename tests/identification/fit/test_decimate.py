"""Decimation by dense products is a plain convolution, of which some samples are kept."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.identification.fit.decimate import decimator, slope
from armdyn.identification.motion.differentiate import impulse


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


def test_slope_is_the_derivative_of_what_the_taps_leave():
    dt = 0.005
    t, taps = np.arange(0, 10, dt), impulse(dt, 5.0)
    x = np.stack([np.ones_like(t), 3 * t, np.sin(2 * np.pi * t)], axis=1)
    count = (len(t) - len(taps)) // 7 + 1
    found = decimator(slope(taps, dt), 7, count) @ x
    np.testing.assert_allclose(found[:, 0], 0, atol=1e-10)
    np.testing.assert_allclose(found[:, 1], 3, atol=1e-9)
    middle = t[len(taps) // 2 :: 7][:count]
    # What both lose at the ends of the taps: 1 %.
    np.testing.assert_allclose(found[:, 2], 2 * np.pi * np.cos(2 * np.pi * middle), atol=0.02 * 2 * np.pi)
