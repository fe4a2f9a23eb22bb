"""Adaptive steps: the judge of fixed ones."""

import dataclasses

import numpy as np
import pytest

from armdyn import Friction, PickUp, Plant, simulate
from armdyn.control.pd import PD
from armdyn.errors import ShapeError


def test_smooth_motion_agrees_with_fixed_steps(planar, swing):
    """Fixed steps of 0.25 ms are accurate to 1e-9 here; lag, wrench, saturation and payload take part."""
    wrench, changes = lambda t: [np.sin(9 * t), 0, 0, 0, 0, 0.2], [PickUp(0.1, 0.5)]
    plant = Plant(planar, motor_lag=0.01, saturation=15.0, wrench=wrench, changes=changes)
    law = PD(planar, 100.0, 10.0)
    fixed, adaptive = (
        simulate(plant, law, swing, 0.3, 500.0, substeps=m, tolerance=tol) for m, tol in ((8, None), (1, 1e-11))
    )
    assert np.abs(fixed.q - adaptive.q).max() < 1e-9
    assert np.abs(fixed.tau - adaptive.tau).max() < 1e-7


def test_reversing_friction_is_exact(block):
    """A block pushed to and fro against Coulomb friction 3: between events the acceleration is constant.

    Force +-8 for 0.3 s each, m = 2: rises to v = 0.75, brakes at 5.5, stops after 0.75/5.5 s, and goes back at 2.5.
    """
    slide = block(2.0, Friction(coulomb=3.0))
    force = lambda t, q, qd, ref: [8.0 if t < 0.2995 else -8.0]  # noqa: E731
    run = simulate(slide, force, [0.0], 0.6, 1000.0, tolerance=1e-10)
    v = 2.5 * 0.3
    stop = v / 5.5
    assert run.qd[-1, 0] == pytest.approx(-2.5 * (0.3 - stop), rel=1e-8)
    assert run.q[-1, 0] == pytest.approx(v * 0.3 / 2 + v * stop / 2 - 2.5 * (0.3 - stop) ** 2 / 2, rel=1e-8)
    fixed = simulate(slide, force, [0.0], 0.6, 1000.0)
    # Fixed steps rest until the step's end at the turn: at most one step of motion is lost.
    assert abs(fixed.qd[-1, 0] - run.qd[-1, 0]) <= 2.5 * 1e-3
    fine = simulate(slide, force, [0.0], 0.6, 1000.0, substeps=16)
    assert abs(fine.qd[-1, 0] - run.qd[-1, 0]) <= 2.5 * 1e-3 / 16


def test_two_joints_stick_and_slip(planar):
    """Coupled joints with dry friction: fixed steps come closer to the judge as they get finer."""
    joints = [
        dataclasses.replace(j, friction=Friction(coulomb=c, viscous=0.1))
        for j, c in zip(planar.joints, (6, 2), strict=True)
    ]
    arm = planar.with_joints(joints).with_gravity([0, 0, 0])
    force = lambda t, q, qd, ref: [25 * np.sin(15 * t), 8 * np.cos(22 * t)]  # noqa: E731
    judge = simulate(arm, force, np.zeros(2), 0.4, 200.0, tolerance=1e-9)
    errors = [np.abs(simulate(arm, force, np.zeros(2), 0.4, 200.0, substeps=m).q - judge.q).max() for m in (5, 20, 80)]
    assert np.ptp(judge.q, axis=0).min() > 0.01
    assert errors[2] < errors[0] / 4
    assert errors[2] < 1e-3


def test_bad_tolerances_are_refused(planar):
    with pytest.raises(ShapeError, match="expected a tolerance between 0 and 1"):
        simulate(planar, PD(planar, 1.0, 1.0), [0.0, 0.0], 0.1, tolerance=-1)
