"""Rigid transforms: a group, and the check that a matrix is one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

from armdyn.errors import ModelError
from armdyn.spatial.rotation import from_rpy, rotation_z
from armdyn.spatial.transform import check_transform, inverse, transform

triples = st.tuples(*[st.floats(-3, 3)] * 3)
transforms = st.builds(lambda rpy, p: transform(from_rpy(rpy), p), triples, triples)


@given(transforms, transforms, triples)
def test_rigid_transforms_are_a_group(A, B, point):
    # twice a handful of roundings of numbers below ten
    close = dict(rtol=0, atol=2e-14)
    np.testing.assert_allclose(A @ inverse(A), np.eye(4), **close)
    np.testing.assert_allclose(inverse(A @ B), inverse(B) @ inverse(A), **close)
    # ECE470, 1.4: p_0 = R p_1 + o
    p = np.array(point)
    np.testing.assert_allclose((A @ [*p, 1])[:3], A[:3, :3] @ p + A[:3, 3], **close)
    assert check_transform(A @ B, "product").shape == (4, 4)


def test_inverse_takes_batches():
    T = np.array([transform(rotation_z(x), (x, 0, 1)) for x in (0.1, 0.2)])
    np.testing.assert_array_equal(inverse(T)[1], inverse(T[1]))


def test_a_checked_transform_is_a_read_only_copy():
    T = np.eye(4)
    checked = check_transform(T, "T")
    T[0, 3] = 5.0
    assert checked[0, 3] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        checked[0, 3] = 1.0


def test_printed_digits_still_make_a_rotation():
    check_transform(np.round(transform(from_rpy((0.3, 0.4, 0.5))), 7), "T")


MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
SHEAR = np.eye(4) + 0.01 * np.eye(4, k=1)


@pytest.mark.parametrize(
    ("matrix", "parts"),
    [
        (np.eye(3), {"where": "pose", "expected": "a 4x4 rigid transform", "got": "shape (3, 3)"}),
        (np.full((4, 4), np.nan), {"expected": "finite numbers"}),
        (np.diag([2.0, 2.0, 2.0, 1.0]), {"cause": re.compile("not orthogonal")}),
        (np.diag([1e200, 1.0, 1.0, 1.0]), {"cause": re.compile("not orthogonal")}),
        (SHEAR, {"cause": re.compile("not orthogonal")}),
        (MIRROR, {"cause": "rotation has determinant -1 (a mirror image)"}),
        (np.diag([1.0, 1.0, 1.0, 2.0]), {"expected": "last row 0 0 0 1"}),
        ([[1, 2], [3]], {"expected": "a 4x4 matrix of numbers"}),
        ("pose", {"expected": "a 4x4 matrix of numbers"}),
        ([[10**400] * 4] * 4, {"expected": "a 4x4 matrix of numbers"}),
    ],
)
def test_other_matrices_are_rejected(matrix, parts):
    with raises(ModelError, **parts):
        check_transform(matrix, "pose")
