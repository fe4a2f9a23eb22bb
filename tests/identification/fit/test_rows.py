"""Rows of equations: pieces of long logs, and loads that are not measured."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit import rows as module
from armdyn.identification.fit.rows import make_rows
from armdyn.identification.fit.terms import LOAD, ROTOR
from armdyn.identification.motion import track
from armdyn.identification.motion.track import Filters, tracks_of

FILTERS = Filters(5.0, 20.0, "butterworth")


def test_a_log_in_pieces_gives_the_same_model(two, make_log, monkeypatch):
    log = make_log(two, duration=60.0, noise=0.02)
    whole = armdyn.identify(two, log, band=5.0)
    monkeypatch.setattr(track, "PIECE", 3000)
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
    assert fewer.times()[1] - fewer.times()[0] == pytest.approx(step * (rows.times()[1] - rows.times()[0]))


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
    fit = armdyn.identify(arm, spoiled)
    assert all("load" not in terms for terms in fit.structure)


def test_loads_are_filled_in(two, make_log):
    rows = make_rows(armdyn.base_parameters(two), tracks_of([make_log(two)], FILTERS), FILTERS)
    (before,) = rows
    (after,) = rows.loaded(two)
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
    with pytest.raises(armdyn.ArmdynError, match="form one of torque, got 'filtered'"):
        armdyn.identify(two, log, terms="gravity", form="filtered")
