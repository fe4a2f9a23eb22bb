"""Drives that nobody declared to move two joints, found in logs, and none where there is none."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Friction
from armdyn.errors import ArmdynError, ArmdynWarning
from armdyn.identification import Finding
from armdyn.identification.logs.corrections import LogCorrection


@pytest.fixture(scope="module")
def single():
    """Three joints with friction and rotors, each with a drive of its own."""
    arm = armdyn.arms.puma3()
    frictions = [Friction(4.0, 6.0, 0.2), Friction(3.0, 5.0, -0.3), Friction(2.0, 4.0, 0.1)]
    pairs = zip(arm.joints, frictions, strict=True)
    return arm.with_joints(
        dataclasses.replace(j, friction=f, drive=Drive(2e-4, 60.0), limits=armdyn.Limits()) for j, f in pairs
    )


def bare(arm):
    """What a description without drives says."""
    return arm.with_joints(dataclasses.replace(j, friction=Friction(), drive=Drive()) for j in arm.joints)


def couplings(findings) -> list[Finding]:
    return [finding for finding in findings if finding.kind == "coupling"]


def shared_drive(arm, log) -> Finding | None:
    return next(iter(couplings(armdyn.check_log(arm, log).findings)), None)


@pytest.mark.parametrize(
    ("text", "joints", "sign"), [("2+3", (1, 2), 1.0), ("3-2", (1, 2), -1.0), ("1+2", (0, 1), 1.0)]
)
def test_a_shared_drive_is_found(single, make_log, text, joints, sign):
    log = make_log(single.with_coupling(text), noise=0.5)
    found = shared_drive(bare(single), log)
    assert (found.kind, found.level, found.joints, found.value) == ("coupling", "note", joints, sign)
    assert found.correction == LogCorrection(coupling=(text,))
    assert found.gain > 100


def test_drives_of_their_own_are_left_alone(single, make_log):
    for motion in range(4):
        assert shared_drive(bare(single), make_log(single, motion=motion, noise=0.5)) is None


def test_shaft_friction_and_rotor_are_identified(single, make_log):
    """Undeclared: found, used, and told in words; the model predicts another motion."""
    true = single.with_coupling("2+3")
    log, other = make_log(true, 30.0, noise=0.3), make_log(true, motion=5, noise=0.0)
    fit = armdyn.identify(bare(single), log, rotors=True)
    assert [f.text.split(" (")[0] for f in couplings(fit.findings)] == ["joints 2 and 3 share a drive: q2 + q3"]
    np.testing.assert_array_equal(fit.arm.coupling, true.coupling)
    assert fit.source.coupling is None
    wanted = [joint.friction for joint in true.joints]
    np.testing.assert_allclose(fit.friction.viscous, [f.viscous for f in wanted], atol=0.15)
    np.testing.assert_allclose(fit.friction.coulomb, [f.coulomb for f in wanted], atol=0.15)
    # About parallel axes the rotor of the shared shaft and the last link turn alike: torques determine their sum.
    rotors, links = fit.drive.inertia[2], fit.arm.links[2].inertia.tensor[2, 2]
    described = true.joints[2].drive.reflected_inertia + true.links[2].inertia.tensor[2, 2]
    assert rotors + links == pytest.approx(described, rel=0.02)
    assert fit.validate(other).rel_error < 0.01
    for model in ("free", "consistent", "best"):
        told = fit.predict(other, model=model)
        assert np.linalg.norm(told.tau - other.tau) < 0.03 * np.linalg.norm(other.tau)
    with pytest.warns(ArmdynWarning, match="usable with care"):
        alone = armdyn.identify(bare(single), log, rotors=True, coupling="none")
    assert alone.arm.coupling is None
    assert not couplings(alone.findings)
    assert alone.rel_error > 3 * fit.rel_error


@pytest.mark.parametrize("form", ["filtered", "energy"])
def test_a_declared_drive_in_other_forms(single, make_log, form):
    true = single.with_coupling("3-2")
    fit = armdyn.identify(bare(single), make_log(true, 30.0, noise=0.1), coupling="3-2", form=form)
    assert not couplings(fit.findings)
    np.testing.assert_array_equal(fit.arm.coupling, true.coupling)
    assert fit.validate(make_log(true, motion=5, noise=0.0)).rel_error < 0.03


def test_gravity_from_poses_keeps_offsets_of_shafts(single):
    """Offsets seen at the joints are those of the shafts through the coupling."""
    from armdyn.identification.logs.log import Log

    true = single.with_coupling("2+3")
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.5, 1.5, (60, 3))
    zeros = np.array([joint.friction.offset for joint in true.joints])
    tau = armdyn.gravity_torque(true, q) + zeros @ true.coupling + 0.02 * rng.normal(size=q.shape)
    log = Log(np.arange(60.0), q, tau, name="poses", still=True)
    fit = armdyn.identify(bare(single), log, terms="gravity", coupling="2+3")
    np.testing.assert_allclose([joint.friction.offset for joint in fit.arm.joints], zeros, atol=0.05)


def test_balancers_of_shared_drives_are_rejected(single, make_log):
    with raises(
        ArmdynError,
        cause="joint 'joint3' shares a drive; balancers of such joints cannot be identified",
        names=("joint3",),
    ):
        armdyn.identify(bare(single), make_log(single), coupling="2+3", balancers=[single.joint_names[2]])
