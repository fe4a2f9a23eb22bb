"""Eigenvalues, time constants and their shifts."""

from __future__ import annotations

import numpy as np
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError


def test_a_damped_oscillator_by_hand():
    w, zeta = 5.0, 0.2
    found = armdyn.modes([[0, 1], [-(w**2), -2 * zeta * w]])
    np.testing.assert_allclose(found.frequencies, w, rtol=1e-14)
    np.testing.assert_allclose(found.damping, zeta, rtol=1e-13)
    np.testing.assert_allclose(found.time_constants, 1 / (zeta * w), rtol=1e-13)
    np.testing.assert_allclose(found.eigenvalues.imag, w * np.sqrt(1 - zeta**2) * np.array([1, -1]), rtol=1e-13)


def test_growing_and_standing_modes():
    found = armdyn.modes(np.diag([2.0, -4.0, 0.0]))
    np.testing.assert_array_equal(found.eigenvalues, [2, 0, -4])
    np.testing.assert_array_equal(found.time_constants, [-0.5, np.inf, 0.25])
    np.testing.assert_array_equal(found.damping, [-1, np.nan, 1])


def test_an_arm_hanging_down_swings_and_standing_up_falls():
    """A pendulum of mass 2 kg at 0.5 m: frequency or growth rate sqrt(g / l)."""
    row = {
        "kind": "R",
        "a": 0.5,
        "alpha": 0,
        "d": 0,
        "theta": 0,
        "mass": 2.0,
        "com": (0, 0, 0),
        "inertia": np.zeros((3, 3)),
    }
    arm = armdyn.Arm.from_dh([row], gravity=(0, -9.81, 0))
    rate = np.sqrt(9.81 / 0.5)
    hanging, standing = (armdyn.modes(armdyn.linearize(arm, [s * np.pi / 2], [0], [0]).A) for s in (-1, 1))
    np.testing.assert_allclose(hanging.eigenvalues, [1j * rate, -1j * rate], atol=1e-12)
    np.testing.assert_allclose(standing.eigenvalues, [rate, -rate], atol=1e-12)


def test_shift_against_differences():
    rng = np.random.default_rng(3)
    A, dA = rng.normal(size=(2, 3, 4, 4))
    found = armdyn.eigenvalue_shift(A, dA)
    np.testing.assert_allclose(found.eigenvalues, armdyn.modes(A).eigenvalues, rtol=1e-10)
    h = 1e-6  # central differences of well-separated eigenvalues: 1e-12 / gap³, and round-off 1e-15 / h
    there, back = (armdyn.modes(A + s * h * dA).eigenvalues for s in (1, -1))
    np.testing.assert_allclose(found.shift, (there - back) / (2 * h), rtol=1e-6, atol=1e-7)


def test_coinciding_eigenvalues_have_no_shift():
    A = np.stack([[[0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]]])
    shift = armdyn.eigenvalue_shift(A, np.eye(2)).shift
    assert np.isnan(shift[0]).all()
    np.testing.assert_allclose(shift[1], 1.0)


def test_bad_input_is_named():
    with raises(ShapeError, where="modes", expected="A of shape (..., m, m)", got="(2, 3)"):
        armdyn.modes(np.zeros((2, 3)))
    with raises(ShapeError, where="eigenvalue_shift", expected="dA of shape (..., 2, 2)", got="(3, 3)"):
        armdyn.eigenvalue_shift(np.eye(2), np.eye(3))
