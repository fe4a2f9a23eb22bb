"""Faults that leave a log readable: each is found where it was put, with its number, and none in good logs."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.correlation import correlation_times
from armdyn.identification.hypotheses.check import PreparedLogs
from armdyn.identification.hypotheses.columns import DriveGain
from armdyn.identification.logs.corrections import LogCorrection, with_time_scale
from armdyn.identification.logs.log import Log


@pytest.fixture(scope="module")
def log(puma, make_log):
    return make_log(puma)


def found(arm, log: Log, kind: str):
    """The findings of a kind that are more than notes."""
    return [f for f in armdyn.check_log(arm, log).findings if f.kind == kind and f.level != "note"]


def test_nothing_in_a_good_log(puma, log):
    assert [f for f in armdyn.check_log(puma, log).findings if f.level != "note"] == []


def test_late_torques(puma, log):
    tau = np.stack([np.interp(log.t - 0.1, log.t, column) for column in log.tau.T], axis=1)
    (f,) = found(puma, dataclasses.replace(log, tau=tau), "delay")
    assert f.value == pytest.approx(0.1, abs=0.005)
    assert f.correction == LogCorrection(delay=f.value)
    assert f.error_reduction > 0.3


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_clock_at_another_pace(puma, log, factor):
    (f,) = found(puma, dataclasses.replace(log, t=factor * log.t, qd=None), "time_scale")
    assert f.value == pytest.approx(1 / factor, rel=0.03)
    assert f.correction == LogCorrection(time_scale=f.value)


def test_the_zero_of_a_joint(puma, log):
    (f,) = found(puma, dataclasses.replace(log, q=log.q + 0.3 * np.eye(6)[1]), "zero")
    assert f.joints == (1,)
    assert f.value == pytest.approx(0.3, abs=0.02)
    # A zero that is half right is not called right to less than what it is off.
    half = str(armdyn.check_log(puma, dataclasses.replace(log, q=log.q + 0.05 * np.eye(6)[1])))
    right = [float(x) for x in re.findall(r"±([0-9.e-]+) rad \(joint 2\)", half)]
    assert right[0] > 0.03
    # What bodies turned about the axis explain as well cannot be told, and this is said.
    said = str(armdyn.check_log(puma, log))
    assert "joint zeros checked to ±0.0" in said
    assert "; this motion cannot check the zeros of joints 1" in said


def test_a_zero_that_only_bodies_tell(make_log):
    """About parallel axes turned bodies explain the torques as well: but those described do not turn."""
    arm = armdyn.arms.planar2()
    log = make_log(arm, noise=0.05)
    spoiled = dataclasses.replace(log, q=log.q + 0.3 * np.eye(2)[0])
    (f,) = found(arm, spoiled, "zero")
    assert f.joints == (0,)
    assert f.value == pytest.approx(0.3, abs=0.11)
    assert f.correction == LogCorrection(zero=f.value * (np.arange(arm.n) == 0))
    assert found(arm, log, "zero") == []


def test_velocities_tell_the_pace(puma, log):
    qd = np.gradient(log.q, log.t, axis=0)
    f, *_ = found(puma, dataclasses.replace(log, t=2 * log.t, qd=qd), "time_scale")
    assert "measured velocities are 2 times" in f.text
    assert f.value == pytest.approx(0.5, rel=0.02)
    assert found(puma, dataclasses.replace(log, qd=qd), "time_scale") == []


def test_times_are_mended_with_the_velocities_that_were_computed_from_them(log):
    qd = np.gradient(log.q, log.t, axis=0)
    slow = dataclasses.replace(log, t=2 * log.t)
    for given in (qd, qd / 2):  # as drives measure it, and from the wrong times
        (mended,) = with_time_scale([dataclasses.replace(slow, qd=given)], 0.5)
        np.testing.assert_allclose(mended.t, log.t)
        np.testing.assert_allclose(mended.qd, qd)
    with raises(ArmdynError, cause="time scale: expected a factor > 0, got 0.0"):
        with_time_scale([log], 0.0)


def test_logs_count_together(puma, make_log):
    """Findings about dynamics are those of all logs; each alone may be too short to tell."""
    logs = [make_log(puma, duration=9.0, motion=k, seed=k) for k in range(2)]
    late = [
        dataclasses.replace(log, tau=np.stack([np.interp(log.t - 0.1, log.t, x) for x in log.tau.T], axis=1))
        for log in logs
    ]
    with pytest.warns(armdyn.ArmdynWarning, match="lag positions"):
        fit = armdyn.identify(puma, late)
    (f,) = [f for f in fit.findings if f.kind == "delay"]
    assert f.value == pytest.approx(0.1, abs=0.005)
    assert not any(f.kind == "delay" for check in fit.checks for f in check.findings)


def test_an_offset_that_steps(puma, log):
    tau = log.tau.copy()
    tau[1800:, 1] += 0.5 * tau[:, 1].std()
    (f,) = found(puma, dataclasses.replace(log, tau=tau), "step")
    assert f.joints == (1,)
    assert f.value == pytest.approx(0.5 * log.tau[:, 1].std(), rel=0.1)
    assert f.correction.until == pytest.approx(9.0, abs=0.5)


def test_amperes_of_unlike_drives(puma, log):
    bare = puma.with_theta(np.full(60, np.nan))
    assert found(bare, dataclasses.replace(log, tau=log.tau / np.array([12, 5, 9, 14, 6, 10])), "gain")


@pytest.mark.parametrize(("factor", "told"), [(1.3, False), (2.0, True)])
def test_torques_are_out_of_proportion_from_a_quarter_on(make_log, factor, told):
    """Of two drives one measures more by a factor, both by its root off their mean: a tenth is common, 40 % is not."""
    arm = armdyn.arms.planar2()
    log, bare = make_log(arm), arm.with_theta(np.full(20, np.nan))
    assert bool(found(bare, dataclasses.replace(log, tau=log.tau * [1.0, factor]), "gain")) == told


def test_gains_within_a_tenth_are_tolerated(make_log):
    """Good logs have such gains: no description and no current is exact."""
    arm = armdyn.arms.planar2()
    regression = PreparedLogs.of(arm, [make_log(arm)]).regression
    tolerated = {gain: DriveGain().single(regression, 0, gain).tolerated for gain in (0.7, 0.95, 1.05, 1.3)}
    assert tolerated == {0.7: False, 0.95: True, 1.05: True, 1.3: False}


def test_spikes(puma, log):
    tau = log.tau.copy()
    rng = np.random.default_rng(0)
    hit = rng.random(len(tau)) < 0.003
    tau[hit] += 30 * tau.std(axis=0) * rng.normal(size=(hit.sum(), 6))
    (f,) = found(puma, dataclasses.replace(log, tau=tau), "spikes")
    assert 0.7 * hit.sum() < f.value <= hit.sum()


def test_a_sensor_that_measures_noise(puma, log):
    tau = log.tau.copy()
    tau[:, 1] = np.random.default_rng(0).normal(size=len(tau))
    assert any(f.joints == (1,) for f in found(puma, dataclasses.replace(log, tau=tau), "stuck"))


def test_correlated_residuals_count_less():
    """An autoregressive process has (1 + a) / (1 - a) samples of correlation."""
    rng, a = np.random.default_rng(0), 0.8
    e = np.zeros((20_000, 1))
    for k in range(1, len(e)):
        e[k] = a * e[k - 1] + rng.normal()
    assert correlation_times(e)[0] == pytest.approx((1 + a) / (1 - a), rel=0.15)
    assert correlation_times(rng.normal(size=(20_000, 1)))[0] < 1.2


def test_lost_packets_are_no_wrong_clock(puma, log):
    kept = np.random.default_rng(0).random(len(log)) > 0.3
    qd = np.gradient(log.q, log.t, axis=0)
    lossy = Log(log.t[kept], log.q[kept], log.tau[kept], qd[kept])
    assert [f for f in armdyn.check_log(puma, lossy).findings if f.level != "note"] == []


def test_units_of_torque_are_no_odd_bodies(puma, log):
    """Links of tons are as probable as those of kilograms: what is wrong is said once."""
    kinds = [
        f.kind
        for f in armdyn.check_log(puma, dataclasses.replace(log, tau=1e3 * log.tau)).findings
        if f.level != "note"
    ]
    assert kinds == ["gain"]


def test_an_encoder_that_freezes(puma, log):
    """Half of the log then fits no arm, and spoils the rest."""
    q, k = log.q.copy(), int(0.4 * len(log))
    q[k:, 1] = q[k, 1]
    (f,) = found(puma, dataclasses.replace(log, q=q), "stuck")
    assert f.joints == (1,)
    assert f.gain > 30
    assert f.correction.until == pytest.approx(log.t[k] - log.t[0])


@pytest.mark.parametrize("seed", range(3))
def test_no_zero_where_noise_alone_speaks(seed):
    from armdyn.simulation.compare import Sway

    arm, t, rng = armdyn.arms.planar2(), np.arange(0.0, 10.0, 0.01), np.random.default_rng(seed)
    q, qd, qdd = Sway.within(arm, 10.0)(t)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.05 * rng.normal(size=q.shape)
    assert found(arm, Log(t, q + 1e-5 * rng.normal(size=q.shape), tau), "zero") == []


def test_an_arm_on_the_ceiling(puma, log):
    """Where negative masses would explain the torques as well, the description tells."""
    hung = dataclasses.replace(puma, gravity=-puma.gravity)
    (f, *_) = found(hung, log, "gravity")
    assert f.level == "reject"
    assert f.correction.gravity == tuple(-hung.gravity)
