"""The ten inertial parameters: views, shifts, and what is physically possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

from armdyn.errors import ModelError
from armdyn.spatial.inertia import NAMES, SIZE, Inertia, point_masses
from armdyn.spatial.rotation import from_rpy, skew
from armdyn.spatial.transform import inverse, transform

triples = st.tuples(*[st.floats(-2, 2)] * 3)
transforms = st.builds(lambda rpy, p: transform(from_rpy(rpy), p), triples, triples)
points = st.lists(st.tuples(st.floats(0.01, 3), triples), min_size=1, max_size=6)
# sums of up to six masses of 3 kg at up to 6 m, and Steiner's differences
CLOSE = {"rtol": 1e-12, "atol": 1e-11}


def cloud(masses_and_points):
    """Point masses as one body."""
    return sum((Inertia.from_com(m, p) for m, p in masses_and_points), Inertia.zero())


def test_order_and_signs():
    body = Inertia.from_com(2.0, (0.1, 0.2, 0.3))
    x, y, z = 0.1, 0.2, 0.3
    expected = np.array([1, x, y, z, y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y])
    np.testing.assert_allclose(body.theta, 2 * expected, rtol=1e-15)
    assert NAMES == ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def test_order_is_pinocchios():
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(1)
    inertia = pin.Inertia.Random()
    body = Inertia.from_com(inertia.mass, inertia.lever, inertia.inertia)
    np.testing.assert_allclose(body.theta, inertia.toDynamicParameters(), **CLOSE)
    T = transform(from_rpy(rng.uniform(-3, 3, 3)), rng.uniform(-1, 1, 3))
    np.testing.assert_allclose(body.moved(T).theta, pin.SE3(T).act(inertia).toDynamicParameters(), **CLOSE)


@given(points)
def test_views_give_the_parameters_back(parts):
    body = cloud(parts)
    again = Inertia.from_com(body.mass, body.com, body.tensor_com)
    np.testing.assert_allclose(again.theta, body.theta, **CLOSE)
    same = Inertia.from_tensor(body.mass, body.first, body.tensor)
    np.testing.assert_array_equal(same.theta, body.theta)


@given(points, transforms)
def test_moving_a_body_is_moving_its_points(parts, T):
    moved = [(m, (T @ [*p, 1.0])[:3]) for m, p in parts]
    np.testing.assert_allclose(cloud(parts).moved(T).theta, cloud(moved).theta, **CLOSE)


@given(points, transforms, transforms)
def test_moves_compose(parts, A, B):
    body = cloud(parts)
    np.testing.assert_allclose(body.moved(B).moved(A).theta, body.moved(A @ B).theta, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(body.moved(A).moved(inverse(A)).theta, body.theta, rtol=1e-11, atol=1e-10)


@given(st.lists(st.floats(-5, 5), min_size=SIZE, max_size=SIZE), transforms)
def test_moving_is_linear_even_for_impossible_bodies(theta, T):
    body = Inertia(theta)
    np.testing.assert_allclose((body + body).moved(T).theta, 2 * body.moved(T).theta, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal((body - body).theta, np.zeros(SIZE))


@given(points)
def test_every_cloud_of_points_is_possible(parts):
    # point masses, rods and plates sit exactly on the boundary
    assert cloud(parts).problems() == []


@given(points)
def test_kinetic_energy_of_a_spin(parts):
    body, omega = cloud(parts), np.array([0.3, -1.0, 0.5])
    energy = sum(0.5 * m * np.sum((skew(omega) @ p) ** 2) for m, p in parts)
    assert 0.5 * omega @ body.tensor @ omega == pytest.approx(energy, rel=1e-10, abs=1e-12)


@given(points)
def test_pseudo_inertia_is_positive_semidefinite(parts):
    J = cloud(parts).pseudo_inertia
    assert np.linalg.eigvalsh(J)[0] >= -1e-12 * np.abs(J).max()
    x = np.array([m * np.outer([*p, 1], [*p, 1]) for m, p in parts]).sum(axis=0)
    np.testing.assert_allclose(J, x, **CLOSE)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (Inertia([-1.0, *[0.0] * 9]), "mass is negative"),
        (Inertia([0.0, 0.1, *[0.0] * 8]), "first moments without mass"),
        (Inertia([1e-300, 1e10, *[0.0] * 8]), "too small for the first moments"),
        (Inertia.from_com(1.0, (1, 2, 3), np.diag([1.0, 1.0, -0.1])), "positive semidefinite"),
        (Inertia.from_com(1.0, (1, 2, 3), np.diag([1.0, 1.0, 2.1])), "triangle inequality"),
        (Inertia.from_com(1.0, (0, 0, 0), np.full((3, 3), np.nan)), "unknown parameters: Ixx, Ixy"),
        (Inertia.unknown(), "unknown parameters: m, mx"),
    ],
)
def test_impossible_bodies_are_named(body, reason):
    assert reason in body.problems()[0]


def test_unknown_parameters_are_no_offence_to_readers():
    Inertia.unknown().reject_impossible("link")
    with raises(ModelError, where="link 'a'", cause="mass is negative (-1 kg)"):
        Inertia.from_com(-1.0, (0, 0, 0), np.full((3, 3), np.nan)).reject_impossible("link 'a'")
    with raises(
        ModelError,
        where="link 'a'",
        cause=(
            "inertia is not physically possible: moments break the triangle inequality (1 + 1 < 3 kg m²); swapped axes?"
        ),
    ):
        Inertia.from_com(1.0, (0, 0, 0), np.diag([1, 1, 3])).reject_impossible("link 'a'")


def test_a_body_without_mass_has_its_centre_at_the_origin():
    np.testing.assert_array_equal(Inertia.zero().com, np.zeros(3))
    assert np.isnan(Inertia([0.0, 1.0, *[0.0] * 8]).com[0])
    assert Inertia.zero().problems() == []


def test_parameters_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Inertia.zero().theta[0] = 1.0


@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (
            lambda: Inertia([1.0, 2.0]),
            {"expected": "m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of shape (10,)", "got": "shape (2,)"},
        ),
        (
            lambda: Inertia("light"),
            {"expected": "m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz as numbers", "got": "'light'"},
        ),
        (
            lambda: Inertia([np.inf, *[0.0] * 9]),
            {
                "expected": "m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of finite numbers (NaN where unknown)",
                "got": "infinity",
            },
        ),
        (lambda: Inertia.from_com("1 kg"), {"expected": "a mass as numbers", "got": "'1 kg'"}),
        (lambda: Inertia.from_com(1.0, (0, 0)), {"expected": "a centre of mass of shape (3,)", "got": "shape (2,)"}),
        (lambda: Inertia.from_com(1.0, (1e200, 0, 0)), {"got": "infinity"}),
        (
            lambda: Inertia.from_com(1.0, (0, 0, 0), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
            {"cause": "tensor is not symmetric; products of inertia must appear twice"},
        ),
        (
            lambda: Inertia.from_com(1.0, (0, 0, 0), [1, 2, 3]),
            {"expected": "a tensor of shape (3, 3)", "got": "shape (3,)"},
        ),
    ],
)
def test_bad_parameters_are_rejected(build, parts):
    with raises(ModelError, **parts):
        build()


def test_point_masses_are_bodies_without_extent():
    mass, com = np.array([0.0, 1.5, 3.0]), np.array([[0.1, 0.2, 0.3], [0.0, -1.0, 0.5], [0.0, 0.0, 0.0]])
    expected = [Inertia.from_com(m, c).theta for m, c in zip(mass, com, strict=True)]
    np.testing.assert_allclose(point_masses(mass, com), expected, atol=1e-15)
