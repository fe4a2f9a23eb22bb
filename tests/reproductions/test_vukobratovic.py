"""The functional movement of Vukobratovic and Potkonjak."""

from __future__ import annotations

from reproductions.cases import N_STEPS


def test_all_that_the_data_allow_holds(quick):
    case = quick("vukobratovic-1979")
    assert case.good, [row for row in case.rows if row.verdict == "FAILS"]
    assert [row.verdict for row in case.rows].count("holds") == 5
    assert case["curves of figures 7 and 8"].verdict == "differs"


def test_it_names_as_many_steps_as_the_time_left_counts(quick, steps):
    quick("vukobratovic-1979")
    assert len(steps["vukobratovic-1979"]) == N_STEPS["vukobratovic-1979"][1]
