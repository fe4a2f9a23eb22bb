"""State matrices against golden numbers, the forward dynamics they linearise, and bad input."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ModelError, ShapeError


@pytest.mark.parametrize(
    "name", ["planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb"]
)
def test_golden_state_matrices(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        got = armdyn.linearize(arm, case["q"], case["qd"], case["qdd"])
        for key in "MCKAB":
            # A and B divide by M, whose condition number is up to 1e4 here.
            np.testing.assert_allclose(getattr(got, key), case["lin"][key], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kinds", ["RRP", "PRRR"])
def test_state_matrices_are_derivatives_of_forward_dynamics(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=2), np.random.default_rng(1)
    n = arm.n
    q, qd, qdd = rng.normal(size=(3, n))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    _, _, _, A, B = armdyn.linearize(arm, q, qd, qdd)
    h = 1e-5 * np.eye(n)  # central differences: error h² times third derivatives, 1e-7 of the entries

    def slope(f):
        return ((f(h) - f(-h)) / 2e-5).T

    close = {"rtol": 1e-6, "atol": 1e-6 * np.abs(A).max()}
    np.testing.assert_allclose(A[n:, :n], slope(lambda d: armdyn.forward_dynamics(arm, q + d, qd, tau)), **close)
    np.testing.assert_allclose(A[n:, n:], slope(lambda d: armdyn.forward_dynamics(arm, q, qd + d, tau)), **close)
    np.testing.assert_allclose(B[n:], slope(lambda d: armdyn.forward_dynamics(arm, q, qd, tau + d)), **close)
    np.testing.assert_array_equal(A[:n], np.hstack([np.zeros((n, n)), np.eye(n)]))
    np.testing.assert_array_equal(B[:n], 0)


def test_batches_and_preallocated_results(random_arm):
    arm = random_arm("RPR", seed=0)
    n, state = arm.n, np.random.default_rng(0).normal(size=(3, 4, 5, 3))
    out = tuple(np.empty((4, 5, *shape)) for shape in [(n, n)] * 3 + [(2 * n, 2 * n), (2 * n, n)])
    result = armdyn.linearize(arm, *state, out=out)
    alone = armdyn.linearize(arm, *state[:, 2, 3])
    for given, whole, one in zip(out, result, alone, strict=True):
        assert whole is given
        np.testing.assert_allclose(whole[2, 3], one, rtol=1e-12, atol=1e-12)


def test_wrong_shape_is_named(random_arm):
    arm = random_arm("RR", seed=0)
    with raises(ShapeError, where="linearize", expected="qd of shape (..., 2) for arm 'RR'", got="(3,)"):
        armdyn.linearize(arm, [0, 0], [0, 0, 0], [0, 0])


@pytest.fixture
def whole_arm(random_arm):
    """An arm with all that acts in joints: Stribeck friction, load, harmonics, rotors, damping, springs."""
    from armdyn import Drive, Friction

    arm = random_arm("RPR", seed=3)
    friction = Friction(
        viscous=0.7, coulomb=1.5, static=2.0, stribeck=0.3, offset=0.2, asymmetry=0.1, viscous_asymmetry=0.05,
        load=0.1, harmonics=((3.0, 0.2, -0.1),),
    )  # fmt: skip
    drives = [Drive(rotor_inertia=1e-4, gear_ratio=60, damping=1e-4, stiffness=4.0, rest=0.2, coupling=row)
              for row in [(), (0.0, 1.0, 0.0), (0.0, 0.3, 1.0)]]  # fmt: skip
    joints = [dataclasses.replace(j, friction=friction, drive=d) for j, d in zip(arm.joints, drives, strict=True)]
    return arm.with_joints(joints)


@pytest.mark.parametrize("width", [0.0, 0.5])
def test_full_model_equals_differentiated_joint_torque(whole_arm, width):
    arm, state = whole_arm, np.random.default_rng(8).normal(size=(3, 3))
    symbols = [ca.SX.sym(name, arm.n) for name in ("q", "qd", "qdd")]
    tau = armdyn.joint_torque(arm, *symbols, width=width)
    slopes = ca.Function("f", symbols, [ca.jacobian(tau, x) for x in reversed(symbols)])
    got = armdyn.linearize(arm, *state, model="full", width=width)
    for matrix, expected in zip(got[:3], slopes(*state), strict=True):
        np.testing.assert_allclose(matrix, np.array(expected), rtol=1e-11, atol=1e-10)


def test_full_model_linearises_joint_acceleration(whole_arm):
    arm, n = whole_arm, whole_arm.n
    q, qd, qdd = np.random.default_rng(9).normal(size=(3, n))
    qd[0], qd[1] = 1.2, -0.8  # friction that grows with the load helps one joint and hinders the other
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    M, _, _, A, B = armdyn.linearize(arm, q, qd, qdd, model="full")
    assert np.abs(M - M.T).max() > 0.01
    h = 1e-5  # central differences of smooth pieces: error 1e-7 of the entries
    x, columns = np.concatenate([q, qd]), []
    for d in h * np.eye(2 * n):
        there, back = (armdyn.joint_acceleration(arm, *np.split(x + s * d, 2), tau) for s in (1, -1))
        columns.append((there - back) / (2 * h))
    np.testing.assert_allclose(A[n:], np.array(columns).T, rtol=1e-6, atol=1e-6 * np.abs(A).max())
    pushes = [(armdyn.joint_acceleration(arm, q, qd, tau + s * h * np.eye(n))) for s in (1, -1)]
    np.testing.assert_allclose(B[n:], (pushes[0] - pushes[1]).T / (2 * h), rtol=1e-6, atol=1e-6)


def test_unknown_model_is_rejected(random_arm):
    with raises(ArmdynError, where="linearize", names=("flexible",), expected="one of rigid, full"):
        armdyn.linearize(random_arm("R"), [0], [0], [0], model="flexible")


@pytest.mark.parametrize("kinds", ["RRRRRR", "RPRPR"])
def test_equals_pinocchio(random_arm, kinds):
    pin = pytest.importorskip("pinocchio")
    from armdyn.model.pinocchio_bridge import to_pinocchio

    arm, rng = random_arm(kinds, seed=9), np.random.default_rng(3)
    n, state = arm.n, rng.normal(size=(3, arm.n))
    model = to_pinocchio(arm)
    data = model.createData()
    pin.computeRNEADerivatives(model, data, *state)
    pin.computeABADerivatives(model, data, *state[:2], data.tau.copy())
    M, C, K, A, B = armdyn.linearize(arm, *state)
    upper = np.triu_indices(n)
    pairs = [(M[upper], data.M[upper]), (C, data.dtau_dv), (K, data.dtau_dq), (A[n:, :n], data.ddq_dq)]
    for ours, theirs in [*pairs, (A[n:, n:], data.ddq_dv), (B[n:][upper], data.Minv[upper])]:
        # Two recursions and a solution with M, whose condition number is some 1e4.
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())


def test_an_arm_that_nothing_resists_is_named(random_arm):
    arm = random_arm("RR", seed=0)
    light = arm.with_theta(np.concatenate([arm.theta[:10], np.zeros(10)]))
    with raises(ModelError, names=("joint2",)):
        armdyn.linearize(light, [0, 0], [0, 0], [0, 0])
    with raises(ModelError, names=("joint2",)):
        armdyn.acceleration_derivatives(light, [0, 0], [0, 0], [0, 0])
    # The torques themselves are well defined.
    assert np.isfinite(armdyn.torque_derivatives(light, [0, 0], [0, 0], [0, 0]).K).all()
