"""Friction that sticks: known motions of a block, and joints that hold while others move."""

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Friction
from armdyn.control.laws.pd import PD
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.simulate import simulate


def force(value):
    return lambda t, q, qd, ref: [value]


def test_a_sliding_block_stops_where_it_must(block):
    """Coulomb friction F stops a mass after m v²/(2 F); the stop between steps is exact: constant deceleration."""
    result = simulate(Plant(block(2.0, Friction(coulomb=3.0))), force(0.0), [0.0], 1.5, 100.0, qd0=[1.7])
    assert result.q[-1, 0] == pytest.approx(2.0 * 1.7**2 / (2 * 3.0), rel=1e-12)
    stop = 2.0 * 1.7 / 3.0
    assert (result.qd[result.t > stop + 0.01] == 0).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_no_creep_below_breakaway_and_motion_above_it(block, sign):
    """Static friction 5 holds 4.99 for ever, to the last bit; 5.01 slides with the Coulomb force 3."""
    slide = block(2.0, Friction(coulomb=3.0, static=5.0, stribeck=1e-6))
    held = simulate(slide, force(sign * 4.99), [0.25], 2.0, q0=[0.25], qd0=[0.0])
    assert (held.q == 0.25).all()
    assert (held.qd == 0).all()
    free = simulate(slide, force(sign * 5.01), [0.25], 0.5, q0=[0.25], qd0=[0.0])
    # The first step begins at rest, where static friction still acts: two of six stages of one step are lost.
    assert free.qd[-1, 0] == pytest.approx(sign * (5.01 - 3.0) / 2.0 * 0.5, abs=2e-3)


def test_stick_slip_has_the_period_of_the_analytic_answer(block, ramp):
    """A mass pulled by a spring at constant speed sticks and slips.

    Slip from stretch Fs/k: m y'' = Fc - k y for the stretch y, until y' = v again, which takes
    (2 pi - 2 atan(A w / v)) / w with A = (Fs - Fc)/k; then the spring is stretched again at speed v.
    """
    m, k, v, static, coulomb = 1.0, 100.0, 0.1, 5.0, 3.0
    w, A = np.sqrt(k / m), (static - coulomb) / k
    slip = (2 * np.pi - 2 * np.arctan(A * w / v)) / w
    period = slip + 2 * A / v
    rate = 5000.0
    slide = block(m, Friction(coulomb=coulomb, static=static, stribeck=1e-6))
    result = simulate(slide, PD(slide, k, 0.0), ramp(v, 4.0), rate=rate, q0=[0.0], qd0=[0.0], check=False)
    moving = result.qd[:, 0] > 0
    starts = result.t[1:][moving[1:] & ~moving[:-1]]
    stops = result.t[1:][~moving[1:] & moving[:-1]]
    # One sample until the held force exceeds friction, one until the velocity shows.
    assert starts[0] == pytest.approx(static / (k * v), abs=2.5 / rate)
    # The held spring force is half a sample old, which lengthens the slip by a part of that order.
    assert np.diff(starts) == pytest.approx(period, rel=2e-3)
    assert stops[: len(starts)] - starts[: len(stops)] == pytest.approx(slip, rel=5e-3)
    assert (result.q[1:, 0] >= result.q[:-1, 0]).all()


def test_a_stuck_joint_holds_while_the_other_swings(planar):
    """With the elbow stuck the arm is a pendulum of one joint; the elbow keeps its angle to the last bit."""
    frictions = (Friction(), Friction(coulomb=100.0))
    joints = [dataclasses.replace(j, friction=f) for j, f in zip(planar.joints, frictions, strict=True)]
    arm = planar.with_joints(joints)
    result = simulate(arm, lambda t, q, qd, ref: np.zeros(2), np.zeros(2), 1.0, q0=[0.3, 0.5], qd0=[0.0, 0.0])
    assert (result.q[:, 1] == 0.5).all()
    assert np.ptp(result.q[:, 0]) > 0.1
    kinetic, potential = armdyn.kinetic_energy(arm, result.q, result.qd), armdyn.potential_energy(arm, result.q)
    # The stuck joint does no work, and the free one has no friction: the pendulum keeps its energy.
    assert np.abs(kinetic + potential - potential[0]).max() < 1e-9 * kinetic.max()


