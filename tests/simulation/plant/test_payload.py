"""Payloads picked up and put down."""

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.pd import PD
from armdyn.errors import ModelError
from armdyn.simulation.plant.payload import Drop, PickUp
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.simulate import simulate


def nothing(t, q, qd, ref):
    return np.zeros(len(q))


@pytest.mark.parametrize("native", [True, False])
def test_a_grip_conserves_momentum_and_a_drop_velocity(block, native):
    """2 kg at 3 m/s seize 1 kg at rest: 2 m/s; letting it go changes nothing."""
    arm = block(2.0)
    plant = Plant(arm, changes=[Drop(0.2), PickUp(0.1, 1.0)])
    result = simulate(plant, PD(arm, 0.0, 0.0), [0.0], 0.3, q0=[0.0], qd0=[3.0], native=native, check=False)
    assert np.allclose(result.qd[:100, 0], 3.0, rtol=1e-13)
    assert np.allclose(result.qd[100:, 0], 2.0, rtol=1e-13)


def test_a_grip_conserves_the_generalised_momentum(planar):
    arm = planar.with_gravity([0, 0, 0])
    plant = Plant(arm, friction=False, changes=[PickUp(0.05, 1.5, [0.1, 0, 0])])
    result = simulate(plant, nothing, np.zeros(2), 0.1, q0=[0.2, 0.6], qd0=[1.0, -2.0])
    heavy = arm.with_payload(1.5, [0.1, 0, 0])
    before = simulate(Plant(arm, friction=False), nothing, np.zeros(2), 0.05, q0=[0.2, 0.6], qd0=[1.0, -2.0])
    p = armdyn.generalized_momentum(arm, before.q[-1], before.qd[-1])
    after = np.linalg.solve(armdyn.mass_matrix(heavy, before.q[-1]), p)
    # The row at the grip shows the state after it; the motion from there is that of the heavier arm.
    rest = simulate(Plant(heavy, friction=False), nothing, np.zeros(2), 0.05, q0=before.q[-1], qd0=after)
    assert np.allclose(result.q[50:], rest.q, atol=1e-13)
    assert np.allclose(result.qd[50:], rest.qd, atol=1e-12)


def test_a_body_that_moves_along_gives_no_blow(block):
    arm = block(2.0)
    plant = Plant(arm, changes=[PickUp(0.1, 1.0, at_rest=False)])
    result = simulate(plant, nothing, [0.0], 0.3, q0=[0.0], qd0=[3.0])
    assert np.allclose(result.qd, 3.0, rtol=1e-13)


@pytest.mark.parametrize("tolerance", [None, 1e-9])
def test_a_blow_tears_a_stuck_joint_loose(planar, tolerance):
    """The joint gets what its share of the momentum gives it, friction brakes it, and it sticks again for good."""
    joints = [
        dataclasses.replace(joint, friction=armdyn.Friction(coulomb=c))
        for joint, c in zip(planar.joints, (0.0, 100.0), strict=True)
    ]
    arm = planar.with_joints(joints).with_gravity([0, 0, 0])
    plant, q0, qd0 = Plant(arm, changes=[PickUp(0.05, 2.0)]), [0.2, 0.9], [3.0, 0.0]
    result = simulate(plant, nothing, np.zeros(2), 0.2, q0=q0, qd0=qd0, tolerance=tolerance)
    assert (result.q[:51, 1] == 0.9).all()
    q, qd = result.q[50], result.qd[49]
    M, heavy = (armdyn.mass_matrix(a, q) for a in (arm, arm.with_payload(2.0)))
    assert result.qd[50] == pytest.approx(np.linalg.solve(heavy, M @ qd), rel=1e-9)
    sliding = result.qd[50:, 1] != 0
    assert 2 < sliding.sum() < 20
    assert (np.diff(np.abs(result.qd[50:, 1])) <= 0).all()
    assert not sliding[np.argmin(sliding) :].any()
    assert (result.q[-100:, 1] == result.q[-1, 1]).all()


@pytest.mark.parametrize(("at_rest", "speed"), [((True, False), 2.0), ((False, True), 2.25)])
def test_bodies_seized_at_one_sample_come_in_their_order(block, at_rest, speed):
    """2 kg at 3 m/s: 1 kg at rest leaves 2 m/s, one that moves along changes nothing."""
    arm = block(2.0)
    plant = Plant(arm, changes=[PickUp(0.1, 1.0, at_rest=still) for still in at_rest])
    result = simulate(plant, PD(arm, 0.0, 0.0), [0.0], 0.2, q0=[0.0], qd0=[3.0], check=False)
    assert result.qd[-1, 0] == pytest.approx(speed, rel=1e-12)


def test_a_payload_weighs(planar):
    """Holding a payload takes the gravity torque of the loaded arm."""
    plant = Plant(planar, friction=False, changes=[PickUp(0.0, 2.0)])
    law = PD(planar, 2000.0, [100.0, 30.0])
    result = simulate(plant, law, [0.4, 0.3], 2.0, q0=[0.4, 0.3])
    assert np.allclose(result.tau[-1], armdyn.gravity_torque(planar.with_payload(2.0), result.q[-1]), rtol=1e-3)


def test_times_are_checked():
    with raises(ModelError, where="PickUp", expected="a time t >= 0 in seconds", got="-1.0"):
        PickUp(-1.0, 2.0)
    with raises(ModelError, where="Drop", expected="a time t >= 0 in seconds", got="nan"):
        Drop(np.nan)
