"""Rows of equations: pieces of long logs, and loads that are not measured."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit import parts
from armdyn.identification.fit import rows as module
from armdyn.identification.fit.rows import Filters, make_rows
from armdyn.identification.fit.terms import LOAD, ROTOR


def test_a_log_in_pieces_gives_the_same_model(two, make_log, monkeypatch):
    log = make_log(two, duration=60.0, noise=0.02)
    whole = armdyn.identify(two, log, band=5.0)
    monkeypatch.setattr(module, "PIECE", 3000)
    monkeypatch.setattr(parts, "HELD", 0)
    pieces = armdyn.identify(two, log, band=5.0)
    monkeypatch.setattr(parts, "STORED", 0)  # nothing is kept: every pass makes the rows anew
    anew = armdyn.identify(two, log, band=5.0)
    np.testing.assert_allclose(anew.base.theta, pieces.base.theta, rtol=1e-9)
    assert pieces.structure == whole.structure
    # Each of three cuts loses 0.8 s of 60 s to the low-pass.
    assert np.all(np.abs(pieces.base.theta - whole.base.theta) < whole.base.std)
    np.testing.assert_allclose(pieces.base.std, whole.base.std, rtol=0.3)
    assert pieces.rel_error < 2 * whole.rel_error < 1e-3


def test_parts_in_a_file_are_those_that_were_made(monkeypatch):
    monkeypatch.setattr(parts, "HELD", 0)
    rng, store = np.random.default_rng(0), parts.Parts(1000)
    made = [parts.Part(rng.normal(size=(2, N, 3)), rng.normal(size=(2, N))) for N in (5, 4)]
    for k, part in enumerate(made):
        store.put(k, part)
    for k, part in enumerate(made):
        found = store.get(k)
        np.testing.assert_array_equal(found.Y, part.Y)
        np.testing.assert_array_equal(found.tau, part.tau)
    assert store.get(2) is None


def test_where_no_file_can_be_written_rows_are_made_anew(monkeypatch):
    def full(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(parts, "HELD", 0)
    monkeypatch.setattr(parts.tempfile, "TemporaryFile", full)
    store = parts.Parts(1000)
    store.put(0, parts.Part(np.zeros((2, 5, 3)), np.zeros((2, 5))))
    assert store.get(0) is None


def test_rows_are_the_equations(two, make_log):
    log = make_log(two, noise=0.0, encoder=0.0)
    base = armdyn.base_parameters(two)
    rows = make_rows(base, [log], Filters(5.0, 20.0, "butterworth"))
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
    rows = make_rows(armdyn.base_parameters(two), [make_log(two)], Filters(5.0, 20.0, "butterworth"))
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
    plain, filtered = (
        next(iter(make_rows(base, [log], Filters(5.0, 25.0, "butterworth", form)))) for form in ("torque", "filtered")
    )
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
