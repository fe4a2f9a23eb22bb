"""The energy form: one equation for all joints, without accelerations."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.rows import Filters, make_rows
from armdyn.identification.terms import LOAD, ROTOR, TERMS

FRICTION = ("viscous", "coulomb", "offset")


@pytest.mark.parametrize(("load", "rotors"), [(0.0, True), (0.05, False)])
def test_rows_are_the_balance_of_power(load, rotors, make_log):
    plain = armdyn.arms.puma3()
    friction = armdyn.Friction(2.0, 3.0, 0.3, load=load)
    arm = plain.with_joints(
        [
            dataclasses.replace(
                j, friction=friction, limits=armdyn.Limits(), drive=j.drive if rotors else armdyn.Drive()
            )
            for j in plain.joints
        ]
    )
    log, base = make_log(arm, noise=0.0, encoder=0.0, rate=500.0), armdyn.base_parameters(arm)
    (part,) = make_rows(base, [log], Filters(5.0, 25.0, "butterworth", "energy")).loaded(arm)
    assert part.Y.shape == (1, part.tau.shape[1], base.count + 3 * len(TERMS))
    terms = np.zeros((3, len(TERMS)))
    terms[:, :3] = [friction.viscous, friction.coulomb, friction.offset]
    terms[:, ROTOR] = [j.drive.reflected_inertia for j in arm.joints]
    terms[:, LOAD] = load

    def error():
        model = part.Y[0] @ np.concatenate([base.theta, terms.ravel()])
        return np.linalg.norm(model - part.tau[0]) / np.linalg.norm(part.tau)

    # Derivatives by filters at 25 Hz, signs of velocities between samples, and loads without those of friction itself.
    whole = error()
    assert whole < (2e-2 if load else 5e-3)
    terms[:, LOAD if load else ROTOR] = 0.0
    assert error() > 3 * whole


@pytest.mark.parametrize("name", ["two", "puma"])
def test_the_same_parameters_within_stated_deviations(name, make_log, request):
    arm = request.getfixturevalue(name)
    log = make_log(arm, duration=40.0, noise=0.05 if name == "two" else 0.3)
    energy, torque = (armdyn.identify(arm, log, form=form, friction="simple") for form in ("energy", "torque"))
    assert energy.base.labels == torque.base.labels
    known = np.isfinite(energy.base.std)
    assert known.mean() > 0.9
    apart = (energy.base.theta - torque.base.theta)[known] / np.hypot(energy.base.std, torque.base.std)[known]
    assert np.abs(apart).max() < 3.5
    friction = [[getattr(j.friction, k) for k in FRICTION] for j in arm.joints]
    truth = np.concatenate([armdyn.base_parameters(arm).theta, np.ravel(friction)])
    assert np.abs((energy.base.theta - truth)[known] / energy.base.std[known]).max() < 4
    # One equation for all joints tells less than one for each.
    assert np.median(energy.base.std / torque.base.std) > 1.5
    other = make_log(arm, motion=3, noise=0.0)
    assert torque.validate(other).rel_error < energy.validate(other).rel_error < 0.01


def test_gravity_alone_has_no_energy_form(two, make_log):
    with pytest.raises(armdyn.ArmdynError, match="form one of torque, got 'energy'"):
        armdyn.identify(two, make_log(two), terms="gravity", form="energy")
