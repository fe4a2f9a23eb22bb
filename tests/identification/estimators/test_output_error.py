"""DIDIM on a simulated arm under PD control, whose positions are too noisy for derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.estimators.output_error import Didim

DT, KP, KD = 0.005, np.array([400.0, 100.0]), np.array([40.0, 8.0])


def closed_loop(arm, theta):
    """q, qd, qdd, tau (N, n) of the arm with bodies theta under PD control along a reference; semi-implicit Euler."""
    t = np.arange(0, 6, DT)[:, None]
    w = 2 * np.pi * np.array([0.4, 0.7])
    ref, rate = np.sin(w * t) + 0.4 * np.cos(2.1 * w * t), w * np.cos(w * t) - 0.84 * w * np.sin(2.1 * w * t)
    q, qd, found = ref[0].copy(), rate[0].copy(), []
    for r, v in zip(ref, rate, strict=True):
        tau = KP * (r - q) + KD * (v - qd)
        qdd = armdyn.forward_dynamics(arm, q, qd, tau, theta=theta)
        found.append((q, qd, qdd, tau))
        qd = qd + DT * qdd
        q = q + DT * qd
    return (np.array(column) for column in zip(*found, strict=True))


@pytest.fixture(scope="module")
def run():
    arm = armdyn.arms.planar2()
    base = armdyn.base_parameters(arm)
    full = np.linalg.pinv(base.P)

    def simulate(x):
        # Bodies with these base parameters, as near to the description as can be.
        q, qd, qdd, _ = closed_loop(arm, arm.theta + full @ (x - base.theta))
        return base.regressor(q, qd, qdd)

    rng = np.random.default_rng(0)
    truth = arm.theta * np.repeat([0.85, 1.2], 10)
    q, _, _, tau = closed_loop(arm, truth)
    noisy = q + 2e-3 * rng.normal(size=q.shape)
    rates = np.gradient(noisy, DT, axis=0)
    Y = base.regressor(noisy, rates, np.gradient(rates, DT, axis=0))
    return base, simulate, base.project(truth), Data(Y, tau + 0.5 * rng.normal(size=tau.shape))


def test_noise_of_positions_does_not_matter(run):
    base, simulate, truth, data = run
    found = Didim(simulate, start=base.theta).fit(data)
    size = np.abs(truth).max()
    assert np.abs(found.x - truth).max() < 0.01 * size
    assert np.all(np.abs(found.x - truth) < 5 * found.std)
    assert np.abs(LeastSquares().fit(data).x - truth).max() > 0.05 * size
    np.testing.assert_allclose(found.rms, 0.5, rtol=0.1)


def test_start_of_another_size(run):
    with raises(ArmdynError, expected="6 parameters to start with", got="shape (2,)"):
        Didim(run[1], start=np.zeros(2)).fit(run[3])
