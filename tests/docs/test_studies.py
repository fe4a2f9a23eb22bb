"""What docs/studies.md shows is what the code prints."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from armdyn.study.design import METRICS as DESIGN_METRICS
from armdyn.study.rollouts import METRICS
from armdyn.study.spec import read_study

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies.md"


def test_examples_of_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0


def test_the_files_on_the_page_are_understood(tmp_path) -> None:
    rollouts, design, *_ = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.S)
    for text in (rollouts, design):
        (tmp_path / "page.toml").write_text(text)
        assert read_study(tmp_path / "page.toml").count > 100


def test_the_page_names_all_metrics() -> None:
    text = PAGE.read_text()
    assert [name for name in (*METRICS, *DESIGN_METRICS) if f"`{name}`" not in text] == []


def test_the_example_s_file() -> None:
    assert read_study(ROOT / "examples" / "60_study.toml").count == 512
