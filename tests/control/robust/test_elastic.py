"""Elastic joints: laws against textbook formulas, what theory promises along runs, springs identified."""

import dataclasses
import shutil
from math import factorial

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm
from tests.raising import raises

import armdyn
from armdyn import ComputedTorque, Drive, Plant, Reference, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.robust.elastic import ElasticDamping, ElasticLinearisation, ElasticPD
from armdyn.errors import ShapeError
from armdyn.simulation import Elasticity

SPRING = np.array([900.0, 250.0])
STILL = np.zeros(2)


@pytest.fixture(scope="module")
def geared(planar):
    drives = (Drive(rotor_inertia=6e-5, gear_ratio=100.0), Drive(rotor_inertia=1e-5, gear_ratio=100.0))
    return planar.with_joints([dataclasses.replace(j, drive=d) for j, d in zip(planar.joints, drives, strict=True)])


def springy(arm, damping=0.0):
    return Plant(arm, elasticity=Elasticity(SPRING, damping))


def test_elastic_pd_is_tomeis(geared):
    rng = np.random.default_rng(0)
    q, qd, q_ref, qd_ref = rng.normal(size=(4, 2))
    kp, kd = np.array([300.0, 90.0]), np.array([40.0, 9.0])
    g = armdyn.gravity_torque(geared, q_ref)
    tau = ElasticPD(geared, SPRING, kp, kd)(0.0, q, qd, Reference(q_ref, qd_ref, STILL))
    assert np.allclose(tau, kp * (q_ref + g / SPRING - q) + kd * (qd_ref - qd) + g, rtol=1e-10)


def energy(arm, run, kp, target):
    """Tomei's V about the pose: kinetic, springs, PD and gravity's energies."""
    rotor, rate = run.states["rotor_q"], run.states["rotor_qd"]
    B = np.array([joint.drive.reflected_inertia for joint in arm.joints])
    g = armdyn.gravity_torque(arm, target)
    at = target + g / SPRING
    M = armdyn.mass_matrix(arm, run.q)
    kinetic = np.einsum("ti,tij,tj->t", run.qd, M, run.qd) / 2 + (B * rate**2).sum(1) / 2
    springs = (SPRING * (rotor - run.q) ** 2).sum(1) / 2 + (kp * (at - rotor) ** 2).sum(1) / 2
    potential = np.array([armdyn.potential_energy(arm, q) for q in run.q])
    return kinetic + springs + potential - rotor @ g


def test_elastic_pd_rests_at_its_pose_and_its_energy_falls(geared):
    """V' = -theta' kd theta' along a run of 10 kHz; links end at the pose although motors are measured."""
    kp, kd, target = np.array([400.0, 120.0]), np.array([60.0, 12.0]), np.array([0.5, -0.4])
    law = ElasticPD(geared, SPRING, kp, kd)
    run = simulate(springy(geared), law, target, 4.0, 10000, q0=[0.1, 0.2], qd0=[0.0, 0.0], check=False)
    assert np.abs(run.q[-1] - target).max() < 1e-4
    V = energy(geared, run, kp, target)
    lost = (kd * run.states["rotor_qd"] ** 2).sum(1)
    promised = -np.cumsum((lost[1:] + lost[:-1]) / 2) / 10000
    assert np.abs(V[1:] - V[0] - promised).max() < 0.01 * (V[0] - V.min())
    assert np.diff(V).max() < 1e-4 * (V[0] - V.min())


def test_linearised_links_obey_the_fourth_order_equation(geared):
    """Off by a tenth of a radian at rest: e(t) of four poles at one place, both joints alike."""
    law = ElasticLinearisation.from_bandwidth(geared, SPRING, 1.5)
    w = 2 * np.pi * 1.5
    A = np.eye(4, k=1)
    A[3] = -np.array([w**4, 4 * w**3, 6 * w**2, 4 * w])
    target = np.array([0.3, 0.4])
    run = simulate(springy(geared), law, target, 0.8, 8000, q0=target - 0.1, qd0=STILL, check=False)
    # The run starts with springs that carry gravity: at rest with no acceleration and no jerk.
    expected = np.array([(expm(A * t) @ [0.1, 0, 0, 0])[0] for t in run.t[::80]])
    assert np.abs(run.error[::80] - expected[:, None]).max() < 1e-3


