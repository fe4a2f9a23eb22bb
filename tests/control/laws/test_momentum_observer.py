"""The momentum observer: the residual against its equation, what it notices and when, reactions, C."""

import dataclasses
import shutil

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import ComputedTorque, Friction, Plant, Reference, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.laws.momentum import (
    MomentumObserver,
    detection_delay,
    external_torque,
    fit_threshold,
    noise_threshold,
)
from armdyn.control.laws.wrapped import Wrapped
from armdyn.errors import ShapeError

BANDWIDTH = 20.0


@pytest.fixture(scope="module")
def arm(planar):
    joints = [dataclasses.replace(joint, friction=Friction(viscous=1.0)) for joint in planar.joints]
    return planar.with_joints(joints)


def watched(arm, reaction="none", threshold=5.0, **options):
    return MomentumObserver(ComputedTorque.from_bandwidth(arm, 2.0), threshold, BANDWIDTH, reaction, **options)


def test_one_step_is_the_equation_of_the_page(arm):
    """r' = L (p' - tau - C' qd + g + friction - r) over a period of constant torque, by armdyn's other functions."""
    law, rng, dt = watched(arm, threshold=1e6), np.random.default_rng(0), 1e-3
    q, qd, p_hat, impulse, before = rng.normal(size=(5, 2))
    state = {**law.init(), "residual": before, "p_hat": p_hat, "impulse": impulse, "watching": np.ones(1)}
    ref = Reference(q, qd, 0 * q)
    tau, after = law.step(arm, law.params, state, q, qd, ref, dt)
    p = armdyn.augmented_mass_matrix(arm, q) @ qd
    rate = armdyn.coriolis_matrix(arm, q, qd).T @ qd - armdyn.gravity_torque(arm, q) - 1.0 * qd
    outside = (p - p_hat - impulse) / dt - rate / 2
    r = outside + np.exp(-2 * np.pi * BANDWIDTH * dt) * (before - outside)
    assert np.allclose(after["residual"], r, rtol=1e-10)
    assert np.allclose(after["p_hat"], p + dt / 2 * rate, rtol=1e-10)
    assert np.allclose(after["impulse"], 1e-3 * tau, rtol=1e-12)
    assert np.allclose(tau, law.law(0.0, q, qd, ref), rtol=1e-12)


def test_the_residual_follows_a_torque_from_outside_with_its_lag(arm, swing):
    """A constant wrench at the tip from t = 0.3 s on: the first-order response of its joint torques."""
    reference = swing([0.4, -0.3], [0.5, 0.4], 1.0)
    plant = Plant(arm, wrench=lambda t: [0, 30.0 * (t >= 0.3), 0, 0, 0, 0])
    run = simulate(plant, watched(arm, threshold=1e6), reference, 0.6, 1000, check=False)
    J = armdyn.jacobian(arm, run.q, axes="tip")
    outside = 30.0 * J[:, 1] * (run.t >= 0.3)[:, None]
    seen, L = run.states["residual"][1:], 2 * np.pi * BANDWIDTH
    expected = np.zeros_like(seen)
    for k in range(1, len(seen)):
        expected[k] = outside[k - 1] + np.exp(-1e-3 * L) * (expected[k - 1] - outside[k - 1])
    # The integrator sees the wrench begin within a period: a part of a sample, which fades.
    assert np.abs(seen - expected).max() < 0.03 * np.abs(outside).max()
    assert np.abs(seen - expected)[350:].max() < 2e-3 * np.abs(outside).max()
    # A wrench at the tip that explains it all, as two joints allow.
    explained = np.einsum("tij,ti->tj", armdyn.jacobian(arm, run.q)[:-1], run.states["wrench"][1:])
    assert np.allclose(explained, seen, atol=1e-3)


def test_a_record_gives_the_residual_that_the_law_saw(arm, swing):
    plant = Plant(arm, wrench=[5.0, 0, 0, 0, 0, 1.0])
    run = simulate(plant, watched(arm), swing([0.4, -0.3], [0.5, 0.4], 1.0), 0.3, check=False)
    again = external_torque(arm, run.t, run.q, run.qd, run.tau, BANDWIDTH)
    assert np.allclose(again[:-1], run.states["residual"][1:], atol=1e-9)


def test_contacts_are_noticed_in_time_and_clean_motion_is_not(arm, swing):
    """A step of 20 N m on a joint at a threshold of 5: in 10 ms, and as the formula says; no alarm before."""
    reference, at = swing([0.4, -0.3], [0.5, 0.4], 1.0), 0.3005
    moment = [0, 0, 0, 0, 0, 20.0]  # about the joints' axes: 20 N m on both
    plant = Plant(arm, wrench=lambda t: np.multiply(moment, t >= at))
    run = simulate(plant, watched(arm), reference, 0.5, 1000, check=False)
    first = run.t[np.argmax(run.states["detected"][:, 0] > 0)] - 1e-3  # states are those after the sample
    assert at < first <= at + 0.010
    assert first <= at + detection_delay(5.0, 20.0, BANDWIDTH) + 1e-9
    clean = simulate(arm, watched(arm), reference, 1.0, 1000, check=False)
    assert not clean.states["detected"].any()
    assert (noise_threshold(clean.states["residual"]) < 5.0).all()


