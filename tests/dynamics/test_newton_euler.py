"""Newton-Euler against Pinocchio, and the joints' wrenches against balance laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import MissingInertiaError, ShapeError
from armdyn.model import Joint, Link
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform

pin = pytest.importorskip("pinocchio")

# Both sides round some thousand operations on entries up to 100.
CLOSE = {"rtol": 1e-11, "atol": 1e-10}
KINDS = ["R", "P", "RP", "PRP", "RPRR", "RRRRRR", "RPRPRPR"]


def compare_with_pinocchio(arm, model, rng, samples=4):
    """Every term of the equations of motion at random states."""
    data = model.createData()
    for _ in range(samples):
        q, qd, qdd = rng.uniform(-2, 2, (3, arm.n))
        tau = pin.rnea(model, data, q, qd, qdd)
        np.testing.assert_allclose(armdyn.inverse_dynamics(arm, q, qd, qdd), tau, **CLOSE)
        M = np.triu(pin.crba(model, data, q))
        np.testing.assert_allclose(armdyn.mass_matrix(arm, q), M + np.triu(M, 1).T, **CLOSE)
        C = pin.computeCoriolisMatrix(model, data, q, qd)
        np.testing.assert_allclose(armdyn.coriolis_matrix(arm, q, qd) @ qd, C @ qd, **CLOSE)
        g = pin.computeGeneralizedGravity(model, data, q)
        np.testing.assert_allclose(armdyn.gravity_torque(arm, q), g, **CLOSE)
        T = pin.computeKineticEnergy(model, data, q, qd)
        np.testing.assert_allclose(armdyn.kinetic_energy(arm, q, qd), T, **CLOSE)
        com = pin.centerOfMass(model, data, q)
        np.testing.assert_allclose(armdyn.center_of_mass(arm, q), com, **CLOSE)
        acceleration = pin.aba(model, data, q, qd, tau)
        # The condition of M, up to 1e4, costs digits on both sides.
        np.testing.assert_allclose(armdyn.forward_dynamics(arm, q, qd, tau), acceleration, rtol=1e-8, atol=1e-8)


def without_armature(model):
    """Pinocchio counts rotors in, armdyn's rigid arm does not."""
    model.armature[:] = 0
    return model


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.by_day(3)
def test_random_arms_agree_with_pinocchio(random_arm, kinds):
    arm = random_arm(kinds, seed=len(kinds))
    compare_with_pinocchio(arm, without_armature(armdyn.to_pinocchio(arm)), np.random.default_rng(0))


@pytest.mark.parametrize("name", ["puma560", "stanford", "panda", "ur10"])
def test_library_arms_agree_with_pinocchio(name):
    arm = getattr(armdyn.arms, name)()
    compare_with_pinocchio(arm, without_armature(armdyn.to_pinocchio(arm)), np.random.default_rng(1), samples=2)


def compare_file_with_pinocchio(path):
    """Pinocchio reads the file by itself; what is no part of the arm's chain is locked."""
    arm = _loaded(path)
    if np.isnan(arm.theta).any():
        return False
    model = pin.buildModelFromUrdf(str(path))
    locked = [i for i in range(1, model.njoints) if model.names[i] not in arm.joint_names]
    model = without_armature(pin.buildReducedModel(model, locked, pin.neutral(model)))
    if model.nq != model.nv:
        arm_again = armdyn.from_pinocchio(model)  # endless joints hold a cosine and a sine there
        assert arm_again.n == arm.n
        model = without_armature(armdyn.to_pinocchio(arm_again))
    compare_with_pinocchio(arm, model, np.random.default_rng(2), samples=2)
    return True


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")  # of a gripper at which the chain ends
@pytest.mark.parametrize("name", ["gripper", "slider"])
def test_urdf_files_agree_with_pinocchio(name):
    assert compare_file_with_pinocchio(Path(__file__).parents[1] / "data" / "urdf" / f"{name}.urdf")


@pytest.mark.slow  # torques of these files are compared in tests/model/test_urdf_models.py too
@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")  # of impossible bodies in the files
def test_urdf_files_of_others_agree_with_pinocchio(shared):
    files = sorted((shared / "models").rglob("*.urdf"))
    # Pinocchio and armdyn both reject this one's negative friction.
    compared = [compare_file_with_pinocchio(path) for path in files if path.stem != "kuka_lwr4_identified"]
    assert sum(compared) >= 15  # the others have no inertias


def _loaded(path):
    """The arm of a file; of several arms, the one whose chain is longest."""
    try:
        return armdyn.load(path)
    except armdyn.ArmdynError:
        model = pin.buildModelFromUrdf(str(path))
        depth = [0] * model.njoints
        for i in range(1, model.njoints):
            depth[i] = depth[model.parents[i]] + 1
        deepest = int(np.argmax(depth))
        bodies = [f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == deepest]
        return armdyn.load(path, tip=bodies[0])


