"""Rows of equations: pieces of long logs, loads that are not measured, decimation, and the form of energy."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning
from armdyn.identification.fit import rows as module
from armdyn.identification.fit.rows import decimator, make_rows, slope
from armdyn.identification.fit.terms import LOAD, ROTOR, TERMS, whole_torque
from armdyn.identification.motion import track
from armdyn.identification.motion.differentiate import impulse
from armdyn.identification.motion.track import Filters, tracks_of

FRICTION = ("viscous", "coulomb", "offset")
FILTERS = Filters(5.0, 20.0, "butterworth")


def test_a_log_in_pieces_gives_the_same_model(two, make_log, monkeypatch):
    # Noise at which both choose the same least noise: with less, blocks of pieces ask for a smaller one.
    log = make_log(two, duration=60.0, noise=0.05)
    whole = armdyn.identify(two, log, band=5.0)
    monkeypatch.setattr(track, "PIECE_SAMPLES", 3000)
    pieces = armdyn.identify(two, log, band=5.0)
    assert len(pieces.tracks) == 4
    assert pieces.structure == whole.structure
    # Each of three cuts loses 0.8 s of 60 s to the low-pass.
    assert np.all(np.abs(pieces.base.theta - whole.base.theta) < 1.5 * whole.base.std)
    np.testing.assert_allclose(pieces.base.std, whole.base.std, rtol=0.3)
    assert max(pieces.rel_error, whole.rel_error) < 1e-3


def test_of_very_long_logs_fewer_rows_are_kept(two, make_log, monkeypatch):
    log = make_log(two, duration=60.0, noise=0.02)
    rows = make_rows(armdyn.base_parameters(two), tracks_of([log], FILTERS), FILTERS)
    monkeypatch.setattr(module, "MOST_ROWS", 300)
    fewer = make_rows(armdyn.base_parameters(two), tracks_of([log], FILTERS), FILTERS)
    assert len(fewer) <= 300 < len(rows)
    step = fewer.thin
    np.testing.assert_allclose(fewer.parts[0].tau, rows.parts[0].tau[:, ::step][:, : len(fewer)], rtol=1e-9)
    np.testing.assert_array_equal(fewer.positions(), rows.positions()[::step][: len(fewer)])


def test_rows_are_the_equations(two, make_log):
    log = make_log(two, noise=0.0, encoder=0.0)
    base = armdyn.base_parameters(two)
    rows = make_rows(base, tracks_of([log], FILTERS), FILTERS)
    friction = np.array([[j.friction.viscous, j.friction.coulomb, j.friction.offset] for j in two.joints])
    (part,) = rows
    assert part.tau.shape == (2, len(rows))
    for joint in range(2):
        model = part.Y[joint][:, : base.count + 3] @ np.concatenate([base.theta, friction[joint]])
        # Derivatives by filters at 20 Hz, and signs of velocities between samples.
        assert np.linalg.norm(model - part.tau[joint]) < 5e-3 * np.linalg.norm(part.tau[joint])


def test_noise_does_not_explain_itself_as_load(make_log):
    """A joint whose torque is mostly noise has no friction that grows with the noise."""
    arm = armdyn.arms.planar2()
    joints = [dataclasses.replace(j, friction=armdyn.Friction(0.2, 0.3)) for j in arm.joints]
    arm = arm.with_joints(joints)
    log = make_log(arm, duration=30.0, noise=0.0)
    rng = np.random.default_rng(3)
    slow = np.cumsum(rng.normal(size=log.tau.shape), axis=0)
    slow -= slow.mean(axis=0)
    spoiled = dataclasses.replace(log, tau=log.tau + 0.2 * slow / slow.std(axis=0) * log.tau.std(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)  # whether the noise makes the model one to use with care
        fit = armdyn.identify(arm, spoiled)
    assert all("load" not in terms for terms in fit.structure)


def test_loads_are_filled_in(two, make_log):
    rows = make_rows(armdyn.base_parameters(two), tracks_of([make_log(two)], FILTERS), FILTERS)
    (before,) = rows
    (after,) = rows.with_rigid_arm(two)
    at = rows.base.count + LOAD
    assert not before.Y[:, :, at].any()
    assert np.abs(after.Y[:, :, at]).max() > 1.0
    np.testing.assert_array_equal(np.delete(after.Y, at, axis=2), np.delete(before.Y, at, axis=2))


@pytest.mark.parametrize("rotors", [False, True])
def test_the_filtered_form_has_the_same_rows(rotors, make_log):
    arm = armdyn.arms.puma3()
    log = make_log(arm, noise=0.0, encoder=0.0, rate=500.0)
    base = armdyn.base_parameters(arm)
    forms = [Filters(5.0, 25.0, "butterworth", form) for form in ("torque", "filtered")]
    plain, filtered = (next(iter(make_rows(base, tracks_of([log], form), form))) for form in forms)
    columns = slice(0, base.count) if not rotors else base.count + ROTOR
    a, b = plain.Y[..., columns], filtered.Y[..., columns]
    # The taps are cut off at 1 %, and differences at 500 Hz are not derivatives.
    assert np.linalg.norm(a - b) < 5e-3 * np.linalg.norm(a)


def test_identify_in_filtered_form(two, make_log):
    log = make_log(two, noise=0.02)
    fit, plain = armdyn.identify(two, log, form="filtered"), armdyn.identify(two, log)
    assert np.all(np.abs(fit.base.theta - plain.base.theta) < 3 * plain.base.std)
    with raises(armdyn.ArmdynError, expected="form one of torque", got="'filtered'"):
        armdyn.identify(two, log, terms="gravity", form="filtered")


@pytest.mark.parametrize(("width", "step", "count"), [(41, 5, 23), (41, 5, 1), (7, 9, 12), (11, 1, 50), (20, 20, 3)])
def test_decimation_is_a_convolution(width, step, count):
    rng = np.random.default_rng(width)
    taps, x = rng.normal(size=width), rng.normal(size=((count - 1) * step + width + 3, 4))
    found = decimator(taps, step, count) @ x
    wanted = np.array([taps @ x[i * step : i * step + width] for i in range(count)])
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_decimation_takes_columns_that_are_not_contiguous():
    x = np.random.default_rng(0).normal(size=(60, 3, 8))
    low = decimator(np.ones(10) / 10, 5, 11)
    np.testing.assert_allclose(low @ x[:, 1, ::2], low @ x[:, 1, ::2].copy(), atol=1e-14)


def test_slope_is_the_derivative_of_what_the_taps_leave():
    dt = 0.005
    t, taps = np.arange(0, 10, dt), impulse(dt, 5.0)
    x = np.stack([np.ones_like(t), 3 * t, np.sin(2 * np.pi * t)], axis=1)
    count = (len(t) - len(taps)) // 7 + 1
    found = decimator(slope(taps, dt), 7, count) @ x
    np.testing.assert_allclose(found[:, 0], 0, atol=1e-10)
    np.testing.assert_allclose(found[:, 1], 3, atol=1e-9)
    middle = t[len(taps) // 2 :: 7][:count]
    # What both lose at the ends of the taps: 1 %.
    np.testing.assert_allclose(found[:, 2], 2 * np.pi * np.cos(2 * np.pi * middle), atol=0.02 * 2 * np.pi)


@pytest.mark.parametrize(("load", "rotors"), [(0.0, True), (0.05, False)])
def test_rows_of_energy_are_the_balance_of_power(load, rotors, make_log):
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
    (part,) = rows.with_loads([whole_torque(arm, track, None) for track in rows.tracks])
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
@pytest.mark.by_day(1)
def test_energy_gives_the_same_parameters_within_stated_deviations(name, make_log, request):
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
    with raises(armdyn.ArmdynError, expected="form one of torque", got="'energy'"):
        armdyn.identify(two, make_log(two), terms="gravity", form="energy")
