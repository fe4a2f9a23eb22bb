"""What docs/kinematics.md shows is what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np


def test_the_page_tells_the_truth():
    page = Path(__file__).parents[2] / "docs" / "kinematics.md"
    with np.printoptions():  # the page sets its own
        result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 15
    assert result.failed == 0
