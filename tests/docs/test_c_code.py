"""What docs/c-code.md shows is what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest


def test_examples_of_the_page() -> None:
    pytest.importorskip("sympy")
    page = Path(__file__).parents[2] / "docs" / "c-code.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0
