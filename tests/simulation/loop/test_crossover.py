"""Crossover of sampled loops against the textbook's."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control.laws.pd import PD
from armdyn.simulation.compare import Sway
from armdyn.simulation.loop.crossover import crossover
from armdyn.simulation.loop.schedule import Schedule, make_clock
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.sensors import REAL_SENSORS
from armdyn.trajectory.protocol import JointMotion


def along(law, plant, rate=1000.0, sensors=None):
    clock = make_clock(rate, 2.0, 1, 0.0)
    motion = Sway.within(plant.arm, 2.0)(np.arange(clock.steps) * clock.h)
    return crossover(Schedule(plant, clock, JointMotion(*motion)).for_law(law), law, sensors)


def test_a_mass_under_a_pd(block):
    """|kp + i w kd| = m w^2; sampling at 1 kHz shifts it by far less than a percent."""
    m, kp, kd = 2.0, 300.0, 40.0
    exact = np.sqrt((kd**2 + np.sqrt(kd**4 + 4 * m**2 * kp**2)) / (2 * m**2)) / (2 * np.pi)
    arm = block(m)
    assert along(PD(arm, kp, kd), Plant(arm)) == pytest.approx(exact, rel=0.01)


def test_computed_torque_has_the_same_for_every_joint():
    """s^2 + 2 w s + w^2 in every joint: (2 + sqrt 5)^0.5 w, also as real sensors show it."""
    arm = armdyn.arms.planar2()
    law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    exact = np.sqrt(2 + np.sqrt(5)) * 3.0
    # Coriolis torques at the motion's velocities couple the joints by a few percent.
    assert along(law, Plant(arm)) == pytest.approx(np.full(2, exact), rel=0.05)
    assert along(law, Plant(arm), sensors=REAL_SENSORS) == pytest.approx(along(law, Plant(arm)), rel=1e-6)


def test_no_feedback_has_none(block):
    assert np.isnan(along(PD(block(2.0), 0.0, 0.0), Plant(block(2.0)))).all()
