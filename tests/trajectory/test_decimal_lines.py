"""Tables of numbers as text say what the numbers are, whatever these are."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.trajectory.decimal_lines import decimal_lines


def test_numbers_are_as_short_as_their_decimals():
    row = [0.0, -0.0, 1.0, -1.0, 0.001, -1e-13, 9998.5, -12.5, 1e-12, 0.1 + 0.2, 100.0, 0.0001]
    assert decimal_lines(np.array([row])) == "0,0,1,-1,0.001,0,9998.5,-12.5,0.000000000001,0.3,100,0.0001\n"


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 30.0, 9000.0])
def test_twelve_decimals_are_kept(size):
    rows = size * np.random.default_rng(0).uniform(-1, 1, (700, 19))
    read = np.array([[float(x) for x in line.split(",")] for line in decimal_lines(rows).splitlines()])
    np.testing.assert_allclose(read, rows, rtol=5e-16, atol=0.6e-12)


@pytest.mark.parametrize("odd", [1e4, -3e12, np.nan, np.inf])
def test_other_numbers_have_twelve_digits(odd):
    assert decimal_lines(np.array([[odd, 1.0 / 3.0]])) == f"{odd:.12g},0.333333333333\n"
