"""Plots of the page."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.html import MAX_POINTS
from armdyn.studio.drawing.plot import thin, value_range

NAN = np.nan


@pytest.mark.parametrize(
    ("curves", "expected"),
    [
        ([[NAN, NAN, 40.0], [400.0, 90.0, 60.0]], (0.0, 450.0)),
        ([[NAN, NAN]], (0.0, 1.0)),
        ([[0.0, 0.0]], (-5e-13, 5e-13)),
        ([[-3.0, 3.0]], (-3.5, 3.5)),
        ([[np.inf, 2.0, 2.5]], (1.95, 2.55)),
    ],
)
def test_the_axis_holds_every_number(curves, expected):
    ends = value_range([np.array(curve) for curve in curves])
    assert ends == pytest.approx(expected, rel=1e-9)
    numbers = np.concatenate(curves)[np.isfinite(np.concatenate(curves))]
    assert all(ends[0] < x < ends[1] for x in numbers)


def test_a_bad_start_does_not_hide_the_rest():
    assert value_range([np.array([1e6, 70.0, 50.0])], most=6.0) == (0.0, 350.0)


def test_thinned_curves_keep_their_ends():
    t, curves = thin(np.arange(5000.0), {"x": np.arange(5000.0) ** 2})
    assert len(t) == MAX_POINTS
    assert (t[0], t[-1], curves["x"][-1]) == (0.0, 4999.0, 4999.0**2)
