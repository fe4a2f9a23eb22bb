"""Rotations: every description gives the matrix back, and compositions follow the source's rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

from armdyn.errors import ShapeError
from armdyn.spatial import rotation
from armdyn.spatial.rotation import rotation_x, rotation_y, rotation_z

# A handful of roundings of numbers of size one.
ATOL = 2e-15

angles = st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi, -np.pi, 1e-9, np.pi - 1e-9]) | st.floats(-7, 7)
triples = st.tuples(angles, angles, angles)
rotations = st.builds(rotation.from_rpy, triples)
vectors = st.tuples(*[st.floats(-2, 2)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3)


def close(A, B, atol=ATOL):
    np.testing.assert_allclose(A, B, rtol=0, atol=atol)


@given(triples)
def test_rotations_are_orthogonal_and_right_handed(rpy):
    R = rotation.from_rpy(rpy)
    close(R.T @ R, np.eye(3))
    assert np.linalg.det(R) == pytest.approx(1, abs=ATOL)


@given(rotations)
def test_every_description_gives_the_matrix_back(R):
    close(rotation.from_rpy(rotation.to_rpy(R)), R)
    close(rotation.from_quaternion(rotation.to_quaternion(R)), R)
    close(rotation.from_axis_angle(*rotation.to_axis_angle(R)), R)


@pytest.mark.parametrize("branch", [1, -1])
@given(R=rotations)
def test_both_zyz_branches_give_the_matrix_back(branch, R):
    phi_theta_psi = rotation.to_zyz(R, branch)
    close(rotation.from_zyz(phi_theta_psi), R)
    assert branch * np.sin(phi_theta_psi[1]) >= -ATOL


def test_zyz_matrix_with_the_sign_corrected():
    # ECE470, 1.3, erratum 1: element (3, 2) is + sin(theta) sin(psi)
    phi, theta, psi = 0.3, 0.7, -1.1
    cf, sf, ct, st_, cp, sp = (f(x) for x in (phi, theta, psi) for f in (np.cos, np.sin))
    expected = [
        [cf * ct * cp - sf * sp, -cf * ct * sp - sf * cp, cf * st_],
        [sf * ct * cp + cf * sp, -sf * ct * sp + cf * cp, sf * st_],
        [-st_ * cp, st_ * sp, ct],
    ]
    close(rotation.from_zyz((phi, theta, psi)), expected)


@pytest.mark.parametrize("branch", [1, -1])
@pytest.mark.parametrize("theta", [0.0, np.pi])
def test_singular_zyz_angles_have_phi_zero(theta, branch):
    R = rotation.from_zyz((0.4, theta, 0.9))
    phi, middle, psi = rotation.to_zyz(np.round(R, 15), branch)
    assert phi == 0.0
    assert abs(middle) == pytest.approx(theta, abs=1e-12)
    assert psi == pytest.approx(1.3 if theta == 0 else 0.5, abs=1e-12)  # phi + psi, or psi - phi


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_singular_pitch_has_roll_zero(pitch):
    R = np.round(rotation.from_rpy((0.4, pitch, 0.9)), 16)
    roll, found, _ = rotation.to_rpy(R)
    assert roll == 0.0
    assert found == pytest.approx(pitch, abs=1e-7)  # an angle near its end: half the digits
    close(rotation.from_rpy(rotation.to_rpy(R)), R)


def test_rpy_turns_about_fixed_axes_in_order():
    r, p, y = 0.3, -0.4, 1.2
    close(rotation.from_rpy((r, p, y)), rotation_z(y) @ rotation_y(p) @ rotation_x(r))


@given(vectors, angles)
def test_rodrigues_keeps_the_axis_and_turns_by_the_angle(axis, angle):
    R = rotation.from_axis_angle(axis, angle)
    e = np.array(axis) / np.linalg.norm(axis)
    close(R @ e, e)
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(angle), abs=4 * ATOL)


@given(vectors, st.floats(-1, 1), st.floats(-1, 1))
def test_turns_about_one_axis_add_up(axis, one, other):
    both = rotation.from_axis_angle(axis, one) @ rotation.from_axis_angle(axis, other)
    close(both, rotation.from_axis_angle(axis, one + other))


def test_rodrigues_about_the_axes_is_elementary():
    for axis, turn in zip(np.eye(3), (rotation_x, rotation_y, rotation_z), strict=True):
        close(rotation.from_axis_angle(axis, 0.6), turn(0.6))


@given(rotations)
def test_axis_angle_ranges(R):
    axis, angle = rotation.to_axis_angle(R)
    assert 0 <= angle <= np.pi + ATOL
    assert np.linalg.norm(axis) == pytest.approx(1, abs=ATOL)


def test_tiny_angles_keep_their_digits():
    axis, angle = rotation.to_axis_angle(rotation.from_axis_angle((1, 2, 2), 3e-9))
    assert angle == pytest.approx(3e-9, rel=1e-6)
    close(axis, np.array([1, 2, 2]) / 3, atol=1e-6)


@given(rotations)
def test_quaternions_have_a_positive_scalar_and_unit_length(R):
    quaternion = rotation.to_quaternion(R)
    assert quaternion[0] >= 0
    assert np.linalg.norm(quaternion) == pytest.approx(1, abs=ATOL)
    close(rotation.from_quaternion(-3 * quaternion), R)


@given(rotations, rotations, rotations)
def test_composition_rules(A, B, C):
    # ECE470, 1.3
    close(rotation.compose((A, 0), (B, None)), A @ B)  # about the turned axes
    close(rotation.compose((A, 0), (B, 0)), B @ A)  # about the fixed axes
    close(rotation.compose((A, 0), (B, 0), (C, 1)), A @ C @ A.T @ B @ A, atol=2 * ATOL)
    close(rotation.compose((A, 0), (B, 0), (C, 2)), B @ A @ C)


def test_composition_of_the_worked_example():
    # rotate by theta about x0, by phi about z0, by psi about z2: Rz(phi) Rx(theta) Rz(psi)
    theta, phi, psi = 0.2, 0.5, -0.9
    got = rotation.compose((rotation_x(theta), 0), (rotation_z(phi), 0), (rotation_z(psi), 2))
    close(got, rotation_z(phi) @ rotation_x(theta) @ rotation_z(psi))


@given(vectors, vectors, rotations)
def test_skew_is_the_cross_product(v, u, R):
    S = rotation.skew(np.array(v))
    close(S @ u, np.cross(v, u), atol=1e-14)
    # ECE470, 1.8 (ii)
    close(R @ S @ R.T, rotation.skew(R @ np.array(v)), atol=1e-14)


@given(rotations)
def test_rounded_matrices_are_polished(R):
    polished = rotation.nearest_rotation(np.round(R, 6))
    close(polished.T @ polished, np.eye(3))
    close(polished, R, atol=2e-6)


def test_leading_axes_are_batches():
    rng = np.random.default_rng(3)
    rpy = rng.uniform(-3, 3, (2, 5, 3))
    R = rotation.from_rpy(rpy)
    assert R.shape == (2, 5, 3, 3)
    for convert in (rotation.to_rpy, rotation.to_zyz, rotation.to_quaternion, rotation.nearest_rotation):
        assert np.array_equal(convert(R)[1, 3], convert(R[1, 3]))
    axis, angle = rotation.to_axis_angle(R)
    close(rotation.from_axis_angle(axis, angle), R)
    assert rotation.rotation_x(0.1 * np.ones(4)).shape == (4, 3, 3)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: rotation.from_rpy((1, 2)), {"expected": "shape (..., 3)", "got": "(2,)"}),
        (lambda: rotation.from_rpy((1, 2, np.nan)), {"expected": "finite numbers"}),
        (lambda: rotation.from_rpy("abc"), {"expected": "numbers"}),
        (lambda: rotation.to_rpy(np.eye(4)), {"expected": "shape (..., 3, 3)"}),
        (lambda: rotation.from_axis_angle((0, 0, 0), 1.0), {"cause": "the axis has length zero"}),
        (lambda: rotation.from_quaternion((0, 0, 0, 0)), {"cause": "the quaternion is zero"}),
        (lambda: rotation.to_zyz(np.eye(3), 2), {"expected": "branch 1 or -1", "got": "2"}),
        (
            lambda: rotation.compose((np.eye(3), 1)),
            {"cause": "turn 1 is given in frame 1, but only frames 0 to 0 exist by then"},
        ),
    ],
)
def test_bad_input_is_rejected(call, parts):
    with raises(ShapeError, **parts):
        call()
