"""The numbers in docs/dynamics.md are what the code prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np

import armdyn

PAGE = Path(__file__).parents[2] / "docs" / "dynamics.md"


def test_the_page_tells_the_truth():
    with np.printoptions():  # the page sets its own
        result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 10
    assert result.failed == 0


def test_the_formulas_on_the_page_are_those_of_the_arms():
    text = PAGE.read_text()
    for function, arm in (
        (armdyn.mass_matrix, armdyn.arms.planar2()),
        (armdyn.coriolis_matrix, armdyn.arms.planar2()),
        (armdyn.gravity_torque, armdyn.arms.planar2()),
        (armdyn.mass_matrix, armdyn.arms.puma3()),
        (armdyn.coriolis_matrix, armdyn.arms.puma3()),
        (armdyn.gravity_torque, armdyn.arms.puma3()),
    ):
        inside = armdyn.latex(function, arm).split(r"\begin{bmatrix}")[1].split(r"\end{bmatrix}")[0]
        for row in inside.split(r"\\"):
            for entry in row.split("&"):
                assert entry.strip() in text, entry
