"""What torques may be off: bands that hold, and a stated error that grows where logs say little."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.next_motion import NextMotion
from armdyn.identification.fit.novel_motion import moved_joints, novel_motion
from armdyn.identification.fit.uncertainty import passes
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.quality import Figures, Level, error_text, judge
from armdyn.lowpass import lowpass


@pytest.fixture(scope="module")
def fit(puma, make_log):
    return armdyn.identify(puma, make_log(puma))


def test_torques_of_another_motion_lie_in_the_band(puma, make_log, fit):
    log = make_log(puma, motion=7, seed=7)
    told = fit.predict(log)
    t, tau = told  # a pair, as ever
    assert told.std is not None
    assert told.std.shape == tau.shape == log.q.shape
    left = np.abs(lowpass(log.tau - tau, log.dt, 5.0))[100:-100]
    inside = np.mean(left < 1.96 * told.std[100:-100])
    assert 0.9 < inside <= 1.0
    assert len(t) == len(log)


def test_the_band_is_wider_where_the_logs_never_were(puma, make_log, fit):
    near, far = make_log(puma, motion=0), make_log(puma, motion=0, amplitude=2.5, base=0.2)
    assert fit.predict(far).std.mean() > 1.5 * fit.predict(near).std.mean()


def test_the_stated_error_holds_on_another_motion(puma, make_log, fit):
    error = fit.validate(make_log(puma, motion=9, seed=9)).rel_error
    assert fit.held_out_possible < fit.stated < 0.1
    assert error < 1.5 * fit.stated


def test_joints_that_stood_still_are_in_the_bound_alone(puma, make_log):
    log = make_log(puma)
    q = log.q * np.array([1.0, 1, 1, 1, 1, 0])
    rates = [np.gradient(q, log.dt, axis=0)]
    rates.append(np.gradient(rates[0], log.dt, axis=0))
    tau = armdyn.joint_torque(puma, q, *rates) + 0.3 * np.random.default_rng(0).normal(size=q.shape)
    bare = puma.with_theta(np.full_like(puma.theta, np.nan))
    fit = armdyn.identify(
        bare, armdyn.Log(log.t, q + 2e-5 * np.random.default_rng(1).normal(size=q.shape), tau), force=True
    )
    assert moved_joints(fit.tracks, puma) == (0, 1, 2, 3, 4)
    assert fit.expected_error < 0.1
    assert fit.error_bound > 3.75 * fit.expected_error


def test_the_next_step_names_what_more_motion_could_do():
    known = Figures(("a", "b"), 0.02, np.full(2, 0.02), np.ones(2), (), (), ())
    said = judge(known._replace(motion=NextMotion((1,), 0.08, 0.03, 20.0))).next_step
    assert said.startswith(
        "log 20 s more that move joint 2 'b' through at least half of the range; the expected error there "
        "falls from 8.0% to about 3.0%"
    )
    assert judge(known._replace(motion=NextMotion((0, 1), 0.08, 0.07, 20.0))).next_step == ""  # not worth it
    assert "that move all joints" in judge(known._replace(motion=NextMotion((0, 1), 0.08, 0.03, 20.0))).next_step


def test_the_verdict_follows_from_the_expected_error_and_findings():
    known = Figures(("a", "b"), 0.02, np.full(2, 0.02), np.ones(2), (), (), ())
    for expected, level in ((0.05, Level.GOOD), (0.11, Level.CARE), (0.39, Level.CARE), (0.4, Level.NOT_USABLE)):
        verdict = judge(known._replace(expected=expected))
        assert verdict.level == level
        assert verdict.word == level.value
        assert len(verdict.reasons) == (level != Level.GOOD)
    doubts = {"note": Level.GOOD, "warn": Level.CARE, "reject": Level.NOT_USABLE}
    for found, level in doubts.items():
        clipped = Finding(found, "clipped?", FindingKind.CLIPPED, (0,))
        assert judge(known._replace(findings=(clipped,))).level == level
    assert judge(known._replace(expected=np.nan)).level == Level.CARE
    assert judge(known._replace(expected=np.nan, seconds=3.0)).level == Level.NOT_USABLE


def test_the_expected_error_is_never_below_the_held_out_one(fit):
    assert fit.held_out_error <= fit.expected_error <= fit.error_bound / 3
    doubted = fit.with_fields(held_out_possible=0.5)
    assert doubted.expected_error == 0.5
    assert np.isnan(fit.with_fields(held_out_possible=np.nan, held_out=np.nan, uncertainty=None).error_bound)


def test_errors_in_words():
    assert error_text(0.014, 0.035) == "about 1.4%, at most 3.5%"
    assert error_text(0.014, np.nan) == "about 1.4%"


def test_lights_of_joints_are_those_of_the_table():
    """Where a joint does worse on the validation log than on held-out data, that counts."""
    known = Figures(("a", "b"), 0.05, np.array([0.05, 0.26]), np.ones(2), (), (), ())
    assert [joint.level for joint in judge(known).joints] == [Level.GOOD, Level.CARE]


def test_rules_of_the_verdict_about_motion():
    known = Figures(("a", "b"), 0.02, np.full(2, 0.02), np.ones(2), (), (), ())
    assert judge(known._replace(seconds=8.0, passes=2.0)).word == "good"
    for worse in (dict(expected=0.11), dict(seconds=7.9), dict(passes=1.0)):
        verdict = judge(known._replace(**worse))
        assert verdict.word == "usable with care"
        assert len(verdict.reasons) == 1


def test_new_motion_is_that_of_the_logs_at_other_times(fit):
    along = novel_motion(fit.tracks)
    q = np.concatenate([track.q for track in fit.tracks])
    assert (along.q.min(axis=0) >= q.min(axis=0)).all()
    assert (along.q.max(axis=0) <= q.max(axis=0)).all()
    # Joints meet in other combinations than in the logs.
    assert np.abs(np.corrcoef(along.q.T)[0, 1]) != pytest.approx(np.abs(np.corrcoef(q.T)[0, 1]), abs=0.01)


def test_passes_are_those_of_the_joint_that_turned_back_least(fit):
    track = fit.tracks[0]
    t = 0.005 * np.arange(4000)
    q = np.stack([np.sin(2 * np.pi * t / period) for period in (2.0, 5.0)], axis=1)
    qd = np.gradient(q, t, axis=0)
    along = track._replace(t=t, q=q, qd=qd)
    assert passes([along], np.array([1.0, 1.0])) == 2 * 20 / 5 + 1
    assert passes([along], np.array([1.0, 1e-3])) == 2 * 20 / 2 + 1  # torques that do not matter


def test_little_motion_is_no_base_for_a_statement(puma, make_log):
    with pytest.warns(armdyn.ArmdynWarning, match="only 7 s of motion"):
        fit = armdyn.identify(puma, make_log(puma, duration=7.0))
    assert fit.verdict.word == "usable with care"
    assert fit.verdict.next_step == "log at least 10 s of motion of all joints"
