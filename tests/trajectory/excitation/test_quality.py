"""Predicted quality against experiments with known parameters."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.trajectory.excitation.quality import bias_susceptibility
from armdyn.trajectory.excitation.regressor import excitation_regressor


@pytest.fixture(scope="module")
def arm():
    limits = armdyn.Limits(-2.0, 2.0, 2.0)
    puma = armdyn.arms.puma3()
    return puma.with_joints([dataclasses.replace(joint, limits=limits) for joint in puma.joints])


@pytest.fixture(scope="module")
def design(arm):
    free = {"floor": False, "self_collision": False, "max_torque": False, "margin": 0.0}  # to the arm's limits
    return armdyn.excite(arm, 8.0, max_acceleration=8.0, starts=2, steps=300, **free)


def experiment(trajectory, base, noise, rng, rate=100):
    """Parameter errors of least squares after a motion."""
    W = excitation_regressor(base, *trajectory(np.arange(0, trajectory.duration, 1 / rate)))
    scaled = (W / noise[:, None]).reshape(-1, W.shape[-1])
    true = np.concatenate([base.theta, armdyn.joint_parameters(base.source, ("viscous", "coulomb"))])
    return np.linalg.lstsq(scaled, scaled @ true + rng.normal(size=len(scaled)), rcond=None)[0] - true


def test_standard_deviations_are_those_of_experiments(design):
    noise = np.array([0.5, 1.0, 0.2])
    predicted = armdyn.predict_quality(design, noise, rate=100)
    rng = np.random.default_rng(0)
    errors = np.array([experiment(design.trajectory, design.base, noise, rng) for _ in range(400)])
    # 400 draws show a standard deviation within 3.5 %; four times that over all parameters.
    np.testing.assert_allclose(errors.std(0), predicted.std, rtol=0.15)
    assert len(predicted.names) == len(predicted.std) == 15 + 6
    assert predicted.names[-1] == "Fc3"
    assert predicted.undetermined == ()


def test_bias_is_the_worst_of_all_torques(design):
    predicted = armdyn.predict_quality(design, 1.0, unmodelled=[0.3, 0.1, 0.2])
    W = design.problem.rows(design.problem.states(design.x))
    pinv = np.linalg.pinv(W)
    rng = np.random.default_rng(1)
    size = np.tile([0.3, 0.1, 0.2], design.problem.samples)
    for _ in range(20):
        assert (np.abs(pinv @ (size * rng.uniform(-1, 1, len(size)))) <= predicted.bias).all()
    worst = pinv[3] @ (size * np.sign(pinv[3]))
    assert worst == pytest.approx(predicted.bias[3])


def test_time_constant_is_that_of_the_slowest_mode_of_lms(design):
    gain = 1e-4
    tau = armdyn.predict_quality(design, 1.0, gain=gain, rate=25).time_constant
    # Adaptation over many periods: the error shrinks by e every tau.
    W = design.problem.rows(design.problem.states(design.x)).reshape(design.problem.samples, 3, -1)
    R = np.einsum("kic,kid->cd", W, W) / len(W)
    vectors = np.linalg.eigh(R)[1]
    error = vectors[:, 0].copy()
    for _ in range(20):
        for H in W:
            error -= gain * H.T @ (H @ error)
    elapsed = 20 * design.problem.samples / 25
    assert vectors[:, 0] @ error == pytest.approx(np.exp(-elapsed / tau), rel=0.02)


@pytest.mark.slow
def test_kalman_time_constant_is_that_of_a_filter_run(design):
    noise, rate = np.array([0.5, 1.0, 0.2]), 25.0  # the design's own samples
    drift = armdyn.predict_quality(design, noise, rate=rate).std / 100
    tau = armdyn.predict_quality(design, noise, rate=rate, drift=drift).time_constant_kalman
    W = excitation_regressor(design.base, *design.trajectory(design.problem.times)) / noise[:, None]
    # In units of the drift. Filters forget where they began within some time constants, here many periods.
    W, Q, period = W * drift, np.eye(W.shape[-1]) / rate, design.problem.duration
    assert tau > 4 * period
    P = np.linalg.inv(np.einsum("kic,kid->cd", W, W)) * len(Q)
    periods, transition = round(8 * tau / period), np.eye(len(Q))
    for k in range(periods):
        for H in W:
            HP = H @ P
            K = np.linalg.solve(HP @ H.T + np.eye(3), HP).T
            P = P - K @ HP + Q
            if k == periods - 1:
                transition = transition - K @ (H @ transition)
    slowest = np.abs(np.linalg.eigvals(transition)).max()
    # The prediction averages the motion over its period, which is short against tau.
    assert -period / np.log(slowest) == pytest.approx(tau, rel=0.05)


def test_kalman_time_constant_by_default_does_not_depend_on_units(design):
    found = [armdyn.predict_quality(design, noise) for noise in (1.0, 10.0)]
    assert found[0].time_constant_kalman == pytest.approx(found[1].time_constant_kalman)
    # T sqrt(largest eigenvalue of the correlations of the errors), which is one at the least.
    cover = np.linalg.inv(design.information)
    spread = np.sqrt(np.diag(cover))
    correlations = np.linalg.eigvalsh(cover / np.outer(spread, spread))
    assert found[0].time_constant_kalman == pytest.approx(design.problem.duration * np.sqrt(correlations[-1]))
    assert armdyn.predict_quality(design, 0.0).time_constant_kalman == 0


def test_the_optimised_motion_beats_random_and_hand_made_motions(arm):
    # The criterion that is about errors, not about their ratio.
    design = armdyn.excite(arm, 8.0, max_acceleration=8.0, criterion="log-det", steps=300)
    task, base, noise = design.problem, design.base, np.ones(3)
    rng = np.random.default_rng(2)

    def mean_error(trajectory):
        # In units of what the optimised motion makes of each parameter.
        scale = armdyn.predict_quality(design, 1.0, rate=100).std
        draws = [experiment(trajectory, base, noise, rng) for _ in range(10)]
        return np.sqrt(np.mean(np.square(draws) / scale**2))

    best = mean_error(design.trajectory)
    others = [mean_error(task.series(task.random_start(np.random.default_rng(k)))) for k in range(8)]
    assert np.mean(others) > 3 * best
    # Hand-made: each joint swings for itself, one after the other, as far and fast as it may.
    swing = []
    for i in range(3):
        there = np.zeros(3)
        there[i] = 1.0
        for start, end in ((0 * there, there), (there, -there), (-there, 0 * there)):
            swing.append(armdyn.point_to_point(start, end, velocity=2.0, acceleration=8.0))
    hand_made = armdyn.concatenate(*swing)
    assert hand_made.duration > 0.9 * 8
    assert mean_error(hand_made) > 3 * best


def test_parameters_that_do_not_move_are_undetermined(arm, design):
    task = design.problem
    x = design.x.copy()
    x[0] = 0.0  # the first joint stands still
    still = dataclasses.replace(design, trajectory=task.series(x), x=x)
    predicted = armdyn.predict_quality(still, 1.0)
    assert {"Fv1", "Fc1"} <= set(predicted.undetermined)
    assert np.isinf(predicted.std[predicted.names.index("Fv1")])
    assert np.isinf(predicted.time_constant_kalman)


def test_tracking_error_changes_the_least_singular_value_within_the_bound(design):
    t = design.problem.times
    q, qd, qdd = design.trajectory(t)
    rng = np.random.default_rng(3)
    for size in (1e-3, 1e-2, 0.1):
        found = armdyn.tracking_loss(design, (q + size * rng.normal(size=q.shape), 0.95 * qd, 0.95 * qdd))
        assert found.lower <= found.tracked <= found.upper
    exact = armdyn.tracking_loss(design, design.trajectory)
    assert exact.lower == exact.upper == exact.sigma == pytest.approx(exact.tracked)


def test_a_pd_controlled_arm_loses_no_more_of_the_criterion_than_the_bound(arm, design):
    task, rate = design.problem, 1000
    seen = np.rint(task.times * rate).astype(int)
    lost, widths = [], []
    for stiffness in (1.0, 8.0, 64.0):
        kp, kd = stiffness * np.array([500, 1000, 300]), np.sqrt(stiffness) * np.array([50, 100, 20])
        run = armdyn.simulate(arm, armdyn.PD(arm, kp, kd), design.trajectory, rate=rate)
        assert run.complete
        actual = tuple(rows[seen] for rows in (run.q, run.qd, np.gradient(run.qd, run.t, axis=0)))
        loss = armdyn.tracking_loss(design, actual)
        # The criterion of what the arm did, by the regressor alone.
        W = excitation_regressor(design.base, *actual).reshape(-1, design.information.shape[0])
        assert loss.tracked == pytest.approx(np.linalg.svd(W, compute_uv=False)[-1] ** 2 / task.samples, rel=1e-6)
        assert loss.lower <= loss.tracked <= loss.upper
        lost.append(abs(loss.tracked / loss.sigma - 1))
        widths.append((loss.upper - loss.lower) / loss.sigma)
    # Stiffer springs track better, so that the bounds narrow and next to nothing is lost.
    assert widths[0] > widths[1] > widths[2]
    assert lost[-1] < 0.05


def test_bad_requests(design):
    with raises(ArmdynError, where="predict_quality: noise", expected="one number, or 3", got="[1.0, 2.0]"):
        armdyn.predict_quality(design, [1.0, 2.0])
    with raises(ArmdynError, where="predict_quality: unmodelled", expected="finite numbers >= 0", got="-1.0"):
        armdyn.predict_quality(design, 1.0, unmodelled=-1.0)
    with raises(ArmdynError, expected="gain as a finite number > 0", got="0.0"):
        armdyn.predict_quality(design, 1.0, gain=0.0)
    with raises(ArmdynError, where="predict_quality: drift", expected="one number, or 21", got="[1.0, 2.0]"):
        armdyn.predict_quality(design, 1.0, drift=[1.0, 2.0])
    with raises(ArmdynError, where="predict_quality: drift", expected="finite numbers > 0", got="0.0"):
        armdyn.predict_quality(design, 1.0, drift=0.0)


def test_bias_susceptibility_is_reached_and_never_exceeded(design):
    """Armstrong's figure: the worst relative error of parameters a relative torque that the model does not know."""
    quality = armdyn.predict_quality(design, 1.0)
    base = design.problem.base
    W = excitation_regressor(base, *design.trajectory(design.problem.times)).reshape(-1, len(quality.names))
    arm = base.source
    friction = [[getattr(joint.friction, name) for joint in arm.joints] for name in ("viscous", "coulomb")]
    theta = np.concatenate([base.project(arm.theta), *friction])
    lengths = np.linalg.norm(W, axis=0)
    tau = W @ theta

    def relative_error(nu):
        error = np.linalg.lstsq(W, tau + nu, rcond=None)[0] - theta
        return np.linalg.norm(lengths * error) / np.linalg.norm(lengths * theta)

    U, _, _ = np.linalg.svd(W / lengths, full_matrices=False)
    worst = 0.01 * np.linalg.norm(tau) * U[:, -1]
    assert relative_error(worst) / 0.01 == pytest.approx(quality.bias_susceptibility, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(20):
        nu = rng.normal(size=len(W))
        nu *= 0.01 * np.linalg.norm(tau) / np.linalg.norm(nu)
        assert relative_error(nu) / 0.01 <= quality.bias_susceptibility
    values = np.linalg.svd(W / lengths, compute_uv=False)
    assert 1 <= quality.bias_susceptibility <= values[0] / values[-1]
    unknown = W.reshape(-1, 1, len(theta))
    assert np.isnan(bias_susceptibility(unknown, np.full(len(theta), np.nan)))
    assert np.isinf(bias_susceptibility(np.concatenate([unknown, unknown[..., :1]], -1), np.append(theta, 1.0)))
