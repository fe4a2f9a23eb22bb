"""The page of a comparison of controllers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.figures import with_figures

import armdyn
from armdyn.report.comparison import colours, errors_figure
from armdyn.simulation.compare import Comparison, ComparisonRow, Sway, compare


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    arm = armdyn.arms.planar2()
    laws = {"weak <PD>": armdyn.PD(arm, [40, 20], [8, 4]), "strong PD": armdyn.PD(arm, [400, 200], [40, 20])}
    return compare(arm, laws, Sway.within(arm, 0.5), rate=500.0, about="two & two")


def test_the_page_holds_the_tables_and_the_figure(comparison, tmp_path):
    text = armdyn.report(comparison, tmp_path / "compare.html").read_text()
    assert "two &amp; two" in text
    assert "weak &lt;PD&gt;" in text
    strong = comparison["strong PD"]
    for number in (1e3 * strong.tip, 1e3 * strong.final_rms, 1e3 * strong.largest, strong.torque):
        assert f">{number:.3g}<" in text  # mm, mrad, mrad, N m
    assert f"{strong.peak:.3g} (joint {strong.peak_joint + 1})" in text
    assert f"Strong PD has the smallest error at the end, its tip {1e3 * strong.tip:.3g} mm off" in text
    for number in (1e3 * x for x in strong.joints):  # errors per joint, all in plain digits
        assert (f">{number:,.0f}<" if number >= 100 else f">{number:.2g}<") in text
    assert not re.search(r">[\d.]+e[+-]\d+<", text)
    assert text.count("<svg") == 1
    assert re.search(r"(src|href|url)\W{1,2}http", text) is None  # nothing is fetched from elsewhere


def test_the_best_comes_first_and_every_curve_is_named(comparison, tmp_path):
    text = armdyn.report(comparison, tmp_path / "compare.html").read_text()
    assert text.index(">strong PD<") < text.index(">weak &lt;PD&gt;<")
    figure = errors_figure(comparison, ["strong PD", "weak <PD>"])
    (legend,), (axes,) = figure.legends, figure.axes
    assert [entry.get_text() for entry in legend.get_texts()] == ["strong PD", "weak <PD>"]
    assert [line.get_color() for line in axes.lines] == [colours(comparison)[n] for n in ("strong PD", "weak <PD>")]
    assert all(f"background:{colour}" in text for colour in colours(comparison).values())  # the same in the table


def test_numbers_of_a_row_are_those_of_the_run(comparison):
    for row in comparison.rows:
        result = comparison.results[row.name]
        end = result.t >= 2 / 3 * result.t[-1]
        tips = [armdyn.forward_kinematics(result.arm, q)[:, :3, 3] for q in (result.q[end], result.q_ref[end])]
        assert row.tip == pytest.approx(np.sqrt(((tips[0] - tips[1]) ** 2).sum(-1).mean()))
        assert np.allclose(row.joints, np.sqrt((result.error[end] ** 2).mean(0)))
        assert row.peak == np.abs(result.tau[:, row.peak_joint]).max() == np.abs(result.tau).max()


def test_controllers_that_diverged_have_dashes(comparison, tmp_path):
    lost = ComparisonRow("lost", seconds=0.1, note="diverged at 0.2 s")
    text = armdyn.report(Comparison((lost,), {}, "one"), tmp_path / "compare.html").read_text()
    assert "diverged at 0.2 s" in text
    assert "1 law diverged: lost." in text
    assert "nan" not in text


def test_a_law_that_diverged_or_strains_says_which_joint_and_why(tmp_path):
    arm = armdyn.arms.planar2()
    laws = {
        "wild": armdyn.PD(arm, 1.0, [20.0, 5e4]),  # the second joint's damping is far too fast for 500 Hz
        "tense": armdyn.PD(arm, 5.0, [40.0, 0.0]),
        "calm": armdyn.ComputedTorque.from_bandwidth(arm, 3.0),
    }
    found = compare(arm, laws, Sway.within(arm, 1.0), rate=500.0)
    assert "joint 2 'joint2' left the reference first" in found["wild"].why
    assert "too fast for its rate" in found["wild"].why
    assert found["calm"].why == ""
    text = armdyn.report(found, tmp_path / "compare.html").read_text()
    assert "Failures and their causes" in text
    assert "wild: joint 2 &#x27;joint2&#x27; left the reference first" in text
    assert found["wild"].why in str(found)


def test_a_good_tip_over_joints_that_are_far_off_is_said(comparison, tmp_path):
    weak, strong = with_figures(comparison["weak <PD>"], largest=0.3), comparison["strong PD"]
    turned = with_figures(strong, final_rms=4 * weak.final_rms)
    rows = Comparison((weak, turned), comparison.results, "")
    text = armdyn.report(rows, tmp_path / "compare.html").read_text()
    far, near = (f"{1e3 * row.final_rms:.3g} mrad" for row in (turned, weak))
    assert f"But its joints are {far} off, those of weak &lt;PD&gt; {near}:" in text
    assert "But its joints" not in armdyn.report(comparison, tmp_path / "compare.html").read_text()
