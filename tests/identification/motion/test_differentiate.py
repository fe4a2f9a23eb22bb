"""Derivatives of measured positions: exact motions, noise, and the thesis's Kalman filter."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.motion.differentiate import METHODS, best_cutoff, impulse, smoothers
from armdyn.identification.motion.kalman import filter_forward, triple_integrator
from armdyn.lowpass import lowpass

DT = 0.002


@pytest.fixture(scope="module")
def motion():
    t = np.arange(0, 8, DT)
    w = 2 * np.pi * np.array([0.5, 0.8])
    q = np.sin(np.outer(t, w)) + 0.3 * np.cos(np.outer(t, 2.2 * w))
    qd = w * np.cos(np.outer(t, w)) - 0.3 * 2.2 * w * np.sin(np.outer(t, 2.2 * w))
    qdd = -(w**2) * np.sin(np.outer(t, w)) - 0.3 * (2.2 * w) ** 2 * np.cos(np.outer(t, 2.2 * w))
    return t, q, qd, qdd


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_without_delay(motion, method):
    _, q, qd, qdd = motion
    found = armdyn.differentiate(q, DT, method=method, cutoff=20.0)
    inner = slice(500, -500)
    assert np.abs(found.qd - qd)[inner].max() < 2e-2 * np.abs(qd).max()
    assert np.abs(found.qdd - qdd)[inner].max() < 2e-2 * np.abs(qdd).max()


@pytest.mark.parametrize("method", METHODS)
def test_noise_is_removed(motion, method):
    _, q, _, qdd = motion
    noisy = q + 1e-4 * np.random.default_rng(0).normal(size=q.shape)
    found = armdyn.differentiate(noisy, DT, method=method)
    inner = slice(500, -500)
    error = np.sqrt(np.mean((found.qdd - qdd)[inner] ** 2))
    raw = np.sqrt(np.mean((np.gradient(np.gradient(noisy, DT, axis=0), DT, axis=0) - qdd)[inner] ** 2))
    assert error < 0.05 * raw
    assert error < 0.05 * np.abs(qdd).max()


def test_chosen_cutoff_follows_the_noise(motion):
    _, q, *_ = motion
    rng = np.random.default_rng(1)
    chosen = [best_cutoff(q + s * rng.normal(size=q.shape), DT) for s in (1e-6, 1e-3)]
    assert chosen[0] > chosen[1] > 1.76  # the motion's highest frequency


def test_auto_is_the_best_way_by_the_true_derivatives(motion):
    """Left-out positions tell the best method without knowing the truth."""
    _, q, _, qdd = motion
    inner = slice(500, -500)
    noisy = q + 1e-4 * np.random.default_rng(0).normal(size=q.shape)
    found = armdyn.differentiate(noisy, DT)
    errors = {m: np.std((armdyn.differentiate(noisy, DT, method=m).qdd - qdd)[inner]) for m in METHODS}
    assert np.std((found.qdd - qdd)[inner]) <= 1.01 * min(errors.values())
    assert found.method == min(errors, key=errors.__getitem__)


def test_auto_leaves_butterworth_where_that_pays():
    """About corners of the motion a filter of high order rings; splines do not."""
    t = np.arange(0, 8, DT)[:, None]
    q = np.abs(t / [0.5, 0.7] % 2 - 1)
    noisy = q + 1e-5 * np.random.default_rng(4).normal(size=q.shape)
    found, plain = armdyn.differentiate(noisy, DT), armdyn.differentiate(noisy, DT, method="butterworth")
    assert found.method == "spline"
    assert np.std((found.q - q)[100:-100]) < 0.95 * np.std((plain.q - q)[100:-100])
    scores = {s.method: s.score for s in smoothers(noisy, DT, 0.5, 200.0)}
    assert min(scores, key=scores.__getitem__) == "spline"


def test_lowpass_halves_at_its_corner():
    t = np.arange(0, 20, DT)
    x = np.sin(2 * np.pi * 5.0 * t)[:, None]
    inner = slice(2000, -2000)
    assert np.ptp(lowpass(x, DT, 5.0)[inner]) == pytest.approx(1.0, rel=0.01)
    taps = impulse(DT, 5.0)  # fades out within two periods of the corner: a few percent of what is halved there
    np.testing.assert_allclose(taps, taps[::-1], atol=1e-9)
    np.testing.assert_allclose(np.convolve(x[:, 0], taps, "same")[inner], lowpass(x, DT, 5.0)[inner, 0], atol=0.03)


def test_kalman_gain_is_the_golden_one(golden):
    g = golden("kalman_triple_integrator")
    found = triple_integrator(g["Ts"], g["q"], np.sqrt(g["R"]))
    np.testing.assert_allclose(found.Q, g["Q"], rtol=1e-12)
    np.testing.assert_allclose(found.P, g["P_pred"], rtol=1e-6)
    np.testing.assert_allclose(found.K, g["K"], rtol=1e-6)


def test_kalman_response_is_that_of_the_filter():
    f0, dt = 3.0, 0.005
    steady = triple_integrator(dt, 1e3, 1e-4)
    t = np.arange(0, 20, dt)
    found = filter_forward(np.sin(2 * np.pi * f0 * t)[:, None], dt, 1e3, 1e-4)[:, 0]
    gain = steady.response(np.array([f0]), dt)[0]
    wanted = np.imag(gain * np.exp(2j * np.pi * f0 * t)[:, None])
    np.testing.assert_allclose(found[2000:], wanted[2000:], atol=1e-6 * np.abs(wanted).max(axis=0).max())


def test_known_jerk_removes_the_lag():
    dt = 0.005
    t = np.arange(0, 10, dt)
    q, jerk = np.sin(3 * t)[:, None], -27 * np.cos(3 * t)[:, None]
    # The jerk over a step is that at its middle.
    middle = -27 * np.cos(3 * (t + dt / 2))[:, None]
    errors = [
        np.abs(filter_forward(q, dt, 1.0, 1e-2, u)[1000:, 0, 2] + 9 * q[1000:, 0]).max() for u in (None, jerk, middle)
    ]
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < errors[1]


def test_bad_input():
    with raises(ShapeError, expected="positions of shape (N >= 12, n)", got="(30,)"):
        armdyn.differentiate(np.zeros(30), 0.01)
    for dt in (0.0, -0.01, np.nan):
        with raises(ShapeError, expected="a time between samples > 0 s"):
            armdyn.differentiate(np.zeros((30, 1)), dt)
    with raises(ShapeError, cause="positions have values that are not finite numbers"):
        armdyn.differentiate(np.full((30, 1), np.nan), 0.01)
    with raises(ShapeError, where="differentiate", expected="positions of shape (N, n)", got="[['a']]"):
        armdyn.differentiate([["a"]], 0.01)
    with raises(ArmdynError, expected="a cutoff > 0 Hz", got="-1.0"):
        armdyn.differentiate(np.zeros((30, 1)), 0.01, cutoff=-1.0)
    with raises(ArmdynError, expected="method one of auto, butterworth, kalman, savgol, spline, two-stage"):
        armdyn.differentiate(np.zeros((30, 1)), 0.01, method="guess")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cutoff", [2.0, 5.0, 20.0])
def test_positions_are_halved_at_the_cutoff(method, cutoff):
    t = np.arange(0, 8, DT)
    found = armdyn.differentiate(np.sin(2 * np.pi * cutoff * t)[:, None], DT, method=method, cutoff=cutoff)
    # Windows of local cubics have odd numbers of samples: 33 for the 32 that 20 Hz would need.
    assert np.ptp(found.q[1000:-1000]) == pytest.approx(1.0, rel=0.1 if method == "savgol" else 0.01)
    assert found.cutoff == cutoff


@pytest.mark.parametrize("dt", [1e-4, 0.01, 1.0])
def test_short_and_still_positions(dt):
    for q in (np.zeros((12, 2)), np.random.default_rng(0).normal(size=(13, 2)), np.outer(np.arange(20), [1.0, 2.0])):
        found = armdyn.differentiate(q, dt)
        assert all(np.isfinite(part).all() for part in found[:3])


def test_identify_tells_method_and_bandwidth(two, make_log):
    log = make_log(two, noise=0.02)
    fit = armdyn.identify(two, log)
    assert fit.filters.method in METHODS
    assert f"smoothed by {fit.filters.method}, halved at {fit.filters.cutoff:.3g} Hz" in str(fit)
    asked = armdyn.identify(two, log, method="spline", cutoff=12.0)
    assert (asked.filters.method, asked.filters.cutoff) == ("spline", 12.0)


def test_kapadias_two_stages_lag_behind_the_smoothers():
    dt = 1e-3
    t = np.arange(3000) * dt
    q = np.sin(2 * np.pi * t)[:, None]
    exact = -((2 * np.pi) ** 2) * np.sin(2 * np.pi * t)
    stages, smoothed = (armdyn.differentiate(q, dt, method=m, cutoff=20.0) for m in ("two-stage", "kalman"))
    middle = slice(1000, 2000)
    late = [np.abs(x.qdd[middle, 0] - exact[middle]).max() for x in (stages, smoothed)]
    assert late[0] > 10 * late[1]
    # It is a delay: shifted by it, accelerations agree to a few per cent.
    shifts = [np.abs(stages.qdd[1000 + k : 2000 + k, 0] - exact[middle]).max() for k in range(60)]
    assert 0 < int(np.argmin(shifts)) < 59
    assert min(shifts) < 0.05 * np.abs(exact).max()
    assert stages.method == "two-stage"
