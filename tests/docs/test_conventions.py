"""What docs/conventions.md shows is what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "conventions.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 6
    assert result.failed == 0
