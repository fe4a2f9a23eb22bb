"""The numbers in docs/linearization.md are what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np


def test_the_page_tells_the_truth():
    page = Path(__file__).parents[2] / "docs" / "linearization.md"
    with np.printoptions():  # the page sets its own
        result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0
