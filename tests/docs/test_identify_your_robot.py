"""The page docs/identify-your-robot.md runs as it stands, on a log it makes itself."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_page(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "identify-your-robot.md"
    result = doctest.testfile(str(page), module_relative=False, globs={"folder": tmp_path})
    assert result.attempted > 20
    assert result.failed == 0
