"""Drive gains from currents, with and without a payload that was weighed."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, DataError, ShapeError
from armdyn.identification import drive_gains as module

GAINS = np.array([12.0, 25.0, 8.0, 1.5, 2.0, 1.1])  # N m/A at the joints
MASS, COM, TENSOR = 4.0, np.array([0.05, -0.02, 0.12]), np.diag([0.02, 0.03, 0.025])


@pytest.fixture(scope="module")
def logs(puma, make_log):
    """Currents of a PUMA 560 with friction, alone and with 4 kg; 3 % noise."""
    found = []
    for seed, arm in enumerate((puma, puma.with_payload(MASS, COM, TENSOR))):
        log = make_log(arm, duration=40.0, noise=0.0, seed=seed)
        current = log.tau / GAINS
        noise = np.random.default_rng(seed).normal(size=current.shape) * 0.03 * current.std(axis=0)
        found.append(dataclasses.replace(log, tau=current + noise))
    return found


@pytest.mark.parametrize("known", [{}, {"com": COM}, {"com": COM, "inertia": TENSOR}])
def test_gains_of_a_simulated_arm_with_friction(puma, logs, known):
    found = armdyn.identify_drive_gains(puma, *logs, MASS, **known)
    z = (found.gains - GAINS) / found.std
    assert np.all(np.abs(z) < 3.5), z
    assert np.all(found.std < 0.03 * GAINS)
    assert found.rel_error < 0.02
    assert "joint 6: 1.1" in str(found)


def test_intervals_hold(two, make_log):
    """Over many noises the errors are as large as is said."""
    gains, z = np.array([3.0, 0.7]), []
    for seed in range(20):
        pair = [
            dataclasses.replace(log, tau=log.tau / gains)
            for log in (
                make_log(two, seed=seed, noise=0.3),
                make_log(two.with_payload(1.0), seed=100 + seed, noise=0.3, motion=1),
            )
        ]
        found = armdyn.identify_drive_gains(two, *pair, 1.0)
        z.append((found.gains - gains) / found.std)
    # 40 numbers, of which each pair shares its scale: their rms is 1 within a third.
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.4, z


def test_noise_does_not_draw_gains_towards_zero(puma, logs, monkeypatch):
    """Torque on the left, from which the search starts, is 5 to 30 % off where noise is a third of the currents."""
    starts, plain = [], module.drive_gains

    def recorded(*arguments):
        starts.append(plain(*arguments))
        return starts[-1]

    monkeypatch.setattr(module, "drive_gains", recorded)
    rng = np.random.default_rng(5)
    noisy = [
        dataclasses.replace(log, tau=log.tau + 0.3 * log.tau.std(axis=0) * rng.normal(size=log.tau.shape))
        for log in logs
    ]
    found = armdyn.identify_drive_gains(puma, *noisy, MASS)
    assert np.all(np.abs(found.gains - GAINS) < 3.5 * found.std)
    assert np.all(found.std < 0.04 * GAINS)
    assert np.all(starts[0].gains < 0.97 * GAINS)


def test_neither_inertia_nor_friction_of_the_arm_is_needed(puma, logs):
    bare = puma.with_joints([dataclasses.replace(j, friction=armdyn.Friction()) for j in puma.joints])
    known = armdyn.identify_drive_gains(puma, *logs, MASS)
    unknown = armdyn.identify_drive_gains(bare.with_theta(np.full(60, np.nan)), *logs, MASS)
    np.testing.assert_allclose(unknown.gains, known.gains, rtol=1e-6)


def test_rotors_do_not_pass_for_gains(puma, make_log):
    drives = [dataclasses.replace(j, drive=armdyn.Drive(rotor_inertia=1e-4, gear_ratio=60.0)) for j in puma.joints]
    geared = puma.with_joints(drives)
    pair = [make_log(arm, duration=40.0, noise=0.1) for arm in (geared, geared.with_payload(MASS, COM, TENSOR))]
    pair = [dataclasses.replace(log, tau=log.tau / GAINS) for log in pair]
    found = armdyn.identify_drive_gains(geared, *pair, MASS, com=COM)
    assert np.all(np.abs(found.gains - GAINS) < 3.5 * found.std)
    assert np.all(found.std < 0.05 * GAINS)


def _coupled(arm):
    """The arm with a drive of joint 6 that turns with joint 5 too."""
    drive = dataclasses.replace(arm.joints[5].drive, coupling=(0, 0, 0, 0, 0.5, 1.0))
    return arm.with_joints([*arm.joints[:5], dataclasses.replace(arm.joints[5], drive=drive)])


def test_what_cannot_be_is_rejected(puma, logs):
    with raises(ArmdynError, expected="mass > 0", got="-1.0"):
        armdyn.identify_drive_gains(puma, *logs, -1.0)
    with raises(ShapeError, expected="com of shape (3,)", got="(2,)"):
        armdyn.identify_drive_gains(puma, *logs, MASS, com=[0.0, 0.1])
    with raises(ArmdynError, cause="an inertia about the centre of mass needs com"):
        armdyn.identify_drive_gains(puma, *logs, MASS, inertia=TENSOR)
    with raises(ArmdynError, cause="drives of arm 'puma560' are coupled, which is not supported"):
        armdyn.identify_drive_gains(_coupled(puma), *logs, MASS)
    with raises(DataError, cause=re.compile("the currents do not show the payload")):
        armdyn.identify_drive_gains(puma, logs[0], logs[0], MASS)
