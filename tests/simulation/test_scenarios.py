"""Scenarios: what they change, and advice that follows from the figures."""

import dataclasses

import numpy as np
import pytest
from tests.figures import with_figures
from tests.raising import raises

import armdyn
from armdyn import ComputedTorque, Drive, GravityPD, Sway
from armdyn.errors import ArmdynError
from armdyn.simulation.scenarios import SCENARIOS, compare_scenarios


@pytest.fixture(scope="module")
def found():
    planar = armdyn.arms.planar2()
    drive = Drive(rotor_inertia=1e-4, gear_ratio=100.0)
    arm = planar.with_joints([dataclasses.replace(joint, drive=drive) for joint in planar.joints])
    laws = {
        "GravityPD": GravityPD(arm, [150.0, 60.0], [30.0, 8.0]),
        "ComputedTorque": ComputedTorque.from_bandwidth(arm, 3.0),
    }
    return compare_scenarios(arm, laws, Sway.within(arm, 1.5))


def test_every_scenario_runs_and_says_which_law_to_take(found):
    assert set(found.comparisons) == set(SCENARIOS)
    text = found.advice()
    assert "free (the arm equals its model): Best: ComputedTorque (" in text
    assert " rad)." in text
    assert any(line.startswith("overall: ") for line in text.splitlines())
    assert "their torque loops cross over at" in text.splitlines()[-1]
    best = min(found["payload"].rows, key=lambda row: row.final_rms).name
    assert f"payload (the model lacks a load at the tip): Best: {best} (" in text
    assert "| GravityPD |" in found.markdown()
    assert "ComputedTorque" in str(found)


def test_scenarios_are_what_they_say(found):
    free, weak, late = (found[name].results["ComputedTorque"] for name in ("free", "saturation", "delay"))
    assert np.abs(weak.tau).max() < np.abs(free.tau).max()
    assert (found["contact"].results["ComputedTorque"].states["contact"] != 0).any()
    assert np.array_equal(late.tau[0], [0.0, 0.0])  # the first command has not come yet
    assert found["noise"].results["ComputedTorque"].measured is not None
    assert found["elastic"].results["ComputedTorque"].elastic == (0, 1)
    assert found["payload"]["ComputedTorque"].final_rms > found["free"]["ComputedTorque"].final_rms


@pytest.mark.parametrize("name", armdyn.arms.__all__)
def test_every_library_arm_starts_clear_of_the_wall_and_meets_it(name):
    """The reference begins outside, by most of the tip's way, and ends up inside."""
    arm = getattr(armdyn.arms, name)()
    motion = Sway.within(arm, 12.0)(np.linspace(0.0, 12.0, 500))
    (wall,) = SCENARIOS["contact"](arm, motion, 1000.0).plant.contact.obstacles
    depth = armdyn.forward_kinematics(arm, motion.q)[:, :3, 3] @ wall.normal - wall.offset
    assert depth[0] == pytest.approx(-9 * depth.min())  # nine tenths of the way before the wall, one behind
    assert depth.min() < 0 < depth[0]


def test_an_arm_whose_tip_stays_has_no_room_for_a_wall():
    arm = armdyn.arms.planar2()
    still = Sway(np.zeros(2), np.zeros(2), np.ones(2), 1.0)
    with raises(ArmdynError, cause="scenario 'contact': the tip of arm 'planar2' does not leave its start"):
        SCENARIOS["contact"](arm, still(np.linspace(0, 1, 10)), 1000.0)


def test_no_run_begins_in_the_wall(found):
    for run in found["contact"].results.values():
        assert (run.states["contact"][0] == 0).all()


def test_contact_is_won_by_the_least_force(found):
    forces = found.forces("contact")
    assert found.leaders("contact")[0] == min(forces, key=forces.__getitem__)


def changed(found, scenario, law, **figures):
    """The same with other figures of one law in one scenario."""
    one = found[scenario]
    rows = tuple(with_figures(row, **figures) if row.name == law else row for row in one.rows)
    comparisons = {**found.comparisons, scenario: dataclasses.replace(one, rows=rows)}
    return dataclasses.replace(found, comparisons=comparisons)


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"rms": np.nan, "final_rms": np.nan, "note": "diverged at 0.3 s"}, "ComputedTorque (diverged at 0.3 s)"),
        ({"largest": 21.0}, "ComputedTorque (largest joint error 21 rad)"),
        (
            {"roughness": 4.5, "jump": 107.0},
            "ComputedTorque (its torque changes from sample to sample by 450% of the motion's torque)",
        ),
    ],
    ids=["diverged", "far", "rough"],
)
def test_a_law_that_fails_a_scenario_does_not_win_overall(found, figures, words):
    """However good it is elsewhere."""
    worse = changed(changed(found, "saturation", "GravityPD", largest=0.1), "noise", "ComputedTorque", **figures)
    worse = changed(worse, "saturation", "ComputedTorque", largest=0.1)
    lines = worse.advice().splitlines()
    assert f"Failed: {words}." in next(line for line in lines if line.startswith("noise"))
    overall = next(line for line in lines if line.startswith("overall"))
    assert overall.startswith("overall: GravityPD: within a factor of 1.5 of the best in")
    neither = changed(worse, "free", "GravityPD", largest=3.0)
    assert "overall: no law passes every scenario; most passed: GravityPD, ComputedTorque (6 of 7)." in neither.advice()
    assert "!: the law fails there" in str(neither)


def test_unknown_scenarios_and_missing_rotors_are_rejected():
    arm = armdyn.arms.planar2()
    with raises(ArmdynError, expected="some of free, payload, contact, saturation, noise, delay, elastic"):
        compare_scenarios(arm, {}, Sway.within(arm, 1.0), scenarios=["storm"])
    with raises(ArmdynError, cause="scenario 'elastic': arm 'planar2' has joints without a rotor of their own"):
        compare_scenarios(arm, {}, Sway.within(arm, 1.0), scenarios=["elastic"])
