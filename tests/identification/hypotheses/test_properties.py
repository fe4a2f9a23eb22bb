"""Inject a fault, find it with its joints, apply its correction: the log is clean again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import armdyn
from armdyn.identification import Finding, LogCorrection
from armdyn.identification.logs.log import Log

ORDER = [0, 2, 1, 3, 4, 5]


def scaled(log: Log, joints: tuple[int, ...], factor: float) -> Log:
    return dataclasses.replace(log, tau=log.tau * np.where(np.isin(np.arange(log.n), joints), factor, 1.0))


def turned(log: Log, joint: int, angle: float) -> Log:
    return dataclasses.replace(log, q=log.q + angle * (np.arange(log.n) == joint))


def changed(log: Log, name: str, joint: int, change: Callable[[np.ndarray], np.ndarray]) -> Log:
    """The log with another column of a joint, from the middle on."""
    table = getattr(log, name).copy()
    table[:, joint] = np.r_[table[: len(log) // 2, joint], change(table[len(log) // 2 :, joint])]
    return dataclasses.replace(log, **{name: table})


def dead(log: Log, joint: int) -> Log:
    noise = 0.1 * log.tau[:, joint].std() * np.random.default_rng(0).normal(size=len(log))
    return dataclasses.replace(log, tau=np.where(np.arange(log.n) == joint, noise[:, None], log.tau))


FAULTS = {
    "sign": (lambda log: scaled(log, (2,), -1.0), (2,)),
    "sign of several torques": (lambda log: scaled(log, (1, 2, 4), -1.0), (1, 2, 4)),
    "sign of a position": (lambda log: dataclasses.replace(log, q=log.q * [1, 1, -1, 1, 1, 1]), (2,)),
    "exchange of torques": (lambda log: dataclasses.replace(log, tau=log.tau[:, ORDER]), (1, 2)),
    "exchange of positions": (lambda log: dataclasses.replace(log, q=log.q[:, ORDER]), (1, 2)),
    "exchange of both": (lambda log: dataclasses.replace(log, q=log.q[:, ORDER], tau=log.tau[:, ORDER]), (1, 2)),
    "gain": (lambda log: scaled(log, (1,), 1.3), (1,)),
    "gain of all, a unit": (lambda log: dataclasses.replace(log, tau=1e3 * log.tau), ()),
    "zero of a quarter turn": (lambda log: turned(log, 1, np.pi / 2), (1,)),
    "zero of a half turn": (lambda log: turned(log, 2, np.pi), (2,)),
    "zero": (lambda log: turned(log, 1, 0.2), (1,)),
    "delay": (lambda log: log.corrected(LogCorrection(delay=-0.1)), ()),
    "time_scale": (lambda log: dataclasses.replace(log, t=3.0 * log.t), ()),
    "step": (lambda log: changed(log, "tau", 1, lambda tau: tau + 30.0), (1,)),
    "stuck torque": (lambda log: changed(log, "tau", 1, lambda tau: np.full_like(tau, tau[0])), (1,)),
    "stuck position": (lambda log: changed(log, "q", 1, lambda q: np.full_like(q, q[0])), (1,)),
    "stuck sensor of noise": (lambda log: dead(log, 1), (1,)),
}


def doubts(arm, log: Log) -> list[Finding]:
    return [f for f in armdyn.check_log(arm, log).findings if f.level != "note"]


@pytest.fixture(scope="module")
def log(puma, make_log):
    return make_log(puma)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_correction_cleans_the_log(puma, log, fault):
    spoil, joints = FAULTS[fault]
    assert doubts(puma, log) == []
    spoilt = spoil(log)
    (found, *others) = doubts(puma, spoilt)
    assert found.kind == fault.split()[0]
    assert found.joints == joints
    assert found.log_evidence > 15 or np.isnan(found.log_evidence)  # told by a column alone
    assert doubts(puma, spoilt.corrected(found.correction)) == [], others


def test_gravity_that_was_subtracted(puma, log):
    spoilt = dataclasses.replace(log, tau=log.tau - armdyn.gravity_torque(puma, log.q))
    (found,) = doubts(puma, spoilt)
    assert found.kind == "gravity"
    assert found.correction == LogCorrection(gravity=(0, 0, 0))
    assert doubts(found.correction.arm(puma), spoilt) == []


def test_an_arm_that_hangs(puma, log):
    described = puma.with_gravity(-puma.gravity)
    (found, *_) = doubts(described, log)
    assert found.kind == "gravity"
    assert doubts(found.correction.arm(described), log) == []


@pytest.mark.parametrize("known", [True, False])
def test_led_by_hand(puma, log, known):
    """Gravity torques, and neither inertia nor friction, while joints accelerate."""
    tau = armdyn.gravity_torque(puma, log.q)
    tau += 0.002 * tau.std(axis=0).max() * np.random.default_rng(0).normal(size=tau.shape)
    arm = puma if known else puma.with_theta(np.full_like(puma.theta, np.nan))
    kinds = {f.kind for f in doubts(arm, dataclasses.replace(log, tau=tau))}
    assert "led_by_hand" in kinds


def test_rejected_logs_tell_their_findings(puma, log):
    with pytest.raises(armdyn.errors.DataError) as rejected:
        armdyn.identify(puma, scaled(log, (2,), -1.0))
    (found,) = (f for f in rejected.value.findings if f.level == "reject")
    assert (found.kind, found.joints) == ("sign", (2,))


@pytest.mark.parametrize(("name", "described"), [("ur5", "ur10"), ("ur10", "ur5e")])
def test_the_arm_of_the_library_that_it_is_is_named(make_log, with_rubbing, name, described):
    right, wrong = (with_rubbing(getattr(armdyn.arms, some)()) for some in (name, described))
    log = make_log(right, noise=0.1)
    (found,) = doubts(wrong, log)
    assert found.kind == "other_arm"
    assert f"such as '{name}' of the library" in found.hint
    assert found.log_evidence > 15
    assert doubts(right, log) == []


def test_computed_torques(make_log):
    """Torques of a model along a smooth motion, without noise: no sensor measures such. Simulated logs are used so."""
    arm = armdyn.arms.ur5e()

    def notes(noise: float) -> list[Finding]:
        check = armdyn.check_log(arm, make_log(arm, noise=noise, encoder=noise / 1e4))
        assert "computed torques" in {test.fault for test in check.tests}
        return [f for f in check.findings if f.kind == "computed"]

    (found,) = notes(0.0)
    assert found.level == "note"
    assert found.value < 1e-3
    assert "were they computed?" in found.text
    assert notes(0.1) == []


def test_amperes_of_unlike_drives(puma, log):
    """Gains relative to one another first, then the factor of all, by the description.

    Torques of the wrist are mostly friction and noise: bodies do not tell their gains.
    """
    spoilt = dataclasses.replace(log, tau=log.tau / np.array([12, 5, 9, 14, 6, 10]))
    for _ in range(2):
        found, *_ = doubts(puma, spoilt)
        assert found.kind == "gain"
        spoilt = spoilt.corrected(found.correction)
    assert doubts(puma, spoilt) == []
    np.testing.assert_allclose(spoilt.tau.std(axis=0)[:3], log.tau.std(axis=0)[:3], rtol=0.1)
