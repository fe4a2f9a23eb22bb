"""The numbers in docs/regressors.md are what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np


def test_examples_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "regressors.md"
    with np.printoptions():
        result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
