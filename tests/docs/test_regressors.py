"""The numbers in docs/regressors.md are what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

import armdyn

PAGE = Path(__file__).parents[2] / "docs" / "regressors.md"


def test_examples_of_the_page():
    with np.printoptions():
        result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0


@pytest.mark.parametrize("name", ["lu_meng2", "puma3"])
def test_the_columns_on_the_page_are_those_of_the_arms(name):
    text = PAGE.read_text()
    inside = armdyn.latex(armdyn.regressor, getattr(armdyn.arms, name)()).split("bmatrix}")[1].removesuffix(r"\end{")
    rows = [[entry.strip() for entry in row.split("&")] for row in inside.split(r"\\")]
    for column in zip(*rows, strict=True):
        if set(column) != {"0"}:
            assert r"\begin{bmatrix} " + r" \\ ".join(column) + r" \end{bmatrix}" in text
