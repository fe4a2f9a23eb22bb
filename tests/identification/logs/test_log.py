"""Logs made by hand: lists and whole numbers will do, wrong shapes are told."""

from __future__ import annotations

import numpy as np
import pytest

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
    ("arrays", "message"),
    [
        ((T, Q[:, 0], Q[:, 0]), r"expected t \(N,\) and q \(N, n\), got shapes \(100,\) and \(100,\)"),
        ((T[:, None], Q, Q), r"got shapes \(100, 1\) and \(100, 2\)"),
        ((T, Q, Q[:, :1]), r"expected tau of shape \(100, 2\), got \(100, 1\)"),
        ((T, Q, np.where(Q > 0.9, np.nan, Q)), "tau has values that are not finite"),
        ((T[::-1], Q, Q), "times that rise"),
        ((T[:9], Q[:9], Q[:9]), "at least 50 samples, got 9"),
    ],
)
def test_wrong_arrays(arrays, message):
    with pytest.raises(ReadError, match=message):
        armdyn.Log(*arrays)
