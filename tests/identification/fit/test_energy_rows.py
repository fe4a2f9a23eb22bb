"""The energy form: one equation for all joints, without accelerations."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning
from armdyn.identification.fit.rows import make_rows
from armdyn.identification.fit.terms import LOAD, ROTOR, TERMS, whole_torque
from armdyn.identification.motion.track import Filters, tracks_of

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
    filters = Filters(5.0, 25.0, "butterworth", "energy")
    rows = make_rows(base, tracks_of([log], filters), filters)
    (part,) = rows.loaded_by([whole_torque(arm, track, None) for track in rows.tracks])
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
    assert torque.validate(other).rel_error < 0.01
    assert energy.validate(other).rel_error < 0.02


def test_joints_that_move_alike_keep_their_friction(puma, make_log):
    """Their powers cannot be told apart: nothing but its size relative to the torque bounds friction of each."""
    log = make_log(puma, duration=30.0)
    t, q, qd, qdd = log.t, *np.zeros((3, len(log), 6))
    rng = np.random.default_rng(3)
    for k in range(1, 6):
        w, a = 0.6 * k, rng.normal(size=(2, 3)) * 0.6 / np.sqrt(k)
        a = np.hstack([a, a])  # the wrist moves as the arm does
        c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
        q, qd, qdd = q + a[0] * s - a[1] * c, qd + w * (a[0] * c + a[1] * s), qdd + w**2 * (a[1] * c - a[0] * s)
    tau = armdyn.joint_torque(puma, q, qd, qdd) + 0.3 * rng.normal(size=q.shape)
    alike = dataclasses.replace(log, q=q + 2e-5 * rng.normal(size=q.shape), tau=tau)
    with pytest.warns(ArmdynWarning):  # and what remains is told
        fit = armdyn.identify(puma, alike, form="energy", friction="simple")
    # Which of two joints has what cannot be known, but neither has more friction than it has torque.
    size = np.sqrt(np.mean(tau**2, axis=0))
    assert np.all(np.abs([f.offset for f in fit.friction.chosen]) < size)
    assert fit.rel_error < 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        generic = armdyn.identify(puma, alike, form="energy", friction="simple", prior=0.0, force=True)
    assert generic.centre == "generic bodies"


def test_gravity_alone_has_no_energy_form(two, make_log):
    with pytest.raises(armdyn.ArmdynError, match="form one of torque, got 'energy'"):
        armdyn.identify(two, make_log(two), terms="gravity", form="energy")
