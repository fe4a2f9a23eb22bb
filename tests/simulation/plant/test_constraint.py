"""Runs of arms that keep a constraint."""

from __future__ import annotations

import re

import numpy as np
from tests.raising import raises

import armdyn
from armdyn.errors import ConstraintError, ModelError

START = np.array([0.3, -0.6, 0.4, 0.2, 0.7, 0.1])


def test_energy_and_constraint_are_kept_without_friction():
    arm = armdyn.arms.puma560()
    table = armdyn.on_plane(armdyn.forward_kinematics(arm, START)[:3, 3], [0.1, 0.0, 1.0])
    q0, qd0 = armdyn.onto_constraint(arm, START, table, np.array([1.0, 0.5, -0.5, 0.2, 0.3, 0.1]))
    plant = armdyn.Plant(arm, friction=False, drive=False, constraint=table)
    run = armdyn.simulate(plant, lambda t, q, qd, ref: np.zeros(6), q0, 0.5, 1000, q0=q0, qd0=qd0)
    energy = armdyn.kinetic_energy(arm, run.q, run.qd) + armdyn.potential_energy(arm, run.q)
    # Steps of order four: local errors h^5, over half a second far below these.
    assert np.abs(energy - energy[0]).max() < 1e-6 * np.abs(energy).max()
    assert np.abs(armdyn.constraint_residual(arm, run.q, table)).max() < 1e-9
    first = armdyn.constrained_dynamics(arm, q0, qd0, np.zeros(6), table)
    np.testing.assert_allclose(run.states["multipliers"][0], first.multipliers, rtol=1e-9)
    exact = armdyn.simulate(plant, lambda t, q, qd, ref: np.zeros(6), q0, 0.1, 100, q0=q0, qd0=qd0, tolerance=1e-11)
    np.testing.assert_allclose(exact.q[-1], run.q[100], atol=1e-8)


def test_a_law_presses_a_pen_on_a_table():
    """Computed torque and A' lambda: the pen follows its motion and presses with the force asked for."""
    arm = armdyn.arms.planar2()
    q0 = np.array([0.4, 0.9])
    line = armdyn.on_plane(armdyn.forward_kinematics(arm, q0)[:3, 3], [0, 1, 0])
    plant = armdyn.Plant(arm, friction=False, constraint=line)

    def law(t, q, qd, ref):
        return armdyn.constrained_torque(arm, q, qd, np.zeros(2), [7.0], line)

    run = armdyn.simulate(plant, law, q0, 0.2, 1000, q0=q0, qd0=np.zeros(2))
    np.testing.assert_allclose(run.states["multipliers"], 7.0, atol=1e-9)
    np.testing.assert_allclose(run.q, np.broadcast_to(q0, run.q.shape), atol=1e-12)


def test_dry_friction_slows_a_constrained_arm_and_laws_run_in_kernels():
    arm = armdyn.arms.puma560()
    door = armdyn.on_hinge(
        armdyn.forward_kinematics(arm, START), armdyn.forward_kinematics(arm, START)[:3, 3] + [0.0, 0.5, 0.0], [0, 0, 1]
    )
    qd0 = armdyn.onto_constraint(arm, START, door, np.array([0.8, 0, 0, 0, 0, 0]))[1]
    law = armdyn.GravityPD(arm, kp=0.0, kd=0.0)
    run = armdyn.simulate(armdyn.Plant(arm, constraint=door), law, START, 0.3, q0=START, qd0=qd0, check=False)
    energy = armdyn.kinetic_energy(arm, run.q, run.qd)
    assert energy[-1] < 0.9 * energy[0]
    assert np.abs(armdyn.constraint_residual(arm, run.q, door)).max() < 1e-7


def test_starts_off_the_constraint_and_other_engines_are_rejected():
    arm = armdyn.arms.planar2()
    line = armdyn.on_plane([0, 0.3, 0], [0, 1, 0])
    with raises(
        ConstraintError,
        cause=re.compile(r"off the constraint by .* \(m or rad\) and leaves it at 0 \(m/s or rad/s\)"),
        remedy="start at onto_constraint(arm, q0, constraint, qd0)",
    ) as caught:
        armdyn.simulate(armdyn.Plant(arm, constraint=line), lambda t, q, qd, ref: 0 * q, [0.4, 0.9], 0.1)
    assert caught.value.reason == "start"
    with raises(
        ModelError, cause="constraint goes with armdyn's own engine, and not with bodies at rest that are seized"
    ):
        armdyn.Plant(arm, constraint=line, engine="mujoco")
    with raises(ModelError, expected="Constraint(...)", got="'table'"):
        armdyn.Plant(arm, constraint="table")
