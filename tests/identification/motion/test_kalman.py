"""The Kalman filter of positions: steady state, noise levels, varying intensities, two stages."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.motion.kalman import (
    TwoStage,
    filter_forward,
    smooth,
    transition,
    triple_integrator,
    white_jerk,
)
from armdyn.identification.motion.kalman_noise import (
    filter_varying,
    jerk_from_limits,
    noise_levels,
    resolution,
    smooth_varying,
)

DT = 0.005
# Kapadia 4.4: jerk of the order of 1e3, samples every 5 ms; joint 1 of a PUMA 560 has some 1e-4 rad a count.
JERK, STEP = 1e3, 1e-4
NOISE = STEP / np.sqrt(12)


def driven(jerk, samples, seed=0):
    """Motions (N, n, 3) of triple integrators driven by white jerk of intensities (N, n), exactly sampled."""
    rng = np.random.default_rng(seed)
    jerk = np.asarray(jerk, float)
    kicks = rng.normal(size=(samples, jerk.shape[-1], 3)) @ np.linalg.cholesky(white_jerk(DT)).T
    kicks = kicks * np.sqrt(np.broadcast_to(jerk, kicks.shape[:2]))[..., None]
    x = np.zeros_like(kicks)
    for k in range(1, samples):
        x[k] = x[k - 1] @ transition(DT).T + kicks[k - 1]
    return x


def test_steady_state_is_riccatis():
    """Reached by iteration, and by SciPy in other units than the filter's own."""
    steady = triple_integrator(DT, JERK, NOISE)
    _, P = filter_varying(np.zeros((400, 1)), DT, JERK, NOISE)
    after = steady.P - np.outer(steady.K, steady.P[0])
    np.testing.assert_allclose(P[-1, 0], after, rtol=1e-6)
    micro = 1e6  # micrometres instead of metres
    A, C = transition(DT), np.array([[1.0, 0.0, 0.0]])
    wanted = solve_discrete_are(A.T, C.T, micro**2 * JERK * white_jerk(DT), np.array([[(micro * NOISE) ** 2]]))
    np.testing.assert_allclose(steady.P * micro**2, wanted, rtol=1e-6)
    np.testing.assert_allclose(steady.K, wanted[:, 0] / (wanted[0, 0] + (micro * NOISE) ** 2), rtol=1e-6)


def test_covariances_are_those_of_the_errors():
    truth = driven(np.full(40, JERK), 600)
    measured = truth[..., 0] + NOISE * np.random.default_rng(1).normal(size=truth.shape[:2])
    found, P = filter_varying(measured, DT, JERK, NOISE)
    motion, Ps = smooth_varying(measured, DT, JERK, NOISE)
    both = np.stack([motion.q, motion.qd, motion.qdd], axis=2)
    for estimate, covariance in ((found, P), (both, Ps)):
        error = (estimate - truth)[200:400]
        spread = np.sqrt(np.diagonal(covariance[300, 0]))
        # 40 runs of 200 samples that are alike over some ten: 3 % of a deviation.
        np.testing.assert_allclose(np.sqrt(np.mean(error**2, axis=(0, 1))), spread, rtol=0.1)


def test_the_smoother_beats_the_filter():
    truth = driven(np.full(3, JERK), 2000)
    measured = np.round(truth[..., 0] / STEP) * STEP
    causal = filter_forward(measured, DT, JERK, NOISE)
    # The corner at which jerk and noise balance.
    corner = (JERK / (NOISE**2 * DT)) ** (1 / 6) / (2 * np.pi)
    steady, (varying, _) = smooth(measured, DT, corner), smooth_varying(measured, DT, JERK, NOISE)
    inner = slice(100, -100)
    for k, name in enumerate(("q", "qd", "qdd")):
        errors = [np.std((x - truth[..., k])[inner]) for x in (causal[..., k], getattr(steady, name))]
        assert errors[1] < 0.75 * errors[0]
        np.testing.assert_allclose(getattr(varying, name)[inner], getattr(steady, name)[inner], atol=1e-3 * errors[1])


class TestResponse:
    def test_bandwidth_is_where_three_decibels_are_lost(self):
        steady = triple_integrator(DT, JERK, 1e-3)
        band = steady.bandwidth(DT)
        for k, f in enumerate(band):
            gain = abs(steady.response(f, DT)[k] / (2j * np.pi * f) ** k)
            # Frequencies are tried 0.07 % apart, and gains fall with their third power at most.
            assert gain == pytest.approx(np.sqrt(0.5), rel=3e-3)
        assert band[0] > band[1] > band[2]

    def test_two_stages_do_what_their_response_says(self):
        two = TwoStage(triple_integrator(DT, JERK, NOISE), triple_integrator(DT, 1e6, 0.02))
        t, f = np.arange(0, 20, DT), 3.0
        found = two.run(np.sin(2 * np.pi * f * t)[:, None])[:, 0]
        wanted = np.imag(two.response(f) * np.exp(2j * np.pi * f * t)[:, None])
        np.testing.assert_allclose(found[2000:], wanted[2000:], atol=1e-6 * np.abs(wanted).max())

    def test_two_stages_widen_the_band_of_accelerations(self):
        """Kapadia 7.2.1: one stage has a poor band for accelerations, a far better one for velocities."""
        one = triple_integrator(DT, 1.0, 1e-2)  # a slow filter, as the thesis had
        quick = triple_integrator(DT, JERK, NOISE)
        two = TwoStage(quick, one)
        assert one.bandwidth(DT)[1] > one.bandwidth(DT)[2]
        assert two.bandwidth()[2] > 1.2 * one.bandwidth(DT)[2]


