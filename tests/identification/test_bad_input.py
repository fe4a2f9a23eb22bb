"""Logs that cannot support a model: a reason or a verdict, never a model of NaN."""

from __future__ import annotations

import dataclasses
import re
import warnings

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, DataError
from armdyn.identification.logs.log import Log


def one_joint(arm: armdyn.Arm, log: Log) -> Log:
    """Only the first joint moves."""
    q = np.where(np.arange(log.n) == 0, log.q, log.q[:1])
    qd = np.gradient(q, log.dt, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, np.gradient(qd, log.dt, axis=0))
    return dataclasses.replace(log, q=q, tau=tau + 0.01 * (log.tau - log.tau.mean(axis=0)))


def spoilt(arm: armdyn.Arm, log: Log, how: str) -> Log:
    tau, q = log.tau, log.q
    if how == "one moving joint":
        return one_joint(arm, log)
    if how == "no motion":
        return dataclasses.replace(log, q=np.tile(q[:1], (len(q), 1)))
    if how == "no motion but noise":
        return dataclasses.replace(log, q=q[:1] + 1e-5 * np.random.default_rng(0).normal(size=q.shape))
    if how == "2 s":
        return log.part(log.t[0], log.t[0] + 2.0)
    if how == "constant torque":
        return dataclasses.replace(log, tau=np.tile(tau[:1], (len(tau), 1)))
    if how == "1 Hz":
        every = slice(None, None, round(1 / log.dt))
        return dataclasses.replace(log, t=log.t[every], q=q[every], tau=tau[every])
    raise AssertionError(how)


@pytest.mark.parametrize("known", [True, False], ids=["described", "bare"])
@pytest.mark.parametrize(
    "how", ["one moving joint", "no motion", "no motion but noise", "2 s", "constant torque", "1 Hz"]
)
def test_a_reason_or_a_verdict(two, make_log, how, known):
    arm = two if known else two.with_theta(np.full(10 * two.n, np.nan))
    log = spoilt(two, make_log(two, duration=80.0 if how == "1 Hz" else 20.0, noise=0.05), how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit = armdyn.identify(arm, log)
        except ArmdynError:
            return
    assert how == "one moving joint"
    assert fit.verdict.word != "good"
    assert fit.verdict.reasons or any(joint.word == "not usable" for joint in fit.verdict.joints)
    assert np.isfinite(fit.arm.theta).all()
    assert np.isfinite(fit.friction.viscous).all()
    assert fit.arm.is_physical


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_weights_that_are_held_are_no_model():
    """The last joint alone moves, its torque is lost in noise, and the weights that the others hold are explained."""
    arm, rng = armdyn.arms.puma560(), np.random.default_rng(3)
    t = np.arange(0, 15, 0.01)
    q = np.where(np.arange(arm.n) == arm.n - 1, 0.8 * np.sin(2 * t)[:, None], 0.3)
    qd = np.gradient(q, t, axis=0)
    tau = armdyn.inverse_dynamics(arm, q, qd, np.gradient(qd, t, axis=0)) + 0.05 * rng.normal(size=q.shape)
    with raises(
        DataError, cause=re.compile(r"every joint that moved has a torque error of 50% or more"), names=("puma560",)
    ):
        armdyn.identify(arm, Log(t=t, q=q, tau=tau))


def test_all_missing(two, make_log, tmp_path):
    log = make_log(two)
    np.savez(tmp_path / "log.npz", t=log.t, q=np.full_like(log.q, np.nan), tau=log.tau)
    with raises(ArmdynError, cause="positions of joint 1 'joint1' hold no numbers", names=("joint1",)):
        armdyn.read_log(tmp_path / "log.npz", two)
    with raises(ArmdynError, expected="torques of at least one joint", got="none"):
        dataclasses.replace(log, tau=np.full_like(log.tau, np.nan))


@pytest.mark.parametrize("spoil", ["negative mass", "thin"])
def test_impossible_descriptions_are_no_centre(two, make_log, spoil):
    theta = two.theta.reshape(-1, 10).copy()
    if spoil == "negative mass":
        theta[1, 0] *= -1
    else:
        theta[1, 4:] *= -1
    fit = armdyn.identify(two.with_theta(theta.ravel()), make_log(two, noise=0.05))
    assert fit.centre == "generic bodies"
    assert any("the description's inertia is not used as a prior: link 'link2'" in note for note in fit.notes)
    assert fit.arm.is_physical


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_no_joint_of_a_model_that_is_not_usable_is_good(two, make_log):
    log = make_log(two, duration=20.0, noise=0.05)
    fit = armdyn.identify(two, dataclasses.replace(log, tau=0.01 * log.tau), force=True)
    assert fit.verdict.word == "not usable"
    assert {joint.word for joint in fit.verdict.joints} == {"not usable"}


def test_a_path_in_the_place_of_the_arm():
    for function in (armdyn.identify, armdyn.validate, armdyn.identify_payload):
        with raises(ArmdynError, expected="an Arm", got="'a.urdf'; armdyn.load('a.urdf') makes one"):
            function("a.urdf", "log.csv")  # type: ignore[operator]
    with raises(ArmdynError, expected="an Arm", got="3"):
        armdyn.read_log("log.csv", 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("logs", [None, 3, 1.5])
def test_what_is_no_log_is_named(logs):
    with raises(ArmdynError, where="identify", expected="a log, a path, or several of them", got=repr(logs)):
        armdyn.identify(armdyn.arms.planar2(), logs)


@pytest.mark.parametrize("name", ["planar2", "panda"])
def test_a_forced_fit_to_reversed_torques_without_noise_ends(name):
    """Bodies that would have to push their links vanish: round-off puts them on the boundary of consistent ones."""
    arm, t = getattr(armdyn.arms, name)(), np.arange(0, 4, 0.005)[:, None]
    w = 2 * np.pi * (0.5 + 0.125 * np.arange(arm.n))
    q, qd, qdd = 0.6 * np.sin(w * t), 0.6 * w * np.cos(w * t), -0.6 * w**2 * np.sin(w * t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = armdyn.identify(arm, armdyn.Log(t[:, 0], q, -armdyn.joint_torque(arm, q, qd, qdd), qd), force=True)
    assert fit.verdict.word == "not usable"
    assert np.isfinite(fit.theta).all()
    assert fit.arm.is_physical
