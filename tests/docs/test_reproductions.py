"""The examples of docs/reproductions.md are true."""

import doctest
from pathlib import Path


def test_the_page_is_true():
    page = Path(__file__).parents[2] / "docs" / "reproductions.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted >= 5
    assert found.failed == 0
