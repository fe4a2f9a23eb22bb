"""Springs of joints are found from encoders on both sides, and feed the laws that need them."""

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Plant, simulate
from armdyn.control import ElasticPD
from armdyn.errors import DataError, ShapeError
from armdyn.identification import identify_springs
from armdyn.simulation import Elasticity, Sway

STIFFNESS, DAMPING = np.array([900.0, 250.0]), np.array([4.0, 1.0])


@pytest.fixture(scope="module")
def record():
    planar, drive = armdyn.arms.planar2(), Drive(rotor_inertia=5e-5, gear_ratio=100.0)
    arm = planar.with_joints([dataclasses.replace(joint, drive=drive) for joint in planar.joints])
    plant = Plant(arm, elasticity=Elasticity(STIFFNESS, DAMPING))
    law = ElasticPD(arm, 1e5, [600.0, 200.0], [80.0, 20.0])  # of springs it takes for stiff
    return arm, simulate(plant, law, Sway.within(arm, 4.0), rate=1000, check=False)


def test_springs_are_found_within_a_percent(record):
    arm, run = record
    found = identify_springs(arm, run.t, run.q, run.states["rotor_q"])
    assert np.allclose(found.stiffness, STIFFNESS, rtol=0.01)
    assert np.allclose(found.damping, DAMPING, rtol=0.2)


def test_noise_and_zeros_of_encoders_are_borne(record):
    arm, run = record
    rng = np.random.default_rng(0)
    q, motor = (x + 2e-5 * rng.normal(size=x.shape) for x in (run.q, run.states["rotor_q"] + [0.01, -0.02]))
    found = identify_springs(arm, run.t, q, motor)
    assert np.allclose(found.stiffness, STIFFNESS, rtol=0.05)


def test_records_that_tell_nothing_are_rejected(record):
    arm, run = record
    rng = np.random.default_rng(1)
    with raises(DataError, cause=re.compile("does not tell the stiffness of joint 'joint1'"), names=("joint1",)):
        identify_springs(arm, run.t, run.q, run.q + 1e-4 * rng.normal(size=run.q.shape))
    with raises(ShapeError, expected="at least 50 rows (T, 2)", got="(10, 2)"):
        identify_springs(arm, run.t[:10], run.q[:10], run.q[:10])
