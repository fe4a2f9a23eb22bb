"""`identify` on simulated arms whose parameters are known, and on logs that must be rejected."""

from __future__ import annotations

import dataclasses
import re
import warnings

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ArmdynWarning, DataError
from armdyn.identification.logs.log import Log


def truth(arm) -> np.ndarray:
    """The parameters that `fit.base.theta` estimates."""
    friction = [x for j in arm.joints for x in (j.friction.viscous, j.friction.coulomb, j.friction.offset)]
    return np.concatenate([armdyn.base_parameters(arm).theta, friction])


def unknown(arm):
    """The arm without its inertia and friction."""
    bare = [dataclasses.replace(j, friction=armdyn.Friction(), drive=armdyn.Drive()) for j in arm.joints]
    return arm.with_theta(np.full(10 * arm.n, np.nan)).with_joints(bare)


def changed(log: Log, **arrays) -> Log:
    return dataclasses.replace(log, **arrays)


class TestTruth:
    def test_without_noise_the_truth(self, puma, make_log):
        log = make_log(puma, noise=0.0, encoder=0.0, rate=500.0)
        fit = armdyn.identify(unknown(puma), log, friction="simple")
        # Differences at 500 Hz and filtered signs of velocities leave 1e-3 of the torques.
        assert fit.rel_error < 2e-3
        found = fit.base.theta[: fit.base.count]
        Y = armdyn.base_parameters(puma).regressor(log.q[::50], 0 * log.q[::50], 0 * log.q[::50])
        wanted = armdyn.base_parameters(puma).theta
        assert np.linalg.norm(Y @ (found - wanted)) < 2e-3 * np.linalg.norm(Y @ wanted)

    def test_predicts_a_motion_it_has_not_seen(self, puma, make_log):
        fit = armdyn.identify(unknown(puma), make_log(puma))
        other = make_log(puma, motion=5, seed=9)
        clean = make_log(puma, motion=5, noise=0.0, encoder=0.0)
        t, tau = fit.predict(other)
        assert len(t) == len(other)
        assert np.linalg.norm(tau - clean.tau) < 0.05 * np.linalg.norm(clean.tau)
        assert fit.validate(other).rel_error < 0.03

    def test_result_is_possible_and_explains_as_much(self, puma, make_log):
        rough = puma.with_theta(puma.theta * 1.3)
        fit = armdyn.identify(rough, make_log(puma))
        assert fit.arm.is_physical
        assert fit.gap < 1e-6
        assert fit.rel_error < 0.1 * fit.rel_error_source
        # Being possible costs nothing here: the robot is.
        assert fit.held_out_possible < 1.05 * fit.held_out
        np.testing.assert_array_equal(fit.theta, fit.arm.theta)

    def test_several_logs_and_paths(self, two, make_log, tmp_path):
        logs = [make_log(two, motion=m, noise=0.02) for m in (0, 1)]
        for k, log in enumerate(logs):
            np.savez(tmp_path / f"{k}.npz", t=log.t, q=log.q, tau=log.tau)
        fit = armdyn.identify(two, [tmp_path / "0.npz", tmp_path / "1.npz"])
        same = armdyn.identify(two, logs)
        np.testing.assert_allclose(fit.base.theta, same.base.theta)
        one = armdyn.identify(two, logs[0])
        assert np.median(fit.base.std / one.base.std) < 1

    @pytest.mark.filterwarnings("ignore:.*s of motion")
    def test_a_good_prior_helps_where_the_motion_is_poor(self, puma, make_log):
        log = make_log(puma, duration=8.0, noise=3.0, amplitude=0.4)
        fast = make_log(puma, motion=3, noise=0.0, base=0.2)
        with_prior = armdyn.identify(puma, log).validate(fast).rel_error
        without = armdyn.identify(puma, log, prior=0.0).validate(fast).rel_error
        assert with_prior < without
        theta = puma.theta.reshape(6, 10).copy()
        theta[5] = np.nan  # one link is not described: the others are, all the same
        partly = armdyn.identify(puma.with_theta(theta.ravel()), log)
        assert partly.centre == "the description"
        assert "no inertia is described of 'link6': only that of the other links is a prior" in partly.notes
        assert partly.validate(fast).rel_error < without


