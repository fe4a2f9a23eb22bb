"""Rotors of drives: of single joints, one with links, and coupled as in the wrist of a PUMA 560."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.rotors import base_with_drives, own_rotors
from armdyn.identification.fit.rows import make_rows
from armdyn.identification.motion.track import Filters, tracks_of

# Rows of the wrist's drives: motor 5 turns with joint 4 too, motor 6 with joints 4 and 5.
WRIST = {4: (0, 0, 0, 0.2, 1.0, 0), 5: (0, 0, 0, -0.1, 0.3, 1.0)}


@pytest.fixture(scope="module")
def coupled():
    """A PUMA 560 with friction and the coupled wrist."""
    joints = [
        dataclasses.replace(
            joint,
            friction=armdyn.Friction(2.0, 3.0),
            limits=armdyn.Limits(),
            drive=dataclasses.replace(joint.drive, coupling=WRIST.get(k, ())),
        )
        for k, joint in enumerate(armdyn.arms.puma560().joints)
    ]
    return armdyn.arms.puma560().with_joints(joints)


def test_coupled_rotors_are_base_parameters(coupled):
    base = base_with_drives(armdyn.base_parameters(coupled), "full", None)
    assert own_rotors(base, None) == ()
    assert base.P[:, 60:].any(axis=0).all()
    assert {"Ia3", "Ia4", "Ia5", "Ia6"} <= set(base.labels)
    assert base_with_drives(armdyn.base_parameters(coupled), "full", False).joint_terms == ()
    assert base_with_drives(armdyn.base_parameters(coupled), "gravity", True).joint_terms == ()


@pytest.mark.slow
def test_coupled_rotors_are_found(coupled, make_log):
    log = make_log(coupled, duration=30.0, noise=0.3)
    fit = armdyn.identify(coupled, log)
    base = armdyn.base_parameters(coupled, joint_terms=("rotor",))
    z = (fit.base.theta[: base.count] - base.project(base.own_parameters)) / fit.base.std[: base.count]
    assert fit.base.labels[: base.count] == base.labels
    assert np.all(np.abs(z) < 4.5), z
    assert fit.arm.is_physical
    wanted = np.array([joint.drive.reflected_inertia for joint in coupled.joints])
    np.testing.assert_allclose(fit.drive.inertia[3:], wanted[3:], rtol=0.1)
    np.testing.assert_array_equal(fit.arm.coupling, coupled.coupling)
    assert fit.validate(make_log(coupled, motion=3, noise=0.0)).rel_error < 0.01
    # Without rotors no links explain the wrist's torques.
    assert armdyn.identify(coupled, log, rotors=False).rel_error > 1.5 * fit.rel_error


def test_coupled_rotors_that_nobody_described(coupled, make_log):
    drives = [dataclasses.replace(j.drive, rotor_inertia=0.0) for j in coupled.joints]
    bare = coupled.with_joints([dataclasses.replace(j, drive=d) for j, d in zip(coupled.joints, drives, strict=True)])
    fit = armdyn.identify(bare, make_log(coupled, duration=30.0, noise=0.3), rotors=True)
    wanted = np.array([joint.drive.reflected_inertia for joint in coupled.joints])
    np.testing.assert_allclose(fit.drive.inertia[3:], wanted[3:], rtol=0.15)


def test_the_filtered_form_has_coupled_rotors(coupled, make_log):
    log = make_log(coupled, noise=0.0, encoder=0.0, rate=500.0)
    base = base_with_drives(armdyn.base_parameters(coupled), "full", True)
    forms = [Filters(5.0, 25.0, "butterworth", form) for form in ("torque", "filtered")]
    plain, filtered = (next(iter(make_rows(base, tracks_of([log], form), form))) for form in forms)
    a, b = plain.Y[..., : base.count], filtered.Y[..., : base.count]
    # The taps are cut off at 1 %, and differences at 500 Hz are not derivatives.
    assert np.linalg.norm(a - b) < 5e-3 * np.linalg.norm(a)


def test_a_rotor_of_a_lift_is_told_neither_from_its_weight_nor_from_an_offset(make_log):
    """Intervals hold what each of them would be; without rotors they are as narrow as the log allows."""
    scara = armdyn.arms.scara()
    drive = armdyn.Drive(rotor_inertia=0.7, gear_ratio=1.0)
    lift = dataclasses.replace(scara.joints[2], friction=armdyn.Friction(120.0, 25.0), drive=drive)
    arm = scara.with_joints([*scara.joints[:2], lift, scara.joints[3]])
    log = make_log(arm, amplitude=0.3, noise=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit, bare = (armdyn.identify(scara, log, rotors=rotors, force=True) for rotors in (None, False))
    weight = fit.base.labels.index("m3")
    mass = scara.links[2].inertia.mass + scara.links[3].inertia.mass
    for found, sure in ((fit, True), (bare, False)):
        low, high = found.base.intervals[weight]
        assert (low < mass < high) == sure
        assert (abs(found.friction.offset[2]) < 1.96 * found.friction.std[2, 2]) == sure
    np.testing.assert_allclose(abs(fit.friction.offset[2]), 0.7 * 9.81, atol=1.0)
    # Other joints are as sure as before.
    np.testing.assert_allclose(np.delete(fit.friction.std[2], 2), np.delete(bare.friction.std[2], 2), rtol=0.2)
