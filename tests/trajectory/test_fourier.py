"""Fourier series: derivatives and the bound between samples."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

from armdyn import FourierSeries
from armdyn.errors import ShapeError
from armdyn.trajectory.fourier import peak_factor
from armdyn.trajectory.protocol import Trajectory


@pytest.fixture
def series() -> FourierSeries:
    return FourierSeries(np.random.default_rng(1).normal(size=(3, 11)), frequency=0.13, duration=4.0)


def test_it_is_a_trajectory(series):
    assert isinstance(series, Trajectory)
    assert series.n == 3
    assert series.harmonics == 5
    q, qd, qdd = series(np.zeros((2, 5)))
    assert q.shape == qd.shape == qdd.shape == (2, 5, 3)


def test_velocities_and_accelerations_are_derivatives(series):
    t, h = np.linspace(0.1, 3.9, 50), 1e-5
    ahead, behind = series(t + h), series(t - h)
    # Central differences: h² times a third derivative of about 50, and round-off of 1e-16 / h.
    np.testing.assert_allclose((ahead.q - behind.q) / (2 * h), series(t).qd, atol=1e-7)
    np.testing.assert_allclose((ahead.qd - behind.qd) / (2 * h), series(t).qdd, atol=1e-6)


def test_it_repeats_after_a_period_and_stands_still_outside():
    series = FourierSeries(np.random.default_rng(2).normal(size=(2, 7)), frequency=0.5, duration=4.0)
    np.testing.assert_allclose(series(0.3).q, series(2.3).q, atol=1e-12)
    assert not series(4.1).qd.any()
    assert not series(-0.1).qdd.any()
    np.testing.assert_array_equal(series(9.0).q, series(4.0).q)


def test_no_series_rises_above_the_bound_between_samples():
    rng = np.random.default_rng(3)
    fine = np.linspace(0, 2 * np.pi, 20_001)
    k = np.arange(6)
    for _ in range(30):
        a, b = rng.normal(size=(2, 6))

        def p(t, a=a, b=b):
            return np.cos(np.multiply.outer(t, k)) @ a + np.sin(np.multiply.outer(t, k)) @ b

        sampled = np.abs(p(2 * np.pi * np.arange(14) / 14)).max()
        assert np.abs(p(fine)).max() <= peak_factor(5, 14) * sampled * (1 + 1e-12)


def test_the_bound_is_tight():
    # cos(H t) sampled where it is smallest in size.
    t = 2 * np.pi * (np.arange(40) + 0.5) / 40
    assert 1 / np.abs(np.cos(20 / 4 * t)).max() <= peak_factor(5, 40)


@pytest.mark.parametrize(
    ("coefficients", "frequency", "duration", "parts"),
    [
        (np.zeros((2, 4)), 1.0, 1.0, {"expected": "coefficients (n, 2 H + 1)", "got": "(2, 4)"}),
        (np.zeros((2, 5)), 0.0, 1.0, {"expected": "frequency as a finite number > 0", "got": "0.0"}),
        (np.zeros((2, 5)), 1.0, np.nan, {"expected": "duration as a finite number > 0", "got": "nan"}),
    ],
)
def test_bad_series(coefficients, frequency, duration, parts):
    with raises(ShapeError, **parts):
        FourierSeries(coefficients, frequency, duration)


def test_a_polynomial_may_be_added():
    rng = np.random.default_rng(4)
    series = FourierSeries(rng.normal(size=(2, 7)), 0.3, 4.0, drift=rng.normal(size=(2, 5)))
    t, h = np.linspace(0.1, 3.9, 50), 1e-5
    (q0, qd0, _), (_, qd, qdd), (q1, qd1, _) = series(t - h), series(t), series(t + h)
    # Central differences.
    np.testing.assert_allclose((q1 - q0) / (2 * h), qd, atol=1e-7)
    np.testing.assert_allclose((qd1 - qd0) / (2 * h), qdd, atol=1e-7)
    alone = FourierSeries(series.coefficients, 0.3, 4.0)
    added = series(t).q - alone(t).q
    assert np.polynomial.Polynomial.fit(t, added[:, 0], 5, full=True)[1][0].max() < 1e-20
    with raises(ShapeError, expected="drift (2, 5)", got="(2, 4)"):
        FourierSeries(series.coefficients, 0.3, 4.0, drift=np.zeros((2, 4)))


@pytest.mark.parametrize("seed", range(5))
def test_peaks_bound_the_motion_at_all_times_and_closely(seed):
    rng = np.random.default_rng(seed)
    series = FourierSeries(rng.normal(size=(2, 11)), 0.1, 10.0, rng.normal(size=(2, 5)))
    center = rng.normal(size=2)
    peaks = series.peaks(center, rate=50.0)
    q, qd, qdd = series(rng.uniform(0, 10, 200_000))
    for peak, x in zip(peaks, (q - center, qd, qdd), strict=True):
        largest = np.abs(x).max(0)
        assert (largest <= peak).all()
        # h² / 8 of the second derivatives: 5e-5 of values of some units
        assert (peak <= largest * (1 + 1e-2)).all()


def test_derivative_bounds_hold():
    rng = np.random.default_rng(0)
    series = FourierSeries(rng.normal(size=(3, 11)), 0.1, 10.0, rng.normal(size=(3, 5)))
    t = np.linspace(0, 10, 20_001)
    _, qd, qdd = series(t)
    h = t[1]
    for order, x in ((1, qd), (2, qdd), (3, np.diff(qdd, axis=0) / h), (4, np.diff(qdd, 2, axis=0) / h**2)):
        assert (np.abs(x).max(0) <= series.derivative_bound(order) * (1 + 1e-6)).all()
