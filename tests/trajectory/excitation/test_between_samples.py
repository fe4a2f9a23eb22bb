"""Bounds of slacks between samples."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.trajectory.excitation.between_samples import least_between


@pytest.mark.parametrize("phase", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(
    "curve",
    [
        lambda x: 0.2 + 3 * np.abs(x),  # a bend between two samples
        lambda x: 0.2 + np.maximum(2 * x, -5 * x),
        lambda x: 0.2 + 40 * x**2,
        lambda x: 0.2 - 0.5 * x,
    ],
)
def test_the_bound_is_below_the_curve_and_near_it(curve, phase):
    duration, rate = 2.0, 20.0
    middle = 1.0 + phase / rate

    def slack(t):
        return np.column_stack([curve(t - middle), np.full(len(t), 9.0)])

    true = slack(np.linspace(0, duration, 200_001)).min()
    found = least_between(slack, duration, rate)
    # Bends are found exactly; a parabola at the samples may be taken to be half its second difference deeper.
    assert true - 0.1 - 1e-9 <= found <= true + 1e-4


def test_a_dip_between_two_samples_is_found():
    def slack(t):
        return np.abs(t - 0.5025)[:, None] * 4 - 1e-3

    assert slack(np.linspace(0, 1, 101)).min() > 0
    assert least_between(slack, 1.0, 100.0) == pytest.approx(-1e-3, abs=1e-6)


def test_the_side_of_a_jump_that_no_sample_sees_is_found():
    def slack(t):  # falls to -0.0008 just before friction changes its sign
        return np.where(t < 0.5048, 0.504 - t, 1.0)[:, None]

    assert slack(np.linspace(0, 1, 101)).min() > 0
    assert least_between(slack, 1.0, 100.0) < 0


def test_no_slacks():
    assert least_between(lambda t: np.empty((len(t), 0)), 1.0) == np.inf
