"""The page of a comparison of controllers."""

from __future__ import annotations

import re

import pytest

import armdyn
from armdyn.simulation.compare import Comparison, Row, Sway, compare


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    arm = armdyn.arms.planar2()
    laws = {"weak <PD>": armdyn.PD(arm, [40, 20], [8, 4]), "strong PD": armdyn.PD(arm, [400, 200], [40, 20])}
    return compare(arm, laws, Sway.within(arm, 0.5), rate=500.0, about="two & two")


def test_the_page_holds_the_table_and_the_figure(comparison, tmp_path):
    text = armdyn.report(comparison, tmp_path / "compare.html").read_text()
    assert "two &amp; two" in text
    assert "weak &lt;PD&gt;" in text
    assert f"{comparison['strong PD'].final_rms:.2e}" in text
    assert "strong PD ends nearest to the reference" in text
    assert text.count("<svg") == 1
    assert re.search(r"(src|href|url)\W{1,2}http", text) is None  # nothing is fetched from elsewhere


def test_controllers_that_diverged_have_dashes(comparison, tmp_path):
    nan = float("nan")
    lost = Row("lost", nan, nan, nan, nan, nan, 0.1, "diverged at 0.2 s")
    text = armdyn.report(Comparison((lost,), {}, "one"), tmp_path / "compare.html").read_text()
    assert "diverged at 0.2 s" in text
    assert "nan" not in text
