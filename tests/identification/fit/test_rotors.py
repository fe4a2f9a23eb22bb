"""Rotors of drives: of single joints, one with links, and coupled as in the wrist of a PUMA 560."""

from __future__ import annotations

import dataclasses

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