class Hit(Wrapped):
    """A torque from outside on one joint from a time on, which the law inside is not told of."""

    def __init__(self, law, torque, at):
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "_hit", (np.asarray(torque, float), at))

    def channels(self, t, motion):
        torque, at = self._hit
        return {**super().channels(t, motion), "hit": np.where(np.asarray(t)[:, None] >= at, torque, 0.0)}

    def step(self, arm, params, state, q, qd, ref, dt):
        tau, after = self.inner(params, state, q, qd, ref, dt)
        return tau + ref.channels["hit"], after


@pytest.mark.parametrize("joint", [1, *(pytest.param(joint, marks=pytest.mark.slow) for joint in (0, 2, 3))])
def test_a_panda_notices_20_newton_metres_within_10_ms(joint):
    """At thresholds that a record of a real Panda forces at 5 Hz (docs/control.md), in motion and against gravity."""
    panda, threshold = armdyn.arms.panda(), [2.3, 3.7, 2.9, 2.3, 1.0, 1.0, 1.0]
    law = MomentumObserver(ComputedTorque.from_bandwidth(panda, 2.0), threshold, 5.0, "none")
    for sign in (1, -1):
        hit = Hit(law, sign * 20.0 * np.eye(7)[joint], 0.3)
        run = simulate(panda, hit, armdyn.Sway.within(panda, 0.5), 0.4, 1000, check=False)
        seen = run.states["detected"][:, 0] > 0
        assert not seen[run.t <= 0.3].any()
        assert run.t[np.argmax(seen)] - 1e-3 <= 0.310  # states are those after the sample


@pytest.mark.parametrize("reaction", ["stop", "gravity", "reflex"])
def test_reactions(arm, swing, reaction):
    """Stopped arms rest where they were hit, floating ones feel gravity alone, reflexes lead away."""
    plant = Plant(arm, wrench=lambda t: [0, 0, 0, 0, 0, -15.0 * (0.2 <= t < 0.4)])
    run = simulate(plant, watched(arm, reaction), swing([0.6, -0.3], [0.5, 0.4], 2.0), 1.5, 1000, check=False)
    hit = int(np.argmax(run.states["detected"][:, 0] > 0))
    assert 200 < hit < 220
    if reaction == "stop":
        assert np.abs(run.q[-1] - run.states["q_hit"][-1]).max() < 1e-3
        return
    if reaction == "gravity":
        late = slice(hit + 1, None)
        assert np.allclose(run.tau[late], armdyn.gravity_torque(arm, run.q)[late], atol=1e-9)
    else:
        assert (run.states["residual"] * run.qd)[hit + 100].sum() > 0  # it goes where it is pushed


def test_reflexes_add_the_residual(arm):
    """Gravity and the residual times the gain, once a hit was noticed, whatever the law wants."""
    law, rng = watched(arm, "reflex", reflex=[0.5, 2.0]), np.random.default_rng(1)
    q, qd, p_hat, far = rng.normal(size=(4, 2))
    state = {**law.init(), "p_hat": p_hat, "watching": np.ones(1), "detected": np.ones(1)}
    tau, after = law.step(arm, law.params, state, q, qd, Reference(q + far, qd, 0 * q), 1e-3)
    assert np.abs(after["residual"]).min() > 0.1
    assert np.allclose(tau, armdyn.gravity_torque(arm, q) + [0.5, 2.0] * after["residual"], rtol=1e-10)


def test_thresholds_and_delays():
    assert detection_delay(25.0, 20.0) == np.inf
    slow, quick = (detection_delay(5.0, 20.0, bandwidth) for bandwidth in (5.0, 20.0))
    assert quick < slow
    passed = np.sqrt(12.566 / 13.566)  # L T = 2 pi 20 0.1
    assert fit_threshold([1.0, 2.0], 0.1, 20.0, 6.0) == pytest.approx([6.0 * passed, 12.0 * passed], rel=1e-3)


def test_bad_input(planar):
    law = ComputedTorque.from_bandwidth(planar, 2.0)
    with raises(ShapeError, names=("run",), expected="one of none, stop, gravity, reflex"):
        MomentumObserver(law, 5.0, reaction="run")
    with raises(ShapeError, where="MomentumObserver: threshold", expected="torques > 0, one number or 2", got="-1.0"):
        MomentumObserver(law, -1.0)
    with raises(ShapeError, expected="equally spaced times"):
        external_torque(planar, [0.0, 0.1, 0.3], *np.zeros((3, 3, 2)))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_it_exports(arm, tmp_path):
    self_test(law_code(watched(arm, "reflex"), tmp_path, 1000.0, prefix="watch"))
