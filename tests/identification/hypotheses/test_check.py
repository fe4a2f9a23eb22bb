"""The data check: figures of good logs, and one finding for each way of spoiling them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, DataError
from armdyn.identification.logs.log import Log


@pytest.fixture(scope="module")
def log(puma, make_log):
    return make_log(puma)


def changed(log: Log, **arrays) -> Log:
    return dataclasses.replace(log, **arrays)


def findings(arm, log: Log) -> dict[str, str]:
    """Sentences by level; notes are left out."""
    found: dict[str, str] = {}
    for f in armdyn.check_log(arm, log).findings:
        if f.level != "note":
            found[f.level] = f"{found[f.level]}; {f.text}" if f.level in found else f.text
    return found


def test_a_good_log(puma, log):
    check = armdyn.check_log(puma, log)
    assert check.ok
    assert findings(puma, log) == {}
    passed = sum(test.passed for test in check.tests)
    assert check.verdict == f"No fault found in this log: {passed} of {len(check.tests)} tests are conclusive."
    np.testing.assert_array_equal(check.joints.low, log.q.min(axis=0))
    np.testing.assert_allclose(check.joints.torque, np.sqrt(np.mean(log.tau**2, axis=0)))
    # The fifth harmonic of 0.1 Hz turns back at most 20 times in 20 s.
    assert np.all((check.joints.reversals >= 4) & (check.joints.reversals <= 20))
    assert np.all(check.joints.condition < 10)
    text = str(check)
    assert "6 joints, 20.0 s at 200 Hz" in text
    assert text.count("\n") == 11
    assert "joint zeros checked to ±" in text
    assert check.headings[1:4] == ("range [rad]", "max speed [rad/s]", "max acc. [rad/s²]")
    assert all(heading in text for heading in check.headings)


def test_speeds_and_accelerations_of_a_known_motion(two):
    t = np.arange(0, 20, 0.005)
    q = np.stack([np.sin(2 * t), 0.5 * np.cos(3 * t)], axis=1)
    figures = armdyn.check_log(two, Log(t, q, q)).joints
    np.testing.assert_allclose(figures.speed, [2.0, 1.5], rtol=0.01)
    np.testing.assert_allclose(figures.acceleration, [4.0, 4.5], rtol=0.01)
    np.testing.assert_array_equal(figures.reversals, [13, 19])  # 20 s are 12.7 and 19.1 half periods


def test_friction_does_not_hide_the_sign(puma, make_log):
    """Where friction is most of the torque it correlates for any model; what is beyond friction tells."""
    rubbing = puma.with_joints([dataclasses.replace(j, friction=armdyn.Friction(40.0, 60.0)) for j in puma.joints])
    log = make_log(rubbing)
    assert findings(puma, log) == {}
    tau = log.tau.copy()
    tau[:, 1] = tau[:, 1] - 2 * armdyn.inverse_dynamics(puma, log.q, *_rates(log))[:, 1]
    (f,) = (f for f in armdyn.check_log(puma, changed(log, tau=tau)).findings if f.level != "note")
    assert f.kind in ("sign", "other_arm")


def _rates(log):
    qd = np.gradient(log.q, log.t, axis=0)
    return qd, np.gradient(qd, log.t, axis=0)


class TestSpoiled:
    def test_degrees(self, puma, log):
        degrees = changed(log, q=np.degrees(log.q))
        assert "degrees instead of radians?" in findings(puma, degrees)["reject"]
        with raises(DataError, where="simulated", cause=re.compile("joints turn to .* rad: degrees")):
            armdyn.identify(puma, degrees)

    def test_small_motion_in_degrees_leaves_the_limits(self, log):
        arm = armdyn.arms.puma560()
        q = np.degrees(0.05 * log.q)
        assert "outside its limits" in str(armdyn.check_log(arm, changed(log, q=q)))

    @pytest.mark.parametrize(("factor", "unit"), [(1e3, "mN m"), (1e-3, "kN m"), (100.0, "N cm")])
    def test_other_units_of_torque(self, puma, log, factor, unit):
        assert unit in findings(puma, changed(log, tau=factor * log.tau))["reject"]

    def test_currents(self, puma, log):
        """Amperes of drives with about ten newton metres each are asked for; small errors of a description are not."""
        said = findings(puma, changed(log, tau=log.tau / 10))["reject"]
        assert "amperes" in said
        (finding,) = (f for f in armdyn.check_log(puma, changed(log, tau=log.tau / 10)).findings if f.level == "reject")
        assert finding.kind == "gain"
        assert np.allclose(finding.correction.drive_gain, 10, rtol=0.1)
        assert findings(puma, changed(log, tau=log.tau / 1.4)) == {}

    @pytest.mark.parametrize("other", ["ur10", "stanford"])
    def test_another_arm(self, make_log, puma, other):
        """Its log is rejected or doubted; with its own description nothing is."""
        strange = armdyn.arms.ur10() if other == "ur10" else armdyn.arms.stanford()
        strange = strange.with_joints([dataclasses.replace(j, limits=armdyn.Limits()) for j in strange.joints])
        log = make_log(strange, noise=0.1)
        assert findings(strange, log) == {}
        kinds = {f.kind for f in armdyn.check_log(puma, log).findings if f.level != "note"}
        assert kinds & {"other_arm", "exchange", "zero", "gravity"}

    def test_another_arm_is_rejected_or_warned_of_by_identify(self, make_log, puma):
        strange = armdyn.arms.stanford()
        strange = strange.with_joints([dataclasses.replace(j, limits=armdyn.Limits()) for j in strange.joints])
        log = make_log(strange, noise=0.1)
        with pytest.raises((DataError, ArmdynWarning)):
            armdyn.identify(puma, log)
        bare = puma.with_theta(np.full(60, np.nan))
        with pytest.raises((DataError, ArmdynWarning)):
            armdyn.identify(bare, log)

    def test_reversed_sign_of_one_joint(self, puma, log):
        tau = log.tau * np.where(np.arange(6) == 2, -1, 1)
        assert "torque of joint 3 'joint3'" in findings(puma, changed(log, tau=tau))["reject"]
        assert "reversed" in findings(puma, changed(log, tau=tau))["reject"]

    def test_shuffled_columns(self, puma, log):
        for order in ([0, 3, 2, 1, 4, 5], [0, 2, 1, 3, 4, 5], [1, 0, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4]):
            assert "columns in the wrong order" in findings(puma, changed(log, tau=log.tau[:, order]))["reject"]
            assert "columns in the wrong order" in findings(puma, changed(log, q=log.q[:, order]))["reject"]

    def test_dead_torque_sensor(self, puma, log):
        tau = log.tau.copy()
        tau[:, 3] = 0.0
        assert findings(puma, changed(log, tau=tau))["reject"] == (
            "the torque of joint 4 'joint4' is 0 throughout: sensor dead?"
        )

    def test_a_joint_at_rest_may_have_a_coarse_torque(self, puma, log):
        """Its torque need not change by a digit, nor is it clipped where it comes to rest again and again."""
        q, tau = log.q.copy(), log.tau.copy()
        q[:, 3] = q[0, 3] + 1e-5 * np.sin(np.arange(len(log)))
        tau[:, 3] = 0.0
        assert "reject" not in findings(puma, changed(log, q=q, tau=tau))

    def test_coarse_torques_of_rests_are_not_clipped(self, two):
        t = np.arange(0, 30, 0.01)
        q = np.stack([np.maximum(np.sin(0.5 * t), 0) ** 4, np.sin(2 * t)], axis=1)
        qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
        tau = armdyn.joint_torque(two, q, qd, qdd)
        tau[:, 0] = np.where(qd[:, 0] == 0, tau[:, 0].max(), tau[:, 0])  # the same while it rests
        assert "clipped" not in findings(two, Log(t, q, tau)).get("warn", "")
        tau[:, 1] = np.minimum(tau[:, 1], np.percentile(tau[:, 1], 80))
        assert "the torque of joint 2 'joint2' is" in str(armdyn.check_log(two, Log(t, q, tau)))

    def test_torque_sensor_that_dies(self, puma, log):
        tau = log.tau.copy()
        tau[2000:, 3] = tau[2000, 3]
        assert "stays at" in findings(puma, changed(log, tau=tau))["reject"]
        assert "from 10 s on while the joint moves: sensor dead?" in findings(puma, changed(log, tau=tau))["reject"]

    def test_times_in_another_unit(self, puma, log):
        assert "samples are 5 s apart" in findings(puma, changed(log, t=1e3 * log.t))["reject"]
        assert "the log lasts 0.02 s" in findings(puma, changed(log, t=1e-3 * log.t))["reject"]

    def test_dead_position_sensor(self, puma, log):
        q = log.q.copy()
        q[:, 3] = q[0, 3]
        assert "joint 4 'joint4' does not move" in str(armdyn.check_log(puma, changed(log, q=q)))

    def test_constant_motion(self, puma, log):
        assert "no joint moves" in findings(puma, changed(log, q=np.tile(log.q[:1], (len(log), 1))))["reject"]

    def test_one_direction(self, two):
        t = np.arange(0, 20, 0.01)
        q = np.stack([0.2 * t + 0.05 * np.sin(2 * t), np.sin(2 * t)], axis=1)
        assert "joint 1 'joint1' moves in one direction only" in str(armdyn.check_log(two, Log(t, q, np.sin(3 * q))))

    def test_clipped_torque(self, puma, log):
        bound = np.percentile(log.tau[:, 1], 90)
        tau = np.minimum(log.tau, np.where(np.arange(6) == 1, bound, np.inf))
        assert "joint 2 'joint2'" in findings(puma, changed(log, tau=tau))["warn"]

    def test_nothing_between_gaps(self, two):
        t = np.arange(200) * 0.01 + np.repeat(np.arange(20), 10)
        q = np.stack([np.sin(t), np.cos(t)], axis=1)
        check = armdyn.check_log(two, Log(t, q, q))
        assert not check.ok
        assert "no stretch without gaps is long enough" in str(check)


def test_joints_without_end_may_turn_several_times(two, make_log):
    """Beside a joint with limits; where no limits are known, such angles are degrees."""
    log = make_log(two)
    q = log.q.copy()
    q[:, 1] += 16.0
    wound = dataclasses.replace(log, q=q, qd=None)
    limited = dataclasses.replace(two.joints[0], limits=armdyn.Limits(lower=-3.0, upper=3.0))
    assert not any(
        "degrees" in f.text for f in armdyn.check_log(two.with_joints([limited, two.joints[1]]), wound).findings
    )
    assert any("degrees" in f.text for f in armdyn.check_log(two, wound).findings)


def test_short_pieces_of_a_good_log_are_not_rejected(puma, make_log):
    """A few seconds of slow motion say too little to tell signs or columns from one another."""
    log = make_log(puma, duration=20.0)
    for start in np.arange(0.0, 20.0, 2.5):
        check = armdyn.check_log(puma, log.part(start, start + 2.5))
        assert check.ok, str(check)


def test_stamps_that_jitter_make_no_other_clock(two, make_log):
    """Rates of positions are told over a while: between neighbours stamps would spoil them."""
    log = make_log(two, rate=500.0)
    stamps = log.t + np.random.default_rng(0).uniform(-7e-4, 7e-4, len(log))
    spoilt = dataclasses.replace(log, t=stamps, qd=np.gradient(log.q, log.t, axis=0))
    assert [f for f in armdyn.check_log(two, spoilt).findings if f.kind == "time_scale"] == []
    slow = dataclasses.replace(spoilt, t=2 * stamps)
    assert {round(float(f.value), 1) for f in armdyn.check_log(two, slow).findings if f.kind == "time_scale"} == {0.5}


@pytest.mark.parametrize(("name", "seed"), [("panda", 0), ("panda", 2), ("ur5", 2), ("iiwa14", 2)])
def test_rests_in_which_friction_may_be_anything_are_no_fault(name, seed):
    """One move and a long rest: each of these logs showed a step of a torque while rests counted."""
    rng, arm = np.random.default_rng(seed), getattr(armdyn.arms, name)()
    torques = armdyn.inverse_dynamics(arm, *np.random.default_rng(1).uniform(-1, 1, (3, 200, arm.n)))
    sizes = np.sqrt(np.mean(torques**2, axis=0))
    frictions = [armdyn.Friction(viscous=0.1 * size, coulomb=0.15 * size) for size in sizes]
    arm = arm.with_joints(
        dataclasses.replace(joint, friction=friction) for joint, friction in zip(arm.joints, frictions, strict=True)
    )
    begin, end = rng.uniform(-1, 1, (2, arm.n))
    s = np.clip((np.arange(0, 17, 0.002) - 0.5) / 1.5, 0, 1)[:, None]
    q = begin + (end - begin) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = np.gradient(q, 0.002, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, np.gradient(qd, 0.002, axis=0))
    for rest in (s[:, 0] == 0, s[:, 0] == 1):
        tau[rest] += 0.15 * sizes * rng.uniform(-1, 1, arm.n)
    noisy = q + 2e-5 * rng.normal(size=q.shape), tau + 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)
    check = armdyn.check_log(arm, armdyn.Log(0.002 * np.arange(len(q)), *noisy))
    assert [finding.text for finding in check.findings if finding.level != "note"] == []
