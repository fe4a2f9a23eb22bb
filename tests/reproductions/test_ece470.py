"""The study guide's theorems hold, but for the one that its erratum names."""

from __future__ import annotations


def test_theorems_hold_and_the_erratum_shows(quick):
    case = quick("ece470")
    assert case.good, [row for row in case.rows if row.verdict == "FAILS"]
    assert case["3.3, the same with a full K"].verdict == "not supported"
    assert {row.verdict for row in case.rows} == {"holds", "not supported"}
