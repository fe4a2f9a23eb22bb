"""Why a run went wrong, on runs that are made to go wrong in a known way."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.simulation.compare import Sway
from armdyn.simulation.explain import explain, torque_needed
from armdyn.simulation.result import RunOutcome


@pytest.fixture(scope="module")
def run():
    arm = armdyn.arms.planar2()
    law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    return armdyn.simulate(arm, law, Sway.within(arm, 1.0), rate=500, check=False)


def test_a_good_run_needs_no_words(run):
    assert explain(run) == ""


def test_a_perfect_model_needs_what_the_motion_needs(run):
    assert np.allclose(run.tau[:-1], torque_needed(run)[:-1], atol=0.02 * np.abs(run.tau).max())


def test_torque_beyond_the_need_names_its_joint(run):
    held = run.tau + np.array([0.0, 300.0])
    assert explain(dataclasses.replace(run, tau=held)).startswith("joint 2 'joint2' takes 30")
    shaking = run.tau + 300.0 * np.array([0.0, 1.0]) * (-1.0) ** np.arange(len(run.t))[:, None]
    assert "shakes from sample to sample" in explain(dataclasses.replace(run, tau=shaking))


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (lambda t: np.exp(20 * t) - 1, "running away to one side"),
        (lambda t: 0.05 * np.exp(8 * t) * np.sin(60 * t), "with growing oscillation"),
        (lambda t: 0.01 * np.exp(12 * t) * np.cos(np.pi * 500 * t), "shaking from sample to sample"),
    ],
    ids=["away", "wider", "shaking"],
)
def test_divergence_names_the_joint_that_left_first_and_how(run, way, said):
    qd = run.qd.copy()
    qd[:, 1] += way(run.t)
    qd[-3:, 0] = 1e6  # the other one follows
    lost = dataclasses.replace(run, qd=qd, outcome=RunOutcome(np.array(run.t[-1]), False))
    told = explain(lost)
    assert told.startswith("joint 2 'joint2' left the reference first")
    assert said in told


def test_an_estimate_that_ran_away_is_told(run):
    qd = run.qd + np.array([0.0, 1.0]) * (np.exp(20 * run.t) - 1)[:, None]
    lost = dataclasses.replace(run, qd=qd, outcome=RunOutcome(np.array(1.0), False))
    lost = dataclasses.replace(lost, states={"phi": np.exp(60 * run.t)[:, None]})
    assert "after its estimate ran away" in explain(lost)


def test_a_run_without_an_arm_tells_nothing(run):
    assert explain(dataclasses.replace(run, arm=None)) == ""
