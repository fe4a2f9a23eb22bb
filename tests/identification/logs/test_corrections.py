"""Faults that are known are taken from logs where that is asked for."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.identification.logs.corrections import with_zeros, without_delay


def test_zeros(puma, make_log):
    log = make_log(puma, duration=2.0)
    name = puma.joint_names[2]
    (mended,) = with_zeros(puma, [dataclasses.replace(log, q=log.q + 0.2 * np.eye(6)[2])], {name: 0.2})
    assert mended.q == pytest.approx(log.q, abs=1e-12)
    with raises(armdyn.ArmdynError, cause=re.compile("no joint 'elbow'"), names=("elbow",)):
        with_zeros(puma, [log], {"elbow": 0.2})
    with raises(armdyn.ArmdynError, expected="a number for joint 'joint3'", got="nan"):
        with_zeros(puma, [log], {name: np.nan})


def test_delays(puma, make_log):
    log = make_log(puma, duration=2.0)
    late = dataclasses.replace(log, tau=np.stack([np.interp(log.t - 0.1, log.t, x) for x in log.tau.T], axis=1))
    (mended,) = without_delay([late], 0.1)
    assert mended.tau[40:-40] == pytest.approx(log.tau[40:-40], abs=1e-9)
    with raises(armdyn.ArmdynError, expected="less than 1 s", got="3.0"):
        without_delay([log], 3.0)


def test_identify_mends_what_it_is_told(puma, make_log):
    """With its faults named, a log gives the model that it would give without, and nothing is found in it."""
    log = make_log(puma)
    tau = np.stack([np.interp(log.t - 0.1, log.t, x) for x in log.tau.T], axis=1)
    name = puma.joint_names[1]
    spoiled = dataclasses.replace(log, tau=tau, q=log.q + 0.3 * np.eye(6)[1])
    clean = armdyn.identify(puma, log)
    fit = armdyn.identify(puma, spoiled, delay=0.1, zero={name: 0.3})
    assert [f for check in fit.checks for f in check.findings if f.level != "note"] == []
    assert fit.delay == pytest.approx(0.1, abs=0.011)
    assert fit.rel_error < 1.2 * clean.rel_error
    other = make_log(puma, motion=3, seed=3)
    late = np.stack([np.interp(other.t - 0.1, other.t, x) for x in other.tau.T], axis=1)
    # Predictions are as late as the torques were: what is left is noise, of 0.3 N m.
    errors = [np.sqrt(np.mean((fit.predict(other).tau - x)[100:-100] ** 2)) for x in (late, other.tau)]
    assert errors[0] < 0.35 < 2 * 0.35 < errors[1]
