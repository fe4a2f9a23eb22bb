"""The Eindhoven report's arm: its linearisation holds, and its regulator does not know the load."""

from __future__ import annotations

import pytest

import armdyn
from armdyn.simulation.compare import Sway
from reproductions.cases import N_STEPS
from reproductions.eindhoven_study import DURATION_S, PLAIN, failing_load, regulators


@pytest.fixture(scope="module")
def case(quick):
    return quick("eindhoven-1987")


def test_what_must_hold_holds(case):
    assert case.good, [row for row in case.rows if row.verdict == "FAILS"]
    assert [row.verdict for row in case.rows].count("holds") == 5


def test_nominal_torques_pay_and_following_gains_do_not(case):
    assert case["nominal torques and feedback track closely"].verdict == "supported"
    assert case["gains that follow the motion are needed"].verdict == "undecided"


def test_payloads_are_a_table_not_a_sentence(case):
    """Whether the regulator tracks closely depends on bandwidth, rate and payload, which the report does not give."""
    assert case["tracks closely over a wide range of payloads"].verdict == "undecided"
    (table,) = case.tables
    errors = {row[:2]: [float("inf") if cell == "strays" else float(cell) for cell in row[2:]] for row in table.rows}
    for loads in errors.values():
        assert loads == sorted(loads)  # heavier is worse
    for (bandwidth, rate), loads in errors.items():
        if bandwidth == "8":
            assert all(stiff < soft for stiff, soft in zip(loads, errors["1", rate], strict=True))
    assert errors["8", "200"][0] < 10 < errors["1", "60"][0]


def test_the_failing_load_is_found(case):
    arm = armdyn.arms.planar2()
    reference = Sway.within(arm, DURATION_S)
    law = regulators(arm, reference, 2.0, 60.0)[PLAIN]
    assert 3.4 < failing_load(arm, law, reference, 60.0, 10.0) < 3.8
    assert failing_load(arm, law, reference, 60.0, 0.1) == float("inf")


def test_it_names_as_many_steps_as_the_time_left_counts(quick, steps):
    quick("eindhoven-1987")
    assert len(steps["eindhoven-1987"]) == N_STEPS["eindhoven-1987"][1]