@pytest.mark.parametrize("encoder", [0.0, 2e-5])
@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_joints_that_stand_still_keep_sane_friction(puma, make_log, encoder):
    log = make_log(puma, noise=0.0, encoder=0.0)
    moving = np.array([1.0, 0, 0, 0, 0, 0])
    q = log.q * moving + [0, 0.3, -0.5, 0.2, 0.4, 0]
    qd = np.gradient(q, log.t, axis=0)
    tau = armdyn.joint_torque(puma, q, qd, np.gradient(qd, log.t, axis=0))
    rng = np.random.default_rng(0)
    still = Log(log.t, q + encoder * rng.normal(size=q.shape), tau + 0.2 * rng.normal(size=q.shape))
    fit = armdyn.identify(puma, still)
    assert fit.rel_error < 0.05
    if not encoder:  # whose noise is motion enough to tell something
        assert {"Fv2", "Fc2"} <= set(fit.undetermined)
    for joint, described in zip(fit.arm.joints, puma.joints, strict=True):
        assert joint.friction.coulomb < 40
        assert joint.friction.viscous < 40
        if not encoder and described is not puma.joints[0]:
            assert joint.friction.coulomb == described.friction.coulomb


def test_a_joint_that_creeps_has_no_huge_friction():
    """Slower than directions can be told, drift looks like dry friction; at other speeds all of it would be felt."""
    arm, t = armdyn.arms.planar2(), np.arange(0, 20, 0.01)
    q = np.stack([np.sin(1.3 * t) + 0.5 * np.sin(2.9 * t), 0.001 * np.sin(0.6 * t)], axis=1)
    qd = np.gradient(q, t, axis=0)
    tau = armdyn.inverse_dynamics(arm, q, qd, np.gradient(qd, t, axis=0))
    tau[:, 1] += 0.5 * np.cos(0.6 * t)
    fit = armdyn.identify(unknown(arm), Log(t, q, tau))
    assert fit.arm.joints[1].friction.coulomb < 3 * tau[:, 1].std()


@pytest.mark.parametrize(("option", "value"), [("prior", -1.0), ("prior", np.nan), ("band", 0.0), ("cutoff", -3.0)])
def test_numbers_that_cannot_be(two, make_log, option, value):
    with raises(ArmdynError, expected=re.compile(f"^{option} >")):
        armdyn.identify(two, make_log(two), **{option: value})


def test_friction_that_grows_with_load(puma, make_log):
    """The fitted arm has the very torques that were fitted: loads are all torque of the drives, friction's own too."""
    joints = [dataclasses.replace(j, friction=dataclasses.replace(j.friction, load=0.15)) for j in puma.joints]
    arm = puma.with_joints(joints)
    fit = armdyn.identify(puma, make_log(arm))
    assert sum("load" in terms for terms in fit.structure) >= 3
    assert fit.rel_error < 1.1 * fit.rel_error_free
    assert fit.validate(make_log(arm, motion=5, noise=0.0)).rel_error < 0.015


