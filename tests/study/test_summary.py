"""The summary and its page say what the columns say."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import armdyn
from armdyn.study.run import run_study
from armdyn.study.summary import stated_quantiles


@pytest.fixture
def small(study):
    return study()


@pytest.fixture
def columns(small, tmp_path):
    return run_study(small, tmp_path / "out")


def test_success_quantiles_and_worst_cases(small, columns):
    data = small.summary(columns).data
    pd = columns["controller"] == "PD"
    assert data["success"]["PD"] == columns["success"][pd].mean()
    row = next(r for r in data["quantiles"] if r["group"] == "PD" and r["metric"] == "max_error")
    assert row["worst"] == columns["max_error"][pd].max()
    # An order statistic: at least half of the cases are as good.
    assert (columns["max_error"][pd] <= row["50 %"]).mean() == pytest.approx(0.5, abs=0.01)
    worst = data["worst"]["max_error"]
    assert worst[0]["case"] == int(np.argmax(columns["max_error"]))
    assert [item["value"] for item in worst] == sorted((item["value"] for item in worst), reverse=True)


def test_payload_matters_for_a_pd_law(small, columns):
    factors = [item["factor"] for item in small.summary(columns).data["influence"]["max_torque"]]
    assert set(factors) == {"controller", "payload", "inertia"}


def test_the_text_fits_and_names_the_command(small, columns):
    text = str(small.summary(columns))
    assert text.startswith("small: 400 runs of 0.25 s at 200 Hz on ")
    assert f"armdyn study {small.head.file} --case {int(np.argmax(columns['max_error']))}" in text


def test_the_page_is_self_contained_and_escaped(small, columns, tmp_path):
    path = armdyn.report(small.summary(columns), tmp_path / "report.html")
    page = path.read_text()
    assert page.count("<svg") == 2
    assert "&lt;= 0.05" in page
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]+"', page) == []  # nothing to fetch


def test_data_are_json(small, columns):
    json.dumps(small.summary(columns).data)


def test_a_study_without_parameters(study, tmp_path):
    text = """
arm = "planar2"
[run]
duration = 0.1
[[controllers]]
design = "PD"
[[references]]
kind = "sway"
"""
    alone = study(text=text)
    columns = run_study(alone, tmp_path / "out")
    assert len(columns["case"]) == 1
    summary = alone.summary(columns)
    assert "influence" in summary.data
    assert list(summary.figures) == ["distributions"]
    armdyn.report(summary, tmp_path / "report.html")


def test_quantiles_are_stated_where_cases_tell_them(small, columns):
    assert stated_quantiles(40) == (0.5, 1.0)
    assert stated_quantiles(100) == (0.05, 0.5, 0.95, 1.0)
    assert stated_quantiles(500) == (0.05, 0.5, 0.95, 0.99, 1.0)
    cases = min(np.unique(columns["controller"], return_counts=True)[1])
    row = small.summary(columns).data["quantiles"][0]
    assert ("99 %" in row) == (cases >= 500)
    assert ("99 %" in str(small.summary(columns))) == (cases >= 500)