class TestNoiseLevels:
    @pytest.mark.parametrize("step", [2 * np.pi / 4096, 1e-5])
    def test_the_encoder_is_recognised(self, step):
        rng = np.random.default_rng(2)
        t = np.arange(4000) * DT
        q = np.stack([np.sin(t), 0.3 * np.cos(2 * t), 0.1 * np.sin(0.7 * t)], axis=1)
        np.testing.assert_allclose(resolution(np.round(q / step) * step), step, rtol=1e-6)
        np.testing.assert_array_equal(resolution(q + 1e-5 * rng.normal(size=q.shape)), 0.0)
        assert resolution(np.zeros((20, 1)))[0] == 0.0

    def test_noise_and_jerk(self):
        truth = driven([100.0, JERK, 10 * JERK], 6000)[..., 0]
        found = noise_levels(np.round(truth / STEP) * STEP, DT)
        np.testing.assert_allclose(found.noise, NOISE, rtol=1e-6)
        # Corners are tried a fifth apart, which jerk feels to the sixth power.
        np.testing.assert_array_less(np.abs(np.log10(found.jerk / [100.0, JERK, 10 * JERK])), 0.7)
        rough = noise_levels(truth + 1e-3 * np.random.default_rng(3).normal(size=truth.shape), DT)
        np.testing.assert_allclose(rough.noise, 1e-3, rtol=0.1)
        assert not rough.resolution.any()
        written = noise_levels(np.round(truth + 1e-3 * np.random.default_rng(3).normal(size=truth.shape), 6), DT)
        np.testing.assert_allclose(written.noise, 1e-3, rtol=0.1)

    def test_bad_input(self):
        q = np.zeros((30, 2))
        for wrong, parts in (
            (lambda: triple_integrator(DT, JERK, 0.0), {"expected": "dt, jerk and noise > 0"}),
            (
                lambda: filter_forward(q[:, 0], DT, JERK, NOISE),
                {"where": "filter_forward", "expected": "positions of shape (N >= 1, n)"},
            ),
            (
                lambda: filter_forward(q, DT, JERK, NOISE, np.zeros((3, 2))),
                {"expected": "u of shape (30, 2)", "got": "(3, 2)"},
            ),
            (lambda: filter_varying(q, DT, np.ones((3, 2)), NOISE), {"expected": "jerk of shape (30, 2)"}),
            (
                lambda: smooth_varying(q * np.nan, DT, JERK, NOISE),
                {"cause": "positions have values that are not finite numbers"},
            ),
        ):
            with raises(ShapeError, **parts):
                wrong()
        with raises(ShapeError, where="noise_levels", expected="positions of shape (N >= 12, n)", got="(30,)"):
            noise_levels(np.zeros(30), DT)


class TestVaryingJerk:
    @pytest.fixture
    def arm(self):
        plain = armdyn.arms.planar2()
        limits = [armdyn.Limits(effort=e) for e in (40.0, 15.0)]
        return plain.with_joints([dataclasses.replace(j, limits=m) for j, m in zip(plain.joints, limits, strict=True)])

    def test_it_follows_pose_and_limits(self, arm):
        straight, folded = jerk_from_limits(arm, [[0.0, 0.0], [0.0, 2.5]], 0.01)
        # Intensity times the rise is the square of an acceleration that the limits give.
        M = armdyn.mass_matrix(arm, [0.0, 0.0])
        np.testing.assert_allclose(straight * 0.01, (np.abs(np.linalg.inv(M)) @ [40.0, 15.0]) ** 2)
        assert abs(np.log(folded[0] / straight[0])) > 0.5
        with raises(ArmdynError, cause="joint 'joint1' of arm 'planar2' has no effort limit", names=("joint1",)):
            jerk_from_limits(armdyn.arms.planar2().with_joints(
                [dataclasses.replace(j, limits=armdyn.Limits()) for j in arm.joints]), [[0.0, 0.0]], 0.01)  # fmt: skip
        with raises(ArmdynError, expected="rise > 0 s", got="0.0"):
            jerk_from_limits(arm, [[0.0, 0.0]], 0.0)

    def test_knowing_it_beats_a_constant(self):
        """The thesis's open wish: intensities that change tenfold and more as the arm moves."""
        jerk = JERK * 10.0 ** (2 * np.sin(np.arange(4000) * DT))[:, None] * np.ones(5)
        truth = driven(jerk, 4000)
        measured = truth[..., 0] + NOISE * np.random.default_rng(5).normal(size=truth.shape[:2])
        inner = slice(100, -100)
        for estimate in (lambda q: filter_varying(measured, DT, q, NOISE)[0][..., 2],
                         lambda q: smooth_varying(measured, DT, q, NOISE)[0].qdd):  # fmt: skip
            # Relative to what jerk allows: else the wildest stretch decides alone.
            errors = [
                np.mean(((estimate(q) - truth[..., 2])[inner] / jerk[inner] ** 0.5) ** 2) for q in (jerk, jerk.mean())
            ]
            assert errors[0] < 0.8 * errors[1]

    def test_known_jerk_enters(self):
        t = np.arange(0, 10, DT)
        q, middle = np.sin(3 * t)[:, None], -27 * np.cos(3 * (t + DT / 2))[:, None]
        errors = [
            np.abs(filter_varying(q, DT, 1.0, 1e-2, u)[0][1000:, 0, 2] + 9 * q[1000:, 0]).max() for u in (None, middle)
        ]
        assert errors[1] < 0.1 * errors[0]
        motion, _ = smooth_varying(q, DT, 1.0, 1e-2, middle)
        np.testing.assert_allclose(motion.qdd[200:-200], -9 * q[200:-200], atol=0.01)
