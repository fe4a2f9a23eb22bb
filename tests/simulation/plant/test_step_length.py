"""Steps that follow what a plant does by itself."""

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Drive, Elasticity, Friction, Plant, simulate
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.simulation.plant.step_length import fastest, substeps_for

MASS, ROTOR = 2.0, 0.5


def test_friction_stops_a_block_at_its_own_rate(block):
    found = fastest(Plant(block(MASS, Friction(viscous=6.0), Drive(damping=1.0))), np.zeros((1, 1)))
    assert found.rate == pytest.approx(7.0 / MASS, rel=1e-12)
    assert not found.springs


def test_two_masses_on_a_spring_swing_at_their_own_rate(block):
    geared = block(MASS, drive=Drive(rotor_inertia=ROTOR))
    found = fastest(Plant(geared, elasticity=Elasticity(400.0)), np.zeros((1, 1)))
    assert found.rate == pytest.approx(np.sqrt(400.0 * (1 / MASS + 1 / ROTOR)), rel=1e-12)
    assert found.springs


def test_no_motion_is_faster_than_the_bound(planar):
    """Eigenvalues of the linearised arm with springs, dampers and friction, at poses of all kinds."""
    drive = Drive(rotor_inertia=0.1, damping=0.4, stiffness=90.0)
    joints = [dataclasses.replace(j, friction=Friction(viscous=2.0), drive=drive) for j in planar.joints]
    arm = planar.with_joints(joints)
    for q in np.random.default_rng(0).uniform(-3, 3, (20, 2)):
        M, D, K = armdyn.augmented_mass_matrix(arm, q), 2.4 * np.eye(2), 90.0 * np.eye(2)
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        true = np.abs(np.linalg.eigvals(A)).max()
        assert true <= fastest(Plant(arm), q[None]).rate * (1 + 1e-12) < 2 * true


def light_wrist(planar):
    """An arm whose last link hardly weighs anything, as files without rotors have it, with friction."""
    theta = planar.theta.reshape(2, 10).copy()
    theta[1] *= 1e-5
    joints = [dataclasses.replace(j, friction=Friction(viscous=1.5, coulomb=0.5)) for j in planar.joints]
    return planar.with_theta(theta.ravel()).with_joints(joints)


@pytest.mark.slow
def test_a_light_link_with_friction_does_not_burst(planar, swing):
    """Steps of a sample would let it grow a thousandfold each; the run equals that of an adaptive, implicit solver.

    Turns are resolved to a step, here some tens of microseconds, in which the first joint moves 1e-5 rad.
    """
    arm = light_wrist(planar)
    law = ComputedTorque.from_bandwidth(arm, 3.0)
    assert fastest(Plant(arm), np.zeros((1, 2))).rate > 10_000.0
    run = simulate(arm, law, swing, 0.6)  # with a turn at 0.5 s
    judge = simulate(arm, law, swing, 0.6, tolerance=1e-8, solver="LSODA", check=False)
    assert run.complete
    assert not run.notes
    assert np.abs(run.q - judge.q).max() < 1e-4


def test_batches_get_steps_for_their_fastest_runs(planar, swing):
    arm = light_wrist(planar)
    theta = np.stack([planar.theta, arm.theta])
    alone, together = (substeps_for(Plant(arm, theta=x), np.zeros((1, 2)), 1e-3) for x in (arm.theta, theta))
    assert alone == together > 10
    runs = simulate(Plant(arm, theta=theta), ComputedTorque.from_bandwidth(arm, 3.0), swing, 0.1, check=False)
    assert np.isnan(runs.diverged).all()


def test_ordinary_arms_keep_one_step_a_sample():
    assert substeps_for(Plant(armdyn.arms.puma560()), np.zeros((1, 6)), 1e-3) == 1
    assert substeps_for(Plant(armdyn.arms.panda()), np.zeros((1, 7)), 1e-3) == 1


def test_steps_are_chosen_for_the_delay(planar, swing):
    law = ComputedTorque.from_bandwidth(planar, 3.0)
    chosen, given = (simulate(planar, law, swing, 0.05, delay=0.4e-3, substeps=m) for m in (None, 5))
    assert (chosen.q == given.q).all()
