"""Rows of equations: pieces of long logs, and loads that are not measured."""

from __future__ import annotations

import dataclasses

import numpy as np

import armdyn
from armdyn.identification import rows as module
from armdyn.identification.rows import Filters, make_rows
from armdyn.identification.terms import LOAD


def test_a_log_in_pieces_gives_the_same_model(two, make_log, monkeypatch):
    log = make_log(two, duration=60.0, noise=0.02)
    whole = armdyn.identify(two, log, band=5.0)
    monkeypatch.setattr(module, "PIECE", 3000)
    monkeypatch.setattr(module, "HELD", 0)  # nothing is kept: every pass makes the rows anew
    pieces = armdyn.identify(two, log, band=5.0)
    assert pieces.structure == whole.structure
    # Each of three cuts loses 0.8 s of 60 s to the low-pass.
    assert np.all(np.abs(pieces.base.theta - whole.base.theta) < whole.base.std)
    np.testing.assert_allclose(pieces.base.std, whole.base.std, rtol=0.3)
    assert pieces.rel_error < 2 * whole.rel_error < 1e-3


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
    (after,) = rows.loaded(two.theta)
    at = rows.base.count + LOAD
    assert not before.Y[:, :, at].any()
    assert np.abs(after.Y[:, :, at]).max() > 1.0
    np.testing.assert_array_equal(np.delete(after.Y, at, axis=2), np.delete(before.Y, at, axis=2))
