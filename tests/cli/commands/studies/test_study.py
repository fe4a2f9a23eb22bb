"""`armdyn study` from the command line."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

from armdyn.cli.app import app
from armdyn.errors import ArmdynError

STUDY = """
name = "tiny"
arm = "planar2"
[run]
rate = 200.0
duration = 0.2
[[controllers]]
design = "PD"
[[references]]
kind = "sway"
[samples]
method = "grid"
[parameters]
payload = { low = 0.0, high = 2.0, count = 20 }
friction = { values = [1.0, 2.0] }
[success]
max_error = 0.2
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(app, ["study", *arguments], catch_exceptions=False)


def test_a_study_from_file_to_report(file, tmp_path):
    done = run(file)
    assert done.exit_code == 0
    assert "tiny: 40 runs of 0.2 s at 200 Hz" in done.stdout
    names = {path.name for path in (tmp_path / "tiny").iterdir()}
    assert names >= {"manifest.jsonl", "parts", "report.html", "success.png", "distributions.png"}
    with raises(ArmdynError, remedy="continue with resume=True, or choose another folder"):
        run(file)
    again = json.loads(run(file, "--resume", "--json").stdout)
    assert again["cases"] == 40
    worst = again["worst"]["max_error"][0]
    row = json.loads(run(file, "--case", str(worst["case"]), "--json").stdout)
    assert row["max_error"] == worst["value"]
    assert "Tracking error" in (tmp_path / "tiny" / f"case-{worst['case']}.html").read_text()


def test_a_case_is_told_in_words(file):
    shown = dict(re.split("  +", line) for line in run(file, "--case", "0").stdout.splitlines()[:-1])
    assert shown["diverged"] == "never"
    assert "nan" not in shown.values()
    assert "inf" not in shown.values()


def test_results_elsewhere(file, tmp_path):
    run(file, "--out", str(tmp_path / "a" / "b"))
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(tmp_path / "a" / "b" / "parts")
    np.testing.assert_array_equal(table["case"].to_numpy(), np.arange(40))


def test_wrong_use(file):
    with raises(ArmdynError, where="study 'tiny'", cause="there is no case 40"):
        run(file, "--case", "40")
    with raises(ArmdynError, expected="workers >= 0", got="-1"):
        run(file, "--workers", "-1")
    with raises(ArmdynError, path="absent.toml", cause="no such file"):
        run("absent.toml")
