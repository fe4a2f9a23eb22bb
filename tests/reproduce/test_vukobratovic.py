"""The functional movement of Vukobratovic and Potkonjak."""

from __future__ import annotations

from armdyn.reproduce.cases import reproduce


def test_all_that_the_data_allow_holds():
    case = reproduce("vukobratovic-1979", quick=True)
    assert case.good, [row for row in case.rows if row.verdict == "FAILS"]
    assert [row.verdict for row in case.rows].count("holds") == 5
    assert case["curves of figures 7 and 8"].verdict == "differs"
