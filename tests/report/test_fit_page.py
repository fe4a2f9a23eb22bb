"""The report of a fit: self-contained, complete, and safe with any name."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.log import Log


@pytest.fixture(scope="module")
def fit():
    arm = dataclasses.replace(armdyn.arms.planar2(), name="<script>alert(1)</script>")
    t = np.arange(0, 15, 0.01)
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    qd = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=1)
    qdd = np.stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t)], axis=1)
    noise = 0.1 * np.random.default_rng(0).normal(size=q.shape)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd) + 0.3 * np.sign(qd) + 0.2 * qd + noise
    log = Log(t, q, tau)
    return armdyn.identify(arm, log.part(0, 10), validation=log.part(10, 15))


def test_page_is_complete_and_offline(fit, tmp_path):
    text = armdyn.report(fit, tmp_path / "report.html").read_text()
    assert not re.search(r'(src|href)="?https?:', re.sub(r'xmlns[:a-z]*="[^"]*"', "", text))
    for part in ("Measured and model torque", "validation log", "What the data alone say", "What to do next", "Fc2"):
        assert part in text
    assert "<script>" not in text
    assert text.count("<svg") > 4
    assert len(text) < 2_000_000


def test_function_and_package_share_a_name(fit, tmp_path):
    import importlib

    module = importlib.import_module("armdyn.report")
    assert module(fit, tmp_path / "a.html").exists()


def test_unknown_results(tmp_path):
    with pytest.raises(ArmdynError, match="no page for a dict"):
        armdyn.report({}, tmp_path / "a.html")
