"""PD and computed torque: their formulas, their error dynamics and what they reject."""

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.computed_torque import ComputedTorque, computed_torque
from armdyn.control.laws.pd import PD, pd_torque
from armdyn.control.protocol import Reference
from armdyn.errors import ShapeError


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


@pytest.fixture
def motion(arm):
    rng = np.random.default_rng(1)
    return rng.normal(size=(5, 4, arm.n))


def test_pd_is_springs_and_dampers(arm, motion):
    q, qd, q_ref, qd_ref, _ = motion
    expected = 30 * (q_ref - q) + np.array([4.0, 5.0]) * (qd_ref - qd)
    law = PD(arm, 30.0, [4.0, 5.0])
    assert np.allclose(pd_torque(arm, q, qd, q_ref, qd_ref, law.kp, law.kd), expected, rtol=1e-14, atol=1e-14)
    assert np.array_equal(
        law(0.0, q, qd, Reference(q_ref, qd_ref, None)), pd_torque(arm, q, qd, q_ref, qd_ref, law.kp, law.kd)
    )


def test_computed_torque_gives_the_error_dynamics_it_promises(arm, motion):
    """Under a perfect model the accelerations are qdd_ref + kd ed + kp e (round-off of one forward dynamics)."""
    q, qd, q_ref, qd_ref, qdd_ref = motion
    law = ComputedTorque(arm, [50.0, 80.0], 12.0)
    tau = law(0.0, q, qd, Reference(q_ref, qd_ref, qdd_ref))
    expected = qdd_ref + law.kp * (q_ref - q) + law.kd * (qd_ref - qd)
    assert np.allclose(armdyn.forward_dynamics(arm, q, qd, tau), expected, rtol=1e-11, atol=1e-11)


def test_the_model_can_be_wrong(arm, motion):
    """A law believes its own arm, not the plant."""
    q, qd, q_ref, qd_ref, qdd_ref = motion
    heavy = arm.with_payload(1.0)
    args = (q, qd, q_ref, qd_ref, qdd_ref, np.ones(2), np.ones(2))
    assert not np.allclose(computed_torque(arm, *args), computed_torque(heavy, *args))
    assert np.array_equal(ComputedTorque(heavy, 1.0, 1.0).params["theta"], heavy.theta)


def test_gains_from_bandwidth(arm):
    law = ComputedTorque.from_bandwidth(arm, 2.0, 0.7)
    assert np.allclose(law.kp, (4 * np.pi) ** 2)
    assert np.allclose(law.kd, 2 * 0.7 * 4 * np.pi)


def test_laws_are_symbolic_too(arm):
    """The same step gives symbols: what kernels and C code are made of."""
    import casadi

    q = casadi.SX.sym("q", 2)
    zero = np.zeros(2)
    law = PD(arm, 3.0, 1.0)
    tau, state = law.step(arm, law.params, {}, q, zero, Reference(zero, zero, zero), 0.001)
    f = casadi.Function("f", [q], [tau])
    assert np.allclose(np.array(f([1.0, 2.0])).ravel(), [-3.0, -6.0])
    assert state == {}


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (
            lambda arm: PD(arm, [1.0, 2.0, 3.0], 1.0),
            {"where": "PD: kp", "expected": "shape (..., 2) for arm 'planar2'", "got": "(3,)"},
        ),
        (
            lambda arm: PD(arm, 1.0, [1.0, -2.0]),
            {"where": "PD: kd", "expected": "gains >= 0", "got": "-2 for joint 'joint2'"},
        ),
        (lambda arm: PD(arm, np.nan, 1.0), {"where": "PD: kp", "expected": "finite numbers", "got": "nan"}),
        (lambda arm: PD(arm, "stiff", 1.0), {"where": "PD: kp", "expected": "numbers", "got": "'stiff'"}),
        (lambda arm: ComputedTorque.from_bandwidth(arm, 0.0), {"expected": "bandwidth > 0", "got": "0.0"}),
    ],
)
def test_bad_gains_are_rejected(arm, make, parts):
    with raises(ShapeError, **parts):
        make(arm)


def test_computed_torque_knows_its_rotors(motion):
    """With drives too the error dynamics are the promised ones: `joint_acceleration` of a frictionless plant."""
    bare = armdyn.arms.planar2()
    drive = armdyn.Drive(rotor_inertia=1e-3, gear_ratio=50.0, damping=1e-4, stiffness=3.0)
    arm = bare.with_joints(dataclasses.replace(joint, drive=drive) for joint in bare.joints)
    q, qd, q_ref, qd_ref, qdd_ref = motion
    law = ComputedTorque(arm, 50.0, 12.0)
    tau = law(0.0, q, qd, Reference(q_ref, qd_ref, qdd_ref))
    expected = qdd_ref + law.kp * (q_ref - q) + law.kd * (qd_ref - qd)
    assert np.allclose(armdyn.joint_acceleration(arm, q, qd, tau), expected, rtol=1e-10, atol=1e-10)


def test_closed_loop_poles_are_the_designed_ones(arm):
    """A free response of computed torque, sampled fast: its poles by least squares, within 1 % of the design."""
    from armdyn.simulation.simulate import simulate

    law = ComputedTorque.from_bandwidth(arm, 1.5, 0.6)
    run = simulate(arm, law, [0.3, -0.2], 1.0, 5000, q0=[0.5, 0.3], qd0=[0.0, 0.0])
    qdd = np.gradient(run.qd, run.t, axis=0)[5:-5]
    for joint in range(2):
        columns = np.column_stack([-(run.qd - run.qd_ref)[5:-5, joint], run.error[5:-5, joint]])
        kd, kp = np.linalg.lstsq(columns, qdd[:, joint], rcond=None)[0]
        assert np.allclose(np.roots([1, kd, kp]), np.roots([1, law.kd[joint], law.kp[joint]]), rtol=0.01)
