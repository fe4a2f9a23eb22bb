"""The page of a data check."""

from __future__ import annotations

import re

import numpy as np
import pytest

import armdyn
from armdyn.identification.logs.log import Log


@pytest.fixture(scope="module")
def log():
    t = np.arange(0, 10, 0.01)
    t[500:] += 1.0
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    return Log(t, q, np.sin(q), name="<b>run</b>", notes=("a note",))


def test_page_is_complete_and_offline(log, tmp_path):
    text = armdyn.report(armdyn.check_log(armdyn.arms.planar2(), log), tmp_path / "check.html").read_text()
    assert not re.search(r'(src|href)="?https?:', re.sub(r'xmlns[:a-z]*="[^"]*"', "", text))
    assert "<b>run" not in text
    for part in ("1 gap.", "max acc. [rad/s²]", "a note", "joint1"):
        assert part in text


def test_rejected_logs_have_a_page_too(log, tmp_path):
    dead = Log(log.t, log.q, np.zeros_like(log.tau))
    text = armdyn.report(armdyn.check_log(armdyn.arms.planar2(), dead), tmp_path / "check.html").read_text()
    assert "cannot be used as it is" in text
    assert "sensor dead?" in text
