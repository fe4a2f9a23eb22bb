"""Results write their pages and figures."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.presentation import Reported


@pytest.fixture(scope="module")
def log() -> armdyn.Log:
    t = np.arange(200) / 100
    return armdyn.Log(t, np.sin(t[:, None] + [0, 1]), np.cos(t[:, None] + [0, 1]))


def test_figures_are_written_where_a_path_is_given(log, tmp_path):
    arm = armdyn.arms.planar2()
    motion = armdyn.linearize_motion(arm, log.t, log.q, 0 * log.q, 0 * log.q)
    task = armdyn.point_to_point([0, 0], [0.1, 0.1], duration=0.1)
    run = armdyn.simulate(arm, armdyn.PD(arm, [9.0, 9.0], [9.0, 9.0]), task)
    begins = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    for result, (ending, head) in zip((log, motion, run), begins.items(), strict=True):
        path = tmp_path / f"a{ending}"
        assert result.plot(path=path) is not None
        assert path.read_bytes().startswith(head)
    with raises(ArmdynError, where="plot", expected="a file that ends in .png, .svg, .pdf", got="'l.jpg'"):
        log.plot("l.jpg")
    with raises(ArmdynError, names=("r.png",), expected="one of q, qd, tau, error; plot(path='r.png') writes a file"):
        run.plot("r.png")


def test_a_page_is_no_pdf(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for write in (lambda: armdyn.report(log, "f.pdf"), lambda: Reported().report("f.pdf")):
        with raises(ArmdynError, expected="a file that ends in .html"):
            write()
    assert not list(tmp_path.iterdir())
