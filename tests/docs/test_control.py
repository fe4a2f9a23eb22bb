"""What docs/control.md shows is what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "control.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0
