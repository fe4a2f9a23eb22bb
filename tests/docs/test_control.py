"""What docs/control.md shows is what the code prints."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_examples_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "control.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0


@pytest.mark.slow  # as the benchmark of the same name does in `.ci/run`
def test_tables_are_in_step() -> None:
    """Some rows of every table, computed anew by the script that writes them."""
    place = importlib.util.spec_from_file_location("control_tables", ROOT / "benchmarks" / "control_tables.py")
    assert place is not None
    assert place.loader is not None
    tables = importlib.util.module_from_spec(place)
    place.loader.exec_module(tables)
    assert tables.in_step() == []