def test_dry_friction_takes_energy_and_ends_in_rest(planar):
    """No chatter: once at rest the arm stays there, and energy only falls."""
    joints = [dataclasses.replace(j, friction=Friction(coulomb=15.0, viscous=0.2)) for j in planar.joints]
    arm = planar.with_joints(joints).with_gravity([0, 0, 0])
    result = simulate(arm, lambda t, q, qd, ref: np.zeros(2), np.zeros(2), 2.0, q0=[0, 0], qd0=[3.0, -4.0])
    energy = armdyn.kinetic_energy(arm, result.q, result.qd)
    assert (np.diff(energy) <= 1e-12).all()
    assert (result.qd[-1] == 0).all()
    assert (result.q[-200:] == result.q[-1]).all()


def test_friction_that_grows_with_the_load(block):
    """Coulomb friction 0.4 |tau|: a force F accelerates the block by 0.6 F / m."""
    slide = block(2.0, Friction(coulomb=0.1, load=0.4))
    result = simulate(slide, force(5.0), [0.0], 0.5, q0=[0.0], qd0=[0.0])
    assert result.qd[-1, 0] == pytest.approx((0.6 * 5.0 - 0.1) / 2.0 * 0.5, rel=1e-9)


@pytest.mark.parametrize("name", ["puma3", "scara"])
def test_arms_hold_for_long_and_come_to_rest(name):
    """Friction above what gravity asks: half a minute without a bit of creep, and rest after a push."""
    arm = getattr(armdyn.arms, name)()
    q0 = np.linspace(0.3, -0.4, arm.n)
    held = np.abs(armdyn.gravity_torque(arm, q0)) * 1.05 + 0.5
    arm = arm.with_joints(
        dataclasses.replace(joint, friction=Friction(coulomb=c, viscous=0.1))
        for joint, c in zip(arm.joints, held, strict=True)
    )
    still = simulate(arm, lambda t, q, qd, ref: np.zeros(arm.n), q0, 30.0, every=1000)
    assert (still.q == q0).all()
    assert (still.qd == 0).all()
    pushed = simulate(arm, lambda t, q, qd, ref: np.zeros(arm.n), q0, 10.0, qd0=np.full(arm.n, 0.5), every=10)
    assert np.ptp(pushed.q, axis=0).max() > 1e-3
    assert (pushed.q[-100:] == pushed.q[-1]).all()
    judged = simulate(arm, lambda t, q, qd, ref: np.zeros(arm.n), q0, 0.2, 100.0, tolerance=1e-8)
    assert (judged.q == q0).all()


@pytest.mark.parametrize("backlash", [0.0, 1e-3])
def test_rotors_of_elastic_joints_hold_for_long(backlash):
    arm = armdyn.arms.puma3()
    q0 = np.array([0.3, -0.4, 0.2])
    held = np.abs(armdyn.gravity_torque(arm, q0)) * 1.05 + 0.5
    arm = arm.with_joints(
        dataclasses.replace(joint, friction=Friction(coulomb=c), drive=armdyn.Drive(rotor_inertia=0.3))
        for joint, c in zip(arm.joints, held, strict=True)
    )
    plant = Plant(arm, elasticity=armdyn.Elasticity.from_frequency(arm, 10.0, q=q0, backlash=backlash))
    still = simulate(plant, lambda t, q, qd, ref: np.zeros(3), q0, 10.0, every=100)
    assert (still.states["rotor_q"] == still.states["rotor_q"][0]).all()
    assert np.abs(still.q - q0).max() < 1e-12
