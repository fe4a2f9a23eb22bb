"""Logs that repeat a motion: no repetition of it is called unseen."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.base.parameters import base_parameters
from armdyn.errors import ArmdynWarning
from armdyn.identification.fit.equations import Equations, _phase_blocks
from armdyn.identification.fit.rows import Rows, make_rows
from armdyn.identification.motion.track import BAND_HZ, CUTOFF_HZ, Filters, tracks_of

SECONDS, PERIOD = 24.0, 7.3


def log_of(w: np.ndarray, gap: bool = False) -> armdyn.Log:
    """A motion of the planar arm by sines at w (k,) [rad/s], with or without three seconds that are missing."""
    arm, t = armdyn.arms.planar2(), np.arange(0, SECONDS, 0.005)
    angle = np.multiply.outer(t, w)[..., None] + np.arange(arm.n) + np.arange(len(w))[:, None]
    q, qd, qdd = (x.sum(1) / 2 for x in (np.sin(angle), w[:, None] * np.cos(angle), -(w[:, None] ** 2) * np.sin(angle)))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    known = ~((t > 9) & (t < 12)) if gap else np.ones(len(t), bool)
    noise = np.random.default_rng(0).normal(size=(2, len(t), arm.n))
    return armdyn.Log(t[known], (q + 1e-4 * noise[0])[known], (tau + 0.01 * tau.std() * noise[1])[known])


def rows_of(log: armdyn.Log) -> Rows:
    filters = Filters(BAND_HZ, CUTOFF_HZ, "butterworth")
    return make_rows(base_parameters(armdyn.arms.planar2()), tracks_of([log], filters), filters)


@pytest.mark.parametrize("gap", [False, True])
def test_all_repetitions_are_held_out_together(gap):
    rows = rows_of(log_of(2 * np.pi / PERIOD * np.arange(1, 4), gap))
    blocks = _phase_blocks(rows)
    assert blocks is not None
    block, t = blocks[0], rows.times()
    again = np.flatnonzero(t > t[0] + PERIOD)
    before = np.abs(t[:, None] - (t[again] - PERIOD)).argmin(axis=0)
    close = np.abs(t[before] - (t[again] - PERIOD)) < rows.spacing
    # All but rows at the edges of a block: periods are known to 50 ms, rows are as far apart.
    assert (block[again] == block[before])[close].mean() > 0.9
    assert len(np.unique(block)) == len(blocks[1]) >= 4
    in_time = Equations.of(rows)
    np.testing.assert_allclose(in_time.by_phase(rows).grams.sum(axis=0), in_time.grams.sum(axis=0), rtol=1e-9)


def test_motion_that_does_not_repeat_is_held_out_by_time():
    rows = rows_of(log_of(np.array([0.7, 1.1, 1.3]) * np.sqrt([2, 3, 5])))
    equations = Equations.of(rows)
    assert equations.by_phase(rows) is equations


def test_the_error_of_unseen_phases_is_stated():
    """A torque that depends on position as no model has it shows on phases that were not fitted to."""
    log = log_of(2 * np.pi / PERIOD * np.arange(1, 4))
    bumps = 0.3 * log.tau.std() * np.sin(7 * log.q)
    with pytest.warns(ArmdynWarning, match="expected torque error on a new motion"):
        fit = armdyn.identify(armdyn.arms.planar2(), armdyn.Log(log.t, log.q, log.tau + bumps))
    assert fit.held_out > 1.02 * fit.rel_error
