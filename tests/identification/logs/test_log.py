"""Logs made by hand: lists and whole numbers will do, wrong shapes are told."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError

T = np.arange(100) / 50
Q = np.stack([np.sin(T), np.cos(T)], axis=1)


def test_lists_and_whole_numbers():
    log = armdyn.Log(T.tolist(), Q.tolist(), np.ones((100, 2), int))
    assert log.n == 2
    assert log.tau.dtype == float
    (stretch,) = log.stretches
    np.testing.assert_allclose(stretch.q, Q)


@pytest.mark.parametrize(
    ("arrays", "parts"),
    [
        ((T, Q[:, 0], Q[:, 0]), {"expected": "t (N,) and q (N, n)", "got": "shapes (100,) and (100,)"}),
        ((T[:, None], Q, Q), {"got": "shapes (100, 1) and (100, 2)"}),
        ((T, Q, Q[:, :1]), {"expected": "tau of shape (100, 2)", "got": "(100, 1)"}),
        ((T, Q, np.where(Q > 0.9, np.nan, Q)), {"cause": "tau has values that are not finite numbers"}),
        ((T[::-1], Q, Q), {"expected": "times that rise from sample to sample"}),
        ((T[:9], Q[:9], Q[:9]), {"expected": "at least 50 samples", "got": "9"}),
    ],
)
def test_wrong_arrays(arrays, parts):
    with raises(ReadError, **parts):
        armdyn.Log(*arrays)


def test_readings_sent_again_are_told_from_an_arm_at_rest():
    """Over a repeated reading the joints move on; an arm at rest stays, however short the rest."""
    t = np.arange(600) / 100.0
    q = np.stack([np.sin(t), np.cos(1.3 * t)], axis=1)
    moved = q.copy()
    rng = np.random.default_rng(0)
    again = np.r_[False, rng.random(len(t) - 2) < 0.4, False]
    k = np.maximum.accumulate(np.where(again, 0, np.arange(len(t))))
    log = armdyn.Log(t, moved[k], moved[k])
    fresh = log.fresh(slice(0, len(t)))
    assert (fresh.q == ~again).all()
    assert (fresh.tau == ~again).all()
    stretch = log.even(slice(0, len(t)))
    assert np.abs(stretch.q - q).max() < 1e-3  # held readings would be 0.01 off and more
    rest = np.where((t > 2) & (t < 2.5), 2.0, np.where(t >= 2.5, t - 0.5, t))[:, None]
    smooth = np.round(np.sin(np.pi * rest / 4) ** 2, 3)  # slow where it rests
    assert armdyn.Log(t, smooth, smooth).fresh(slice(0, len(t))).q[(t > 2.05) & (t < 2.45)].all()


def test_a_log_is_printed_with_what_was_assumed():
    log = armdyn.Log(T, Q, Q, name="one.csv", notes=("q: no unit named: taken as rad",))
    assert str(log) == "one.csv: 100 samples of 2 joints, 2.0 s at 50 Hz\n  q: no unit named: taken as rad"
