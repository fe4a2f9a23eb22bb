"""Scenarios: what they change, and advice that follows from the figures."""

import dataclasses

import numpy as np
import pytest

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
    assert "free: ComputedTorque" in text
    assert text.splitlines()[-1].startswith("all in all: ")
    best = min(found["payload"].rows, key=lambda row: row.final_rms).name
    assert f"payload: {best}" in text
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


def test_unknown_scenarios_and_missing_rotors_are_rejected():
    arm = armdyn.arms.planar2()
    with pytest.raises(ArmdynError, match="expected some of free, payload"):
        compare_scenarios(arm, {}, Sway.within(arm, 1.0), scenarios=["storm"])
    with pytest.raises(ArmdynError, match="has joints without a rotor"):
        compare_scenarios(arm, {}, Sway.within(arm, 1.0), scenarios=["elastic"])
