"""The chain with errors: nominal without them, its regressor by differences, a moved arm the same, gravity's sag."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.calibration.kinematics import (
    calibrated_kinematics,
    command_steps,
    deflection_regressor,
    geometry_regressor,
)
from armdyn.calibration.poses import Poses
from armdyn.calibration.unknowns import deflection_functions
from armdyn.calibration.write import moved_arm
from armdyn.dynamics.gravity import gravity_torque
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

ARMS = ["puma560", "stanford"]  # turning joints, and one that slides


@pytest.fixture(params=ARMS)
def any_arm(request: pytest.FixtureRequest) -> Arm:
    return getattr(armdyn.arms, request.param)()


def test_without_errors_it_is_forward_kinematics(any_arm: Arm) -> None:
    q = np.random.default_rng(0).normal(size=(5, any_arm.n))
    expected = armdyn.forward_kinematics(any_arm, q)
    np.testing.assert_allclose(calibrated_kinematics(any_arm, q), expected, atol=1e-14)


def test_regressor_is_the_derivative(any_arm: Arm) -> None:
    rng = np.random.default_rng(1)
    q, geometry, step = rng.normal(size=any_arm.n), 0.1 * rng.normal(size=(any_arm.n, 6)), 1e-6
    J, T = (f(any_arm, q, geometry=geometry) for f in (geometry_regressor, calibrated_kinematics))
    for k in range(6 * any_arm.n):
        ahead, back = np.array(geometry), np.array(geometry)
        ahead.flat[k] += step
        back.flat[k] -= step
        rate = (
            calibrated_kinematics(any_arm, q, geometry=ahead) - calibrated_kinematics(any_arm, q, geometry=back)
        ) / (2 * step)
        spin = rate[:3, :3] @ T[:3, :3].T
        turn = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        # Round-off 1e-16 over the step 1e-6, and the step's square.
        np.testing.assert_allclose(np.concatenate([rate[:3, 3], turn]), J[:, k], atol=1e-9)


def test_a_moved_arm_has_the_errors_in_its_frames(any_arm: Arm) -> None:
    rng = np.random.default_rng(2)
    q, geometry = rng.normal(size=(4, any_arm.n)), 0.1 * rng.normal(size=(any_arm.n, 6))
    rigid = np.zeros((any_arm.n, 4 * any_arm.n))
    moved = moved_arm(any_arm, geometry, rigid, Poses(q, np.zeros((4, 3))))
    expected = calibrated_kinematics(any_arm, q, geometry=geometry)
    np.testing.assert_allclose(armdyn.forward_kinematics(moved, q), expected, atol=1e-13)


def test_deflection_is_compliance_times_gravity(any_arm: Arm) -> None:
    """With the true masses a joint yields against the torque that holds it, by its compliance."""
    q, compliance = np.random.default_rng(3).normal(size=(6, any_arm.n)), 1e-5
    theta = np.nan_to_num(any_arm.theta).reshape(any_arm.n, -1) + 0.1
    moments = theta[:, [inertial.MASS, 1, 2, 3]].ravel()
    rows = np.array([np.where(np.arange(4 * any_arm.n) >= 4 * i, moments, 0.0) for i in range(any_arm.n)])
    sag = np.einsum("kij,ij->ki", deflection_regressor(any_arm, q), compliance * rows)
    np.testing.assert_allclose(sag, -compliance * gravity_torque(any_arm, q, theta=theta.ravel()), atol=1e-15)


def test_functions_of_gravity_span_all_rows(any_arm: Arm) -> None:
    """Few functions are left of 4 n columns a joint, and they make every deflection."""
    functions = deflection_functions(any_arm)
    Y = np.asarray(deflection_regressor(any_arm, np.random.default_rng(4).normal(size=(50, any_arm.n))))
    for i in range(any_arm.n):
        rows = functions.rows[functions.joints == i]
        np.testing.assert_allclose(Y[:, i] @ rows.T @ rows, Y[:, i], atol=1e-10)
    assert len(functions.joints) < any_arm.n**2


def test_moved_frames_are_gravity_s_lever_arms(any_arm: Arm) -> None:
    """An arm with errors, and the arm that has them in its frames, yield alike."""
    rng = np.random.default_rng(5)
    q, geometry = rng.normal(size=(4, any_arm.n)), 0.1 * rng.normal(size=(any_arm.n, 6))
    rows = 1e-3 * rng.normal(size=(any_arm.n, 4 * any_arm.n))
    moved = moved_arm(any_arm, geometry, rows, Poses(q, np.zeros((4, 3))))
    expected = calibrated_kinematics(any_arm, q, geometry=geometry, deflection=rows)
    np.testing.assert_allclose(calibrated_kinematics(moved, q), expected, atol=1e-13)
    assert np.abs(expected - calibrated_kinematics(any_arm, q, geometry=geometry)).max() > 1e-3


def test_steps_to_a_pose_shrink_the_error(any_arm: Arm) -> None:
    rng = np.random.default_rng(6)
    q, geometry = rng.normal(size=(20, any_arm.n)), 1e-3 * rng.normal(size=(any_arm.n, 6))
    errors = {"geometry": geometry, "deflection": 1e-4 * rng.normal(size=(any_arm.n, 4 * any_arm.n))}
    pose = calibrated_kinematics(any_arm, q, **errors)
    there, left = command_steps(any_arm, q + 0.003, pose, steps=5, **errors)
    np.testing.assert_allclose(calibrated_kinematics(any_arm, there, **errors), pose, atol=1e-9)
    assert np.max(left) < 1e-9


def test_jax_computes_the_same(any_arm: Arm) -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(7)
    q, geometry = rng.normal(size=any_arm.n), 0.01 * rng.normal(size=(any_arm.n, 6))
    with jax.enable_x64(True):
        call = armdyn.to_jax(calibrated_kinematics, any_arm)
        np.testing.assert_allclose(
            call(q, geometry=geometry), calibrated_kinematics(any_arm, q, geometry=geometry), atol=1e-15
        )
        rate = jax.jacobian(lambda g: call(q, geometry=g)[:3, 3])(geometry).reshape(3, -1)
    np.testing.assert_allclose(rate, geometry_regressor(any_arm, q, geometry=geometry)[:3], atol=1e-12)


def test_latex_and_sympy_have_the_errors_as_symbols() -> None:
    """One turning joint: what is printed is what SymPy has, and that computes the same."""
    pytest.importorskip("sympy")
    arm = armdyn.Arm.from_dh([{"kind": "R", "a": 0.5, "alpha": 0.0, "d": 0.0, "theta": 0.0}])
    text = armdyn.latex(calibrated_kinematics, arm, symbols="geometry")
    turned = r"\cos\left(q_{1} + r_{z1}\right) \, \cos\left(r_{y1}\right)"
    x = rf"x_{{1}} \, \cos\left(r_{{y1}}\right) + z_{{1}} \, \sin\left(r_{{y1}}\right) + 0.5 \, {turned}"
    assert text.startswith(r"\mathrm{pose} = \begin{bmatrix} " + turned)
    assert x in text
    rng = np.random.default_rng(8)
    q, geometry = rng.normal(size=1), 0.1 * rng.normal(size=(1, 6))
    values = dict(zip(("x1", "y1", "z1", "rx1", "ry1", "rz1", "q1"), (*geometry[0], *q), strict=True))
    expression = armdyn.sympy_expression(calibrated_kinematics, arm, symbols="geometry")
    pose = np.array(expression.subs({s: values[str(s)] for s in expression.free_symbols}), float)
    np.testing.assert_allclose(pose, calibrated_kinematics(arm, q, geometry=geometry), atol=1e-14)


def test_c_code_follows_from_the_same_text(tmp_path: Path) -> None:
    armdyn.c_code(calibrated_kinematics, armdyn.arms.planar2(), tmp_path)
    assert "geometry" in "".join(path.read_text() for path in tmp_path.glob("*.h"))
