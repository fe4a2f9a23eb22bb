"""Control of the tip: error dynamics, compliance, the posture that the tip does not feel."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.tip_space import Impedance, OperationalSpace, resolved_rate
from armdyn.control.protocol import Reference
from armdyn.errors import ShapeError
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.simulate import simulate

HOME = np.array([0.2, -0.6, 0.9, 0.3, 0.7, -0.2])


@pytest.fixture(scope="module")
def puma():
    return armdyn.arms.puma560()


def tip_acceleration(arm, q, qd, tau):
    qdd = np.linalg.solve(armdyn.augmented_mass_matrix(arm, q), tau - armdyn.inverse_dynamics(arm, q, qd, 0 * q))
    return armdyn.jacobian(arm, q) @ qdd + armdyn.jacobian_rate(arm, q, qd) @ qd


def test_the_tip_obeys_the_error_dynamics_it_is_promised(puma):
    """At once, from the torques: a = a_ref + kd (v_ref - v) + kp x, for a displaced and moving arm."""
    rng = np.random.default_rng(1)
    q, qd = HOME, 0.3 * rng.normal(size=6)
    q_ref, qd_ref, qdd_ref = HOME + 0.05 * rng.normal(size=6), 0.3 * rng.normal(size=6), rng.normal(size=6)
    law = OperationalSpace(puma, [50, 60, 70, 40, 45, 55], [14, 15, 16, 12, 13, 14], singular=0.0, model="rigid")
    tau = law(0.0, q, qd, Reference(q_ref, qd_ref, qdd_ref))
    here, there = (armdyn.forward_kinematics(puma, x) for x in (q, q_ref))
    E = there[:3, :3] @ here[:3, :3].T
    turn = np.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]]) / np.sqrt(1 + np.trace(E))
    x = np.concatenate([there[:3, 3] - here[:3, 3], turn])
    v = armdyn.jacobian(puma, q_ref) @ qd_ref - armdyn.jacobian(puma, q) @ qd
    a_ref = armdyn.jacobian(puma, q_ref) @ qdd_ref + armdyn.jacobian_rate(puma, q_ref, qd_ref) @ qd_ref
    expected = a_ref + law.tip_damping * v + law.stiffness * x
    assert np.allclose(tip_acceleration(puma, q, qd, tau), expected, rtol=1e-8, atol=1e-8)


def test_a_force_moves_the_tip_as_a_spring(puma):
    """A steady force in base axes: displacement is force over stiffness, within the curvature of the small motion."""
    stiffness = np.array([2000.0, 3000.0, 4000.0, 100.0, 100.0, 100.0])
    law = Impedance(puma, stiffness, [400.0] * 3 + [20.0] * 3)
    R = armdyn.forward_kinematics(puma, HOME)[:3, :3]
    force = np.array([5.0, -6.0, 8.0])
    plant = Plant(puma, friction=False, wrench=np.concatenate([R.T @ force, np.zeros(3)]))
    run = simulate(plant, law, HOME, 6.0, 1000, every=10, check=False)
    moved = armdyn.forward_kinematics(puma, run.q[-1])[:3, 3] - armdyn.forward_kinematics(puma, HOME)[:3, 3]
    assert np.allclose(moved, force / stiffness[:3], rtol=0.02, atol=2e-5)


def test_a_push_holds_against_a_wrench(puma):
    """What presses on the tip is what it pushes with: force and moment cancel, and the tip stays where it is wanted."""
    wrench = np.array([20.0, -10.0, 15.0, 1.0, -0.5, 0.8])  # exerted by the tip, base axes
    R = armdyn.forward_kinematics(puma, HOME)[:3, :3]
    pressed = Plant(puma, friction=False, wrench=-np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]]))
    found = []
    for push in (0.0, wrench):
        law = Impedance(puma, [2000.0] * 3 + [100.0] * 3, [400.0] * 3 + [20.0] * 3, push=push)
        run = simulate(pressed, law, HOME, 3.0, 1000, every=10, check=False)
        found.append(np.abs(run.error[-1]).max())
    assert found[0] > 5e-3
    assert found[1] < 1e-3 * found[0]


def test_the_tip_does_not_feel_the_posture():
    arm = armdyn.arms.panda()
    q = np.array([0.1, 0.4, -0.2, -1.8, 0.3, 1.9, 0.5])
    still = np.zeros(7)
    ref = Reference(q, still, still)
    slow, fast = (
        OperationalSpace(arm, 100.0, 20.0, posture=w, singular=0.0)(0.0, q, 0.2 * np.ones(7), ref) for w in (0.0, 9.0)
    )
    assert np.abs(fast - slow).max() > 0.1
    at_tip = armdyn.jacobian(arm, q) @ np.linalg.solve(armdyn.augmented_mass_matrix(arm, q), fast - slow)
    assert np.abs(at_tip).max() < 1e-9


def test_a_planar_arm_controls_its_position(planar):
    law = OperationalSpace.from_bandwidth(planar, 2.0, task="position")
    run = simulate(planar, law, [0.4, 0.9], 2.0, 500, q0=[0.5, 0.7], qd0=[0, 0], check=False)
    here, there = (armdyn.forward_kinematics(planar, q)[:3, 3] for q in (run.q[-1], run.q_ref[-1]))
    assert np.linalg.norm(here - there) < 1e-3


def test_a_singular_position_gives_finite_torques(planar):
    law = OperationalSpace.from_bandwidth(planar, 2.0, task="position")
    still = np.zeros(2)
    assert np.isfinite(law(0.0, still, still, Reference(np.array([0.1, 0.1]), still, still))).all()


def test_resolved_rates_reach_the_pose(puma):
    target = armdyn.forward_kinematics(puma, HOME)
    q = HOME + 0.1
    for _ in range(400):
        q = q + 0.01 * resolved_rate(puma, q, target, np.zeros(6), np.full(6, 5.0), 1e-4)
    assert np.allclose(armdyn.forward_kinematics(puma, q), target, atol=1e-6)


def test_an_unknown_task_is_rejected(puma):
    with raises(ShapeError, names=("orientation",), expected="one of pose, position"):
        OperationalSpace(puma, 1.0, 1.0, task="orientation")
