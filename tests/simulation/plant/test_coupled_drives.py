"""Drives that move several joints: friction slides and sticks at their shafts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Friction, Inertia, Joint, Link, Plant, simulate
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.errors import ModelError

C = np.array([[1.0, 0.0], [-0.6, 1.0]])


def coupled(arm, rows, *frictions, **drive):
    joints = zip(arm.joints, rows, frictions, strict=True)
    return arm.with_joints(
        dataclasses.replace(j, friction=f, drive=Drive(coupling=tuple(row), **drive)) for j, row, f in joints
    )


def gantry(*frictions, rows=((1, 0), (1, 1)), **drive):
    """A cross slide of 2 and 3 kg whose second drive turns with both slides, without gravity."""
    axes = np.eye(3)[:2]
    joints = [Joint(name, "prismatic", axis) for name, axis in zip("xy", axes, strict=True)]
    links = [Link(f"{m} kg", Inertia.from_com(m, (0, 0, 0), 0.01 * np.eye(3))) for m in (2.0, 3.0)]
    return coupled(Arm(tuple(joints), tuple(links), gravity=np.zeros(3)), rows, *frictions, **drive)


def still(n):
    return lambda t, q, qd, ref: np.zeros(n)


def test_smooth_friction_agrees_with_scipy(planar):
    """M qdd + h + C' (Ia C qdd + B C qd) = tau by SciPy, with links from the kernels and drives written out here."""
    from scipy.integrate import solve_ivp

    arm = coupled(planar, C, Friction(0.4), Friction(0.3), rotor_inertia=1e-4, gear_ratio=30.0)
    inertia, viscous = np.full(2, 1e-4 * 30.0**2), np.array([0.4, 0.3])

    def rates(t, x):
        q, v = np.split(x, 2)
        tau = [3 * np.sin(9 * int(t * 500) / 500), 2.0]  # held for a period, as samples are
        M = armdyn.mass_matrix(planar, q) + C.T @ np.diag(inertia) @ C
        lost = armdyn.inverse_dynamics(planar, q, v, 0 * v) + C.T @ (viscous * (C @ v))
        return np.concatenate([v, np.linalg.solve(M, tau - lost)])

    law = lambda t, q, qd, ref: [3 * np.sin(9 * t), 2.0]  # noqa: E731
    run = simulate(arm, law, np.zeros(2), 0.2, 500.0, q0=[0.3, -0.5], qd0=[1.0, -2.0], substeps=4)
    x = np.array([0.3, -0.5, 1.0, -2.0])
    for k in range(100):
        x = solve_ivp(rates, (k / 500 + 1e-12, (k + 1) / 500 - 1e-12), x, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(run.q[-1], x[:2], atol=1e-9)
    np.testing.assert_allclose(run.qd[-1], x[2:], atol=1e-8)


def test_a_stuck_shaft_ties_its_joints():
    """The shaft x + y sticks: y goes back as x goes, and the push f moves (m1 + m2) + m2 kilograms."""
    arm = gantry(Friction(), Friction(coulomb=50.0))
    run = simulate(arm, lambda t, q, qd, ref: [4.0, 0.0], np.zeros(2), 0.5, q0=[0.0, 0.2], qd0=[0.0, 0.0])
    acceleration = 4.0 / (2.0 + 3.0 + 3.0)
    assert run.qd[-1, 0] == pytest.approx(acceleration * 0.5, rel=1e-12)
    np.testing.assert_allclose(run.q.sum(axis=1), 0.2, atol=1e-15)
    np.testing.assert_array_equal(run.qd.sum(axis=1), 0.0)


def test_a_sliding_shaft_stops_where_it_must():
    """Only the shaft x + y has friction F, and x is pushed by nothing: it decelerates by F (1/m11 + 1/m22)."""
    arm = gantry(Friction(), Friction(coulomb=1.0))
    start, deceleration = {"q0": [0.0, 0.0], "qd0": [0.5, 0.6]}, 1.0 * (1 / 5.0 + 1 / 3.0)
    fixed, judge = (simulate(arm, still(2), np.zeros(2), 3.0, 100.0, tolerance=x, **start) for x in (None, 1e-10))
    for run in (fixed, judge):
        assert run.q.sum(axis=1)[-1] == pytest.approx(1.1**2 / (2 * deceleration), rel=1e-9)
    # Friction took the same impulse from both; with fixed steps that of the step in which it stops as a whole.
    impulse = 1.1 / deceleration
    np.testing.assert_allclose(judge.qd[-1], [0.5 - impulse / 5, 0.6 - impulse / 3], rtol=1e-8)
    np.testing.assert_allclose(fixed.qd[-1], judge.qd[-1], atol=0.01 * 1.0 / 5)


def test_shaft_friction_takes_energy_and_ends_in_rest(planar):
    arm = coupled(planar, C, Friction(0.2, 15.0), Friction(0.2, 10.0), rotor_inertia=0.1).with_gravity([0, 0, 0])
    run = simulate(arm, still(2), np.zeros(2), 3.0, q0=[0, 0], qd0=[3.0, -4.0])
    M = armdyn.augmented_mass_matrix(arm, run.q)
    energy = np.einsum("ti,tij,tj->t", run.qd, M, run.qd) / 2
    assert (np.diff(energy) <= 1e-12).all()
    assert (run.qd[-1] == 0).all()
    assert (run.q[-200:] == run.q[-1]).all()


def test_held_shafts_do_not_creep(planar):
    arm = coupled(planar, C, Friction(coulomb=200.0), Friction(coulomb=200.0))
    run = simulate(arm, still(2), np.zeros(2), 3.0, q0=[0.3, 0.5], qd0=[0.0, 0.0], every=100)
    np.testing.assert_array_equal(run.q, np.broadcast_to([0.3, 0.5], run.q.shape))


def test_sticking_and_slipping_agrees_with_adaptive_steps(planar):
    """Every event located in time: fixed steps come closer to the judge as they get finer."""
    arm = coupled(planar, C, Friction(0.1, 6.0), Friction(0.1, 2.0, static=2.5)).with_gravity([0, 0, 0])
    force = lambda t, q, qd, ref: [25 * np.sin(15 * t), 8 * np.cos(22 * t)]  # noqa: E731
    judge = simulate(arm, force, np.zeros(2), 0.4, 200.0, tolerance=1e-9)
    errors = [np.abs(simulate(arm, force, np.zeros(2), 0.4, 200.0, substeps=m).q - judge.q).max() for m in (5, 80)]
    stuck = judge.states["direction"] == 0
    assert 0 < stuck[:, 1].mean() < 0.9
    assert np.ptp(judge.q, axis=0).min() > 0.01
    assert errors[1] < min(errors[0] / 4, 1e-3)


def test_compiled_batches_are_the_python_loop(planar):
    arm = coupled(planar, C, Friction(0.4, 2.0), Friction(0.3, 1.0), rotor_inertia=0.02)
    law, options = ComputedTorque(arm, 100.0, 20.0), {"rate": 500.0, "check": False}
    target, starts = np.array([0.3, -0.2]), np.array([[0.1, 0.0], [0.0, 0.2], [-0.3, 0.4]])
    batch = simulate(arm, law, target, 0.3, q0=starts, qd0=np.zeros((3, 2)), **options)
    for k, q0 in enumerate(starts):
        alone = simulate(arm, law, target, 0.3, q0=q0, qd0=np.zeros(2), native=False, **options)
        np.testing.assert_allclose(batch.q[k], alone.q, atol=1e-12)


def test_a_law_that_knows_the_coupling_follows(planar, swing):
    """Computed torque makes up for friction at the shafts; one that takes it for the joints' own does not."""
    arm = coupled(planar, C, Friction(4.0, 3.0), Friction(3.0, 2.0), rotor_inertia=0.1)
    single = coupled(planar, np.eye(2), Friction(4.0, 3.0), Friction(3.0, 2.0), rotor_inertia=0.1)
    errors = [
        np.sqrt(np.mean(simulate(arm, ComputedTorque(model, 400.0, 40.0), swing, rate=1000.0).error ** 2))
        for model in (arm, single)
    ]
    assert errors[0] < 0.05 * errors[1]


def test_steps_are_short_enough_for_shaft_friction():
    """Rates of C' B C against M, not those of the joints' own friction."""
    from armdyn.simulation.plant.step_length import fastest

    arm = gantry(Friction(1.0), Friction(200.0))
    rate = np.linalg.eigvals(np.linalg.solve(np.diag([5.0, 3.0]), np.array([[201.0, 200.0], [200.0, 200.0]]))).max()
    assert fastest(Plant(arm), np.zeros((1, 2))).rate == pytest.approx(rate, rel=1e-9)


def test_mujoco_has_no_shared_shafts():
    pytest.importorskip("mujoco")
    from armdyn.simulation.loop.mujoco import to_mjcf

    with raises(ModelError, cause="MuJoCo has no coupled drives, arm 'arm' has"):
        to_mjcf(gantry(Friction(1.0), Friction(1.0)), drive=False)
