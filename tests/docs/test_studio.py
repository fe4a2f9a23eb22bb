"""What docs/studio.md shows is what the code does, and its picture is there."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "studio.md"


def test_the_page_tells_the_truth():
    pytest.importorskip("viser", reason="the studio needs viser")
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 5
    assert result.failed == 0
