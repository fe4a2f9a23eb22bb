"""Models beside logs: predictions piece by piece, errors on logs held out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ArmdynWarning, DataError
from armdyn.identification.fit import validation


def test_pieces_predict_what_the_whole_predicts(two, make_log, monkeypatch):
    log = make_log(two, noise=0.02)
    fit = armdyn.identify(two, log)
    whole = fit.predict(log)
    assert len(whole.t) == len(log)
    monkeypatch.setattr(validation, "PIECE_SAMPLES", 700)
    apart = fit.predict(log)
    np.testing.assert_array_equal(apart.t, whole.t)
    # Smoothing forgets the end of a piece within the second that pieces overlap.
    assert np.abs(apart.tau - whole.tau).max() < 1e-3 * np.abs(whole.tau).max()


def test_samples_around_a_gap_are_predicted(two, make_log):
    log = make_log(two, noise=0.02)
    fit = armdyn.identify(two, log)
    keep = (log.t < 8) | (log.t > 9)
    cut = dataclasses.replace(log, t=log.t[keep], q=log.q[keep], tau=log.tau[keep])
    t, tau = fit.predict(cut)
    np.testing.assert_array_equal(t, cut.t)
    assert np.linalg.norm(tau - cut.tau) < 0.02 * np.linalg.norm(cut.tau)


def test_validate_takes_paths_and_several_logs(two, make_log, tmp_path):
    logs = [make_log(two, motion=m, noise=0.02) for m in (0, 1)]
    for k, log in enumerate(logs):
        np.savez(tmp_path / f"{k}.npz", t=log.t, q=log.q, tau=log.tau)
    both = armdyn.validate(two, [tmp_path / "0.npz", logs[1]])
    each = [armdyn.validate(two, log).rel_error for log in logs]
    assert min(each) < both.rel_error < max(each)
    assert both.rel_error < 0.01
    assert np.all(np.abs(both.whiteness) < 0.5)
    with raises(ArmdynError, expected="band > 0", got="0.0"):
        armdyn.validate(two, logs[0], band=0.0)
    with raises(DataError, cause="2 joints in the log, 6 in arm 'puma560'"):
        armdyn.validate(armdyn.arms.puma560(), logs[0])


def test_each_log_is_predicted_by_the_others(two, make_log):
    logs = [make_log(two, motion=m, noise=0.02, duration=d) for m, d in ((0, 20.0), (1, 12.0), (2, 6.0))]
    fit = armdyn.identify(two, logs, validation=[make_log(two, motion=m, noise=0.02) for m in (4, 5)])
    assert fit.held_out_logs.shape == (3,)
    assert np.all(fit.held_out_logs < 0.02)
    assert fit.other is not None
    assert fit.other.rel_error < 0.02
    assert fit.other.t[-1] > 39  # both
    spoiled = dataclasses.replace(logs[1], tau=logs[1].tau * 1.3)
    with pytest.warns(ArmdynWarning) as told:
        worse = armdyn.identify(two, [logs[0], spoiled, logs[2]])
    assert any("usable with care" in str(warning.message) for warning in told)
    assert int(np.argmax(worse.held_out_logs)) == 1
    assert worse.held_out_logs[1] > 0.1
    assert armdyn.identify(two, logs[0]).held_out_logs.shape == (0,)


def test_the_price_of_being_possible_is_stated(two, make_log):
    fit = armdyn.identify(two, make_log(two, noise=0.02))
    assert fit.cost == fit.held_out_possible / fit.held_out - 1
    assert abs(fit.cost) < 0.05
    assert "physically consistent bodies: error" in str(fit)


def _late(log, delay, seed=0, velocity=None, encoder=None):
    """The log with torques measured later, velocities with noise `velocity`, and more noise on positions."""
    rng = np.random.default_rng(seed)
    tau = np.stack([np.interp(log.t - delay, log.t, column) for column in log.tau.T], axis=1)
    qd = None if velocity is None else np.gradient(log.q, log.t, axis=0) + velocity * rng.normal(size=log.q.shape)
    q = log.q if encoder is None else log.q + encoder * rng.normal(size=log.q.shape)
    return dataclasses.replace(log, tau=tau, qd=qd, q=q)


# Velocities without noise are taken where positions are coarse, those with noise are not.
@pytest.mark.parametrize(
    ("velocity", "encoder", "taken"), [(None, None, False), (1e-5, 3e-3, True), (0.3, None, False)]
)
@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_a_written_arm_has_the_error_that_identify_gave(two, make_log, tmp_path, velocity, encoder, taken, suffix):
    log, other = (_late(make_log(two, motion=m, noise=0.005, encoder=0.0), 0.004, m, velocity, encoder) for m in (0, 1))
    fit = armdyn.identify(two, log, validation=other)
    assert fit.delay == pytest.approx(0.004, abs=1e-3)
    assert fit.filters.velocity == taken
    fit.save(tmp_path / f"arm{suffix}")
    read = armdyn.load(tmp_path / f"arm{suffix}")
    # The same sums of the same numbers, but for round-off of a URDF's centres of mass.
    assert armdyn.validate(read, other).rel_error == pytest.approx(fit.other.rel_error, rel=1e-9)
    assert armdyn.validate(read, log).rel_error == pytest.approx(fit.rel_error, rel=1e-9)
    assert armdyn.validate(read, other, delay=0.0).rel_error > 1.2 * fit.other.rel_error


@pytest.mark.parametrize("options", [{"cutoff": 4.0}, {"band": 2.5}, {"method": "spline"}, {"delay": -0.003}])
def test_options_of_identify_travel_with_the_arm(two, make_log, options):
    log, other = (make_log(two, motion=m, noise=0.02) for m in (0, 1))
    fit = armdyn.identify(two, log, validation=other, **options)
    assert armdyn.validate(fit.arm, other).rel_error == fit.other.rel_error
    assert armdyn.validate(dataclasses.replace(fit.arm, preprocessing=two.preprocessing), other).rel_error != (
        fit.other.rel_error
    )