@pytest.mark.parametrize(
    "seeds", [pytest.param(range(12), id="12"), pytest.param(range(200), id="200", marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_intervals_are_honest(puma, make_log, seeds):
    bare, wanted = unknown(puma), truth(puma)
    errors = []
    for seed in seeds:
        fit = armdyn.identify(bare, make_log(puma, duration=15.0, seed=seed, motion=seed % 4), friction="simple")
        errors.append((fit.base.theta - wanted) / fit.base.std)
    z = np.abs(np.concatenate(errors))
    assert (z < 3).mean() >= 0.99
    assert 0.93 <= (z < 1.96).mean() <= 0.97


def test_rotors_of_a_geared_arm(make_log):
    plain = armdyn.arms.puma3()
    joints = [dataclasses.replace(j, friction=armdyn.Friction(2.0, 5.0), limits=armdyn.Limits()) for j in plain.joints]
    arm = plain.with_joints(joints)
    assert any(j.drive.rotor_inertia > 0 for j in arm.joints)
    fit = armdyn.identify(arm.with_theta(np.full(30, np.nan)), make_log(arm, noise=0.5))
    assert "Ia3" in fit.base.labels
    both = armdyn.base_parameters(arm, joint_terms=("rotor",))
    wanted = dict(zip(both.labels, both.project(both.own_parameters), strict=True))
    for label, value, std in zip(fit.base.labels, fit.base.theta, fit.base.std, strict=True):
        if label in wanted:
            assert abs(value - wanted[label]) < 4.5 * std
    assert fit.validate(make_log(arm, motion=3, noise=0.0)).rel_error < 0.02


def test_rotors_that_nobody_mentioned_are_suspected(make_log):
    plain = armdyn.arms.puma560()
    arm = plain.with_joints([dataclasses.replace(j, limits=armdyn.Limits()) for j in plain.joints])
    bare, log = unknown(arm), make_log(arm, noise=0.5)
    fit = armdyn.identify(bare, log)
    forced = armdyn.identify(bare, log, rotors=False)
    assert not forced.drive.inertia.any()
    assert fit.arm.is_physical
    assert fit.rel_error < 1.2 * fit.rel_error_free
    assert fit.rel_error < 0.7 * forced.rel_error
    assert fit.drive.inertia[1] > 1.0


def test_what_logs_do_not_determine_stays_as_described(make_log):
    """Torques do not tell masses of single links of a UR5e: with the right description these stay what they were."""
    arm = armdyn.arms.ur5e()
    fit = armdyn.identify(arm, make_log(arm, noise=0.05))
    before, after = arm.theta[::10], fit.arm.theta[::10]
    assert abs(after.sum() / before.sum() - 1) < 0.1
    assert np.abs(after - before).max() < 0.08 * before.sum()
    without = armdyn.identify(arm, make_log(arm, noise=0.05), prior=0.0)
    assert np.abs(without.arm.theta[::10] - before).max() > np.abs(after - before).max()


class TestStructure:
    def test_load_and_the_friction_curve_are_found(self, make_log):
        plain = armdyn.arms.planar2()
        first, second = plain.joints
        rich = plain.with_joints(
            [
                dataclasses.replace(first, friction=armdyn.Friction(viscous=1.0, coulomb=2.0, load=0.2)),
                dataclasses.replace(
                    second, friction=armdyn.Friction(viscous=0.5, coulomb=1.0, static=2.5, stribeck=0.5)
                ),
            ]
        )
        fit = armdyn.identify(plain, make_log(rich, noise=0.05, duration=40.0))
        assert "load" in fit.structure[0]
        assert "friction curve" in fit.structure[1]
        # The curve where the joint is (it has no more than 1.78 rad/s), whatever levels it is made of.
        speeds = np.array([0.3, 0.5, 1.0, 1.5])
        true, found = (
            armdyn.friction_torque(arm, np.zeros((4, 2)), np.stack([0 * speeds, speeds], axis=1))[:, 1]
            for arm in (rich, fit.arm)
        )
        np.testing.assert_allclose(found, true, rtol=0.1)
        assert fit.arm.joints[0].friction.load == pytest.approx(0.2, rel=0.1)

    def test_warm_oil(self, two, make_log):
        first, second = two.joints
        oily = armdyn.Friction(viscous=2.0, coulomb=1.0, temperature=-0.02)
        arm = two.with_joints([dataclasses.replace(first, friction=oily), second])
        cold = make_log(arm, noise=0.0, duration=40.0)
        warmth = np.linspace(0, 20, len(cold))[:, None] * np.ones(2)
        rates = _rates(cold.q, cold)
        rng = np.random.default_rng(0)
        tau = armdyn.joint_torque(arm, cold.q, *rates, temperature=warmth) + 0.05 * rng.normal(size=cold.q.shape)
        log = changed(cold, tau=tau, temperature=warmth)
        fit, blind = armdyn.identify(two, log), armdyn.identify(two, changed(log, temperature=None))
        assert "temperature" in fit.structure[0]
        assert "temperature" not in fit.structure[1]
        assert fit.arm.joints[0].friction.temperature == pytest.approx(-0.02, rel=0.05)
        assert fit.validate(log).rel_error < 0.5 * blind.rel_error
        assert all("temperature" not in terms for terms in blind.structure)

    def test_plain_friction_stays_plain(self, two, make_log):
        fit = armdyn.identify(two, make_log(two, noise=0.05))
        # The rotor of the first joint is one with the inertia of links.
        plain = {"viscous", "coulomb", "offset", "coulomb with presliding"}
        assert set(fit.structure[0]) <= plain | {"rotor"}
        assert set(fit.structure[1]) <= plain
        assert fit.cost < 0.1

    def test_springs_on_request(self, two, make_log):
        sprung = two.with_joints([dataclasses.replace(j, drive=armdyn.Drive(stiffness=5.0)) for j in two.joints])
        fit = armdyn.identify(two, make_log(sprung, noise=0.05), springs=True)
        np.testing.assert_allclose(fit.drive.stiffness, 5.0, rtol=0.05)


class TestRefusals:
    def test_constant_motion(self, two, make_log):
        log = make_log(two)
        with raises(DataError, cause="no joint moves; dynamics cannot be identified from an arm at rest"):
            armdyn.identify(two, changed(log, q=np.tile(log.q[:1], (len(log), 1))))

    def test_dead_torque_sensor(self, two, make_log):
        log = make_log(two)
        tau = log.tau.copy()
        tau[:, 1] = 0.3
        with raises(
            DataError,
            cause=(
                "the torque of joint 2 'joint2' is 0.3 throughout: sensor dead? Remedy: log.corrected "
                "with without_torque=(1,) (or measure again)"
            ),
        ):
            armdyn.identify(two, changed(log, tau=tau))

    def test_joint_that_does_not_move(self, two, make_log):
        log = make_log(two)
        q = log.q.copy()
        q[:, 1] = 0.5
        still = changed(log, q=q, tau=armdyn.joint_torque(two, q, *_rates(q, log)) + 0.01 * log.tau)
        with pytest.warns(ArmdynWarning) as given:
            fit = armdyn.identify(two, still)
        assert any("joint 2 'joint2' does not move" in note for note in fit.notes)
        assert "do not determine" in str(given[-1].message)
        assert "Fv2" in fit.undetermined
        assert np.isinf(fit.base.std[list(fit.base.labels).index("Fv2")])

    @pytest.mark.parametrize("known", [True, False])
    def test_reversed_sign(self, two, make_log, known):
        log = make_log(two, noise=0.02)
        arm = two if known else unknown(two)
        with raises(DataError, cause=re.compile("reversed")):
            armdyn.identify(arm, changed(log, tau=-log.tau))

    def test_shuffled_torques(self, puma, make_log):
        log = make_log(puma)
        with raises(DataError, cause=re.compile(r"in the wrong order|reversed")):
            armdyn.identify(puma, changed(log, tau=log.tau[:, [2, 1, 0, 3, 4, 5]]))

    def test_shuffled_velocities(self, two, make_log):
        log = make_log(two)
        qd = np.gradient(log.q, log.t, axis=0)[:, ::-1]
        with raises(
            DataError, cause="the position of joint 1 'joint1' matches velocity 2: columns in the wrong order?"
        ):
            armdyn.identify(two, changed(log, qd=qd))

    def test_degrees_and_radians_mixed(self, two, make_log):
        log = make_log(two)
        with raises(DataError, cause=re.compile("degrees and radians mixed")):
            armdyn.identify(two, changed(log, qd=np.degrees(np.gradient(log.q, log.t, axis=0))))

    def test_wrong_arm(self, make_log, puma):
        rng = np.random.default_rng(0)
        log = make_log(puma)
        noise = np.cumsum(rng.normal(size=log.tau.shape), axis=0)
        with raises(DataError, cause=re.compile("another arm")):
            armdyn.identify(unknown(puma), changed(log, tau=noise - noise.mean(axis=0)))

    def test_another_number_of_joints(self, two, puma, make_log):
        with raises(DataError, cause="2 joints in the log, 6 in arm 'puma560'"):
            armdyn.identify(puma, make_log(two))

    def test_clipped_torque(self, two, make_log):
        log = make_log(two)
        bound = np.percentile(log.tau[:, 0], 90)
        with pytest.warns(ArmdynWarning, match="clipped"):
            armdyn.identify(two, changed(log, tau=np.minimum(log.tau, [bound, np.inf])))

    def test_torque_that_is_clipped_for_half_of_the_time(self, puma, make_log):
        """The verdict does not contradict the error that is expected."""
        log = make_log(puma, duration=10.0)
        most = np.where(np.arange(6) == 1, np.percentile(np.abs(log.tau[:, 1]), 30), np.inf)
        with pytest.warns(ArmdynWarning, match="clipped"):
            fit = armdyn.identify(unknown(puma), changed(log, tau=np.clip(log.tau, -most, most)))
        assert fit.verdict.word != "good"
        assert fit.expected_error > 0.1
        assert any("on a new motion" in reason for reason in fit.verdict.reasons)

    def test_gap_of_a_second_is_bridged_by_nothing(self, two, make_log):
        log = make_log(two, noise=0.02)
        keep = (log.t < 8) | (log.t > 9)
        cut = changed(log, t=log.t[keep], q=log.q[keep], tau=log.tau[keep])
        assert len(cut.stretches) == 2
        fit, whole = armdyn.identify(two, cut), armdyn.identify(two, log)
        np.testing.assert_allclose(fit.base.theta, whole.base.theta, atol=6 * whole.base.std.max())

    def test_options(self, two, make_log):
        for wrong in ({"terms": "some"}, {"friction": "none"}, {"method": "magic"}):
            with raises(ArmdynError, expected=re.compile(f"^{next(iter(wrong))} one of")):
                armdyn.identify(two, make_log(two), **wrong)
        with raises(ArmdynError, expected="at least one log", got="none"):
            armdyn.identify(two, [])


def _rates(q, log):
    qd = np.gradient(q, log.t, axis=0)
    return qd, np.gradient(qd, log.t, axis=0)


def test_gravity_of_the_sarcos_arm(make_log):
    """Kapadia, section 7.3: all 14 gravity parameters; errors below 5 % of each joint's torque."""
    arm = armdyn.arms.sarcos()
    log = make_log(arm, duration=250.0, rate=50.0, base=0.004, noise=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = armdyn.identify(unknown(arm), log, terms="gravity")
    assert fit.base.count == 14
    assert np.all(
        np.abs(fit.base.theta[:14] - armdyn.base_parameters(arm, terms="gravity").theta) < 4 * fit.base.std[:14]
    )
    strong = np.abs(log.tau).mean(axis=0) > 5
    assert np.all(fit.validate(log).rel_error_joints[strong] < 0.05)


def test_a_joint_that_sticks_is_no_error_of_the_model():
    """Dry friction may hold any torque up to breakaway: what was measured at rest tells nothing about the model."""
    arm = armdyn.arms.planar2()
    joints = [dataclasses.replace(j, friction=armdyn.Friction(coulomb=5.0)) for j in arm.joints]
    arm = arm.with_joints(joints)
    t = np.arange(0, 10, 0.005)
    # Both joints swing for six seconds and then stand still.
    q = np.where(t < 6, np.cos(2 * np.pi * t / 2), 1.0)[:, None] * [0.5, 0.4]
    qd = np.where(t < 6, -np.pi * np.sin(np.pi * t), 0.0)[:, None] * [0.5, 0.4]
    qdd = np.where(t < 6, -(np.pi**2) * np.cos(np.pi * t), 0.0)[:, None] * [0.5, 0.4]
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    tau[t >= 6] += 4.0  # friction holds
    with_rest = armdyn.validate(arm, armdyn.Log(t, q, tau))
    moving = armdyn.validate(arm, armdyn.Log(t[t < 5.5], q[t < 5.5], tau[t < 5.5]))
    assert with_rest.rel_error < 1.5 * moving.rel_error
    # Without dry friction torques at rest are gravity's, and count.
    slippery = arm.with_joints(armdyn.arms.planar2().joints)
    tau = armdyn.joint_torque(slippery, q, qd, qdd)
    tau[t >= 6] += 4.0
    assert armdyn.validate(slippery, armdyn.Log(t, q, tau)).rel_error > 0.05
