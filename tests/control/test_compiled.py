"""Exported laws compiled here: the self-test is believed, and a step takes time."""

from __future__ import annotations

import re

import pytest
from tests.raising import raises

import armdyn
from armdyn.control.compiled import compiler, self_test, step_time
from armdyn.errors import ArmdynError

needs_compiler = pytest.mark.skipif(compiler() is None, reason="needs a C compiler")


@pytest.fixture
def code(planar, tmp_path):
    return armdyn.law_code(armdyn.GravityPD(planar, 40.0, 8.0), tmp_path, 1000.0, prefix="arm")


@needs_compiler
def test_a_step_is_tested_and_timed(code, planar):
    self_test(code)
    assert 0 < step_time(code, planar.n) < 1e-4  # some dozen operations


@needs_compiler
def test_wrong_code_is_told(code):
    text = code.update.source.read_text()
    assert "cos" in text
    code.update.source.write_text(text.replace("cos(", "sin("))
    with raises(ArmdynError, cause=re.compile(r"generated C: .* failed")):
        self_test(code)


def test_a_missing_compiler_is_told(code, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with raises(ArmdynError, cause="generated C: no compiler found"):
        self_test(code)
