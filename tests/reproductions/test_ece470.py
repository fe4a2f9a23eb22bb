"""The study guide's theorems hold, but for the one that its erratum names."""

from __future__ import annotations

from reproductions.cases import N_STEPS


def test_theorems_hold_and_the_erratum_shows(quick):
    case = quick("ece470")
    assert case.good, [row for row in case.rows if row.verdict == "FAILS"]
    assert case["3.3, the same with a full K"].verdict == "not supported"
    assert {row.verdict for row in case.rows} == {"holds", "not supported"}


def test_it_names_as_many_steps_as_the_time_left_counts(quick, steps):
    quick("ece470")
    assert len(steps["ece470"]) == N_STEPS["ece470"][1]