@pytest.mark.parametrize("damping", [0.0, 3e-3])
def test_linearisation_is_its_definition(geared, damping):
    """Torques of a motion of links and motors that obeys the model: the motors' own equation, derivatives in time."""
    drives = [dataclasses.replace(joint.drive, damping=damping) for joint in geared.joints]
    geared = geared.with_joints(
        [dataclasses.replace(joint, drive=drive) for joint, drive in zip(geared.joints, drives, strict=True)]
    )
    c = np.random.default_rng(1).normal(size=(5, 2)) * np.array([1.0, 1.0, 1.0, 2.0, 5.0])[:, None]
    t = ca.SX.sym("t")
    q = sum(ca.DM(row) * t**k / factorial(k) for k, row in enumerate(c))
    qd = ca.jacobian(q, t)
    theta = q + armdyn.inverse_dynamics(geared, q, qd, ca.jacobian(qd, t)) / SPRING
    B = np.array([joint.drive.reflected_inertia for joint in geared.joints])
    rate = ca.jacobian(theta, t)
    resisted = damping * 100.0**2 * rate  # seen behind the gear
    motors = ca.Function("motors", [t], [theta, rate, B * ca.jacobian(rate, t) + resisted + SPRING * (theta - q)])
    place, speed, expected = (np.array(x).ravel() for x in motors(0.0))
    law = ElasticLinearisation(geared, SPRING, 0.0, 0.0, 0.0, 0.0)
    ref = Reference(*c[:3], {"links": c[:2].ravel(), "jerk": c[3], "snap": c[4]})
    assert np.allclose(law(0.0, place, speed, ref), expected, rtol=1e-10)


def test_damping_saves_a_law_that_springs_would_shake(geared):
    """Computed torque of the links at 2 Hz shakes springs of 9 Hz; with damping, the sum of both terms, it rests."""
    inner, stiff = ComputedTorque.from_bandwidth(geared, 2.0), 10 * SPRING
    target = np.array([0.3, 0.4])
    B = np.array([joint.drive.reflected_inertia for joint in geared.joints])
    damped = ElasticDamping(inner, 1.4 * np.sqrt(stiff * B))
    how = {"q0": target - 0.05, "qd0": STILL, "check": False, "quiet": True}
    calm = simulate(Plant(geared, elasticity=Elasticity(stiff)), damped, target, 1.5, 4000, **how)
    wild = simulate(Plant(geared, elasticity=Elasticity(stiff, encoders="link")), inner, target, 1.5, 4000, **how)
    assert calm.complete
    assert np.abs(calm.error[-1]).max() < 1e-6
    assert not wild.complete
    rng = np.random.default_rng(2)
    q, qd, x, v = rng.normal(size=(4, 2))
    ref = Reference(target, STILL, STILL, {"links": np.r_[x, v]})
    assert np.allclose(damped(0.0, q, qd, ref), inner(0.0, x, v, ref) + damped.damping * (v - qd), rtol=1e-10)


def test_bad_input(planar):
    with raises(ShapeError, where="ElasticPD: spring", expected="numbers > 0", got="[0. 0.]"):
        ElasticPD(planar, 0.0, 1.0, 1.0)
    with raises(ShapeError, expected="an arm with a rotor of its own behind every joint"):
        ElasticLinearisation.from_bandwidth(planar, 100.0, 1.0)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("kind", ["pd", "damping", "linearisation"])
def test_they_export(geared, tmp_path, kind):
    law = {
        "pd": ElasticPD(geared, SPRING, 300.0, 30.0),
        "damping": ElasticDamping(ComputedTorque.from_bandwidth(geared, 2.0), 10.0),
        "linearisation": ElasticLinearisation.from_bandwidth(geared, SPRING, 1.5),
    }[kind]
    self_test(law_code(law, tmp_path, 1000.0, prefix="elastic"))