@pytest.mark.parametrize("kinds", ["RRR", "RPR"])
def test_a_wrench_on_the_tip_acts_through_the_jacobian(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=5), np.random.default_rng(3)
    state, wrench = rng.normal(size=(3, arm.n)), rng.normal(size=6) * 10
    R = armdyn.forward_kinematics(arm, state[0])[:3, :3]
    in_base = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    expected = armdyn.inverse_dynamics(arm, *state) - armdyn.jacobian(arm, state[0]).T @ in_base
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, *state, wrench=wrench), expected, **CLOSE)


def test_a_falling_base_takes_gravity_away(random_arm):
    arm = random_arm("RPR", seed=6)
    q = np.array([0.3, -0.2, 0.5])
    base = (np.zeros(3), np.zeros(3), arm.gravity)
    at_rest = armdyn.inverse_dynamics(arm, q, 0 * q, 0 * q, base_motion=base)
    np.testing.assert_allclose(at_rest, np.zeros(3), atol=1e-13)


def test_a_turning_base_is_a_joint_before_the_first(random_arm):
    """Turning the base about an axis equals one more joint there, as far as the other joints feel it."""
    arm, rng = random_arm("RP", seed=7), np.random.default_rng(4)
    longer = armdyn.Arm(
        (armdyn.Joint("turntable"), *arm.joints),
        (armdyn.Link("table", armdyn.Inertia.zero()), *arm.links),
        gravity=arm.gravity,
    )
    arm = armdyn.Arm(arm.joints, arm.links, gravity=arm.gravity)
    (w, wd), (q, qd, qdd) = rng.normal(size=2), rng.normal(size=(3, 2))
    base = (np.array([0, 0, w]), np.array([0, 0, wd]), np.zeros(3))
    expected = armdyn.inverse_dynamics(longer, [0, *q], [w, *qd], [wd, *qdd])[1:]
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, q, qd, qdd, base_motion=base), expected, **CLOSE)


def test_missing_inertia_is_named():
    arm = armdyn.Arm((armdyn.Joint("a"), armdyn.Joint("b")), (armdyn.Link("upper"), armdyn.Link("lower")))
    with raises(MissingInertiaError, names=("upper", "lower")):
        armdyn.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0])


def test_wrong_shapes_are_rejected():
    arm = armdyn.arms.planar2()
    with raises(ShapeError, where="inverse_dynamics", expected="qd of shape (..., 2) for arm 'planar2'", got="(3,)"):
        armdyn.inverse_dynamics(arm, [0, 0], [0, 0, 0], [0, 0])


def test_nan_gives_nan_in_that_sample_alone():
    arm = armdyn.arms.planar2()
    q = np.array([[0.1, 0.2], [np.nan, 0.2]])
    for function in (armdyn.inverse_dynamics, armdyn.forward_dynamics):
        result = function(arm, q, 0 * q[0], 0 * q[0])
        assert np.isfinite(result[0]).all()
        assert np.isnan(result[1]).all()


TILTS = (0.0, 1e-16, 1e-15, 3e-15, 1e-14, 1e-12, 1e-9, 2.7e-8, 1e-7, 1.3e-7, 2e-7, 1e-6, 1e-3)


@pytest.mark.parametrize("tilt", TILTS)
def test_frames_that_are_turned_a_little(tilt):
    """An axis may have length 1 to all digits and still not be a coordinate axis; the torques count it.

    Against M qdd + C qd + g, which come from other recursions, relative to the largest torque.
    """
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 30, 3))
    for axis in np.eye(3):
        T = transform(from_axis_angle(axis, np.pi / 2 + tilt), [0, 0, 0.3])
        for before, after in ((np.eye(4), T), (T, np.eye(4)), (T, T)):
            joints = [Joint(f"j{i}", "revolute", np.eye(3)[(2, 1, 0)[i]], before, after) for i in range(3)]
            links = [Link(f"l{i}", Inertia.from_com(1, rng.normal(size=3) * 0.1, np.eye(3) * 0.1)) for i in range(3)]
            arm = armdyn.Arm(joints, links)
            tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
            M, C = armdyn.mass_matrix(arm, q), armdyn.coriolis_matrix(arm, q, qd)
            want = np.einsum("kij,kj->ki", M, qdd) + np.einsum("kij,kj->ki", C, qd) + armdyn.gravity_torque(arm, q)
            assert np.abs(tau - want).max() < 1e-12 * np.abs(want).max()
            regressor = np.einsum("kij,j->ki", armdyn.regressor(arm, q, qd, qdd), arm.theta)
            assert np.abs(regressor - want).max() < 1e-12 * np.abs(want).max()
